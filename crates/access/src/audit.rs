//! The audit log: who did what to whose memories, why, when, and for which request. It holds no
//! content, and outlives the memories of its users. It names a user by a salted digest, because
//! after an erasure the user's id must be in no file.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use futures_util::FutureExt;
use jiff::Timestamp;
use memgate_core::{clock::Clock, memory::Owner};
use memgate_sqlite::{Database, DatabaseError};
use rusqlite::{Connection, Row, params, params_from_iter, types::Value};
use sha2::{Digest as _, Sha256};

/// Time between two removals of old entries.
const PRUNE_EVERY: Duration = Duration::from_secs(3600);

/// How long entries are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Age at which entries are removed.
    pub age: Duration,
    /// Maximum number of entries; the oldest are removed.
    pub entries: u32,
}

/// Who did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Actor {
    /// A key, by its id.
    Key(i64),
    /// The key of the configuration.
    ConfiguredKey,
    /// The user themselves, whose identity a gateway verified; with the gateway's key.
    User(i64),
    /// A process of this machine without a key, in development mode.
    Loopback,
    /// The command line, on a data folder that no server uses, or with the key that the server wrote there.
    CommandLine,
    /// The user, in a message.
    Message,
    /// Background work that was asked for earlier.
    Job,
}

impl Actor {
    fn text(self) -> String {
        match self {
            Self::Key(id) => format!("key:{id}"),
            Self::ConfiguredKey => "configured_key".into(),
            Self::User(id) => format!("user via key:{id}"),
            Self::Loopback => "loopback".into(),
            Self::CommandLine => "command_line".into(),
            Self::Message => "message".into(),
            Self::Job => "job".into(),
        }
    }
}

/// Action that is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A memory was stored.
    MemoryCreate,
    /// A memory was changed.
    MemoryChange,
    /// A memory was erased.
    MemoryErase,
    /// All memories of a user or project were erased.
    ScopeErase,
    /// Memories of other projects were presented for a request.
    CrossProject,
    /// Memories were imported.
    MemoryImport,
    /// Memories were hidden because the user asked to forget them.
    ForgetHide,
    /// Memories were erased at once because the user asked to forget them.
    ForgetSaid,
    /// Memories were hidden because the user sent another version of their message.
    EditHide,
    /// Memories were erased at once because the user sent another version of their message.
    EditErase,
    /// Memories that a request to forget, or an edit, had hidden were erased.
    ForgetErase,
    /// Memories that a request to forget, or an edit, had hidden were restored.
    ForgetUndo,
    /// A session was ended.
    SessionEnd,
    /// All sessions of a user were ended and learned from.
    MemoryFlush,
    /// Jobs were retried.
    JobRetry,
    /// A key was created.
    KeyCreate,
    /// A key was revoked.
    KeyRevoke,
}

impl Action {
    /// The action's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::MemoryCreate => "memory.create",
            Self::MemoryChange => "memory.change",
            Self::MemoryErase => "memory.erase",
            Self::ScopeErase => "scope.erase",
            Self::CrossProject => "recall.cross_project",
            Self::MemoryImport => "memory.import",
            Self::ForgetHide | Self::EditHide => "forget.hide",
            Self::ForgetSaid | Self::EditErase | Self::ForgetErase => "forget.erase",
            Self::ForgetUndo => "forget.undo",
            Self::SessionEnd => "session.end",
            Self::MemoryFlush => "memory.flush",
            Self::JobRetry => "job.retry",
            Self::KeyCreate => "key.create",
            Self::KeyRevoke => "key.revoke",
        }
    }

    /// Why it was done, as far as memgate knows.
    fn reason(self) -> &'static str {
        match self {
            Self::ForgetHide | Self::ForgetSaid => "the user asked to forget it in a message",
            Self::EditHide | Self::EditErase => "the user sent another version of the message",
            Self::CrossProject => "requests without a project search all projects",
            Self::ForgetErase => {
                "the user asked to forget it or edited it, and the grace period is over"
            }
            _ => "requested",
        }
    }
}

/// To what and to whom it was done. Ids only, never content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// The user.
    pub owner: Option<Owner>,
    /// The tenant, if it is not the user's.
    pub tenant: Option<String>,
    /// Id of the memory, job or key that was changed.
    pub target: Option<String>,
    /// The number of things that were changed.
    pub count: Option<u64>,
}

impl Subject {
    /// A user's things.
    #[must_use]
    pub fn of(owner: &Owner) -> Self {
        Self { owner: Some(owner.clone()), ..Self::default() }
    }

    /// Names the thing.
    #[must_use]
    pub fn target(self, id: impl ToString) -> Self {
        Self { target: Some(id.to_string()), ..self }
    }

    /// Names the number of things.
    #[must_use]
    pub fn count(self, count: u64) -> Self {
        Self { count: Some(count), ..self }
    }
}

/// An entry to append.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    at: Timestamp,
    actor: Actor,
    action: Action,
    request_id: Option<String>,
    subject: Subject,
    salt: Salt,
}

/// Makes the references to users, for one file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Salt(pub(crate) [u8; 32]);

impl Salt {
    /// The reference to a user: the same in all entries, and of no use without the file.
    fn reference(self, owner: &Owner) -> String {
        let digest = Sha256::new().chain_update(self.0).chain_update(owner.key()).finalize();
        digest[..16].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Entry {
    pub(crate) fn of(&self, subject: Subject) -> Self {
        Self { subject, ..self.clone() }
    }
}

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Position in the log.
    pub id: i64,
    /// Time of the action.
    pub at: Timestamp,
    /// The key or part that acted.
    pub actor: String,
    /// The action.
    pub action: String,
    /// The reason.
    pub reason: String,
    /// The tenant.
    pub tenant: Option<String>,
    /// Reference to the user.
    pub user_ref: Option<String>,
    /// Id of the memory, job or key that was changed.
    pub target: Option<String>,
    /// The number of things that were changed.
    pub count: Option<u64>,
    /// For which request.
    pub request_id: Option<String>,
}

/// The wanted entries.
#[derive(Clone, Debug, Default)]
pub struct AuditQuery {
    /// Only entries about this user.
    pub owner: Option<Owner>,
    /// Only entries about this tenant.
    pub tenant: Option<String>,
    /// Only entries of this time or later.
    pub since: Option<Timestamp>,
    /// Only entries before this one.
    pub before: Option<i64>,
    /// Maximum number.
    pub limit: usize,
}

/// Appends to the log and lists it.
#[derive(Clone)]
pub struct Audit(Option<Arc<Log>>);

struct Log {
    database: Arc<Database>,
    retention: Retention,
    salt: Salt,
    clock: Clock,
    /// When old entries were last removed, in milliseconds.
    pruned: AtomicI64,
}

impl Audit {
    pub(crate) fn new(
        database: Arc<Database>,
        retention: Retention,
        salt: Salt,
        clock: Clock,
    ) -> Self {
        let pruned = AtomicI64::new(i64::MIN);
        Self(Some(Arc::new(Log { database, retention, salt, clock, pruned })))
    }

    /// A log that keeps nothing, for data that nobody keeps either.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    /// The time that entries get.
    pub(crate) fn now(&self) -> Timestamp {
        self.0.as_ref().map_or_else(|| Clock::System.now(), |log| log.clock.now())
    }

    pub(crate) fn entry(&self, actor: Actor, action: Action, request_id: Option<String>) -> Entry {
        let salt = self.0.as_ref().map_or(Salt([0; 32]), |log| log.salt);
        Entry { at: self.now(), actor, action, request_id, subject: Subject::default(), salt }
    }

    /// Appends an entry about something that has been done. A failure is logged: what has been done
    /// cannot be undone.
    pub async fn record(
        &self,
        actor: Actor,
        action: Action,
        subject: Subject,
        request_id: Option<String>,
    ) {
        let Some(log) = &self.0 else { return };
        let entry = self.entry(actor, action, request_id).of(subject);
        let prune = log.prunes_at(entry.at);
        let write = move |c: &mut Connection| {
            append(c, &entry)?;
            prune.map_or(Ok(()), |retention| remove_old(c, retention, entry.at))
        };
        if let Err(error) = log.database.write(write).await {
            tracing::error!(%error, action = action.name(), "the audit log misses an entry");
        }
    }

    /// Appends an entry as [`Audit::record`] does, without waiting until it is written.
    pub fn note(&self, actor: Actor, action: Action, subject: Subject, request_id: Option<String>) {
        // The first poll puts the entry into the queue, and what is queued is written.
        let _ = self.record(actor, action, subject, request_id).now_or_never();
    }

    /// Entries, the newest first.
    ///
    /// # Errors
    /// [`DatabaseError`] when the log cannot be read.
    pub async fn list(&self, query: AuditQuery) -> Result<Vec<AuditEntry>, DatabaseError> {
        let Some(log) = &self.0 else { return Ok(Vec::new()) };
        let (oldest, salt) = (log.retention.oldest(log.clock.now()), log.salt);
        log.database.read(move |c| list(c, &query, oldest, salt)).await
    }
}

impl Log {
    /// The retention, if old entries are to be removed now.
    fn prunes_at(&self, now: Timestamp) -> Option<Retention> {
        let (now, last) = (now.as_millisecond(), self.pruned.load(Ordering::Relaxed));
        let due =
            i64::try_from(PRUNE_EVERY.as_millis()).ok().and_then(|every| last.checked_add(every));
        if due.is_some_and(|due| now < due) {
            return None;
        }
        self.pruned.store(now, Ordering::Relaxed);
        Some(self.retention)
    }
}

impl Retention {
    /// The time of the oldest entry that is kept.
    fn oldest(self, now: Timestamp) -> Timestamp {
        now.checked_sub(self.age).unwrap_or(Timestamp::MIN)
    }
}

/// The salt of the file.
pub(crate) fn salt(c: &Connection) -> rusqlite::Result<Salt> {
    c.query_row("SELECT value FROM salt", [], |row| row.get(0).map(Salt))
}

pub(crate) fn append(c: &Connection, entry: &Entry) -> rusqlite::Result<()> {
    let Entry { at, actor, action, request_id, subject, salt } = entry;
    let owner = subject.owner.as_ref();
    c.prepare_cached(
        "INSERT INTO audit (at, actor, action, reason, tenant, user_ref, target, count, request_id) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(params![
        at.as_millisecond(),
        actor.text(),
        action.name(),
        action.reason(),
        owner.map(Owner::tenant).or(subject.tenant.as_deref()),
        owner.map(|owner| salt.reference(owner)),
        subject.target,
        subject.count.map(|count| i64::try_from(count).unwrap_or(i64::MAX)),
        request_id,
    ])?;
    Ok(())
}

fn remove_old(c: &Connection, retention: Retention, now: Timestamp) -> rusqlite::Result<()> {
    c.execute("DELETE FROM audit WHERE at < ?1", [retention.oldest(now).as_millisecond()])?;
    c.execute(
        "DELETE FROM audit WHERE id <= (SELECT max(id) FROM audit) - ?1",
        [retention.entries],
    )?;
    Ok(())
}

fn list(
    c: &Connection,
    query: &AuditQuery,
    oldest: Timestamp,
    salt: Salt,
) -> rusqlite::Result<Vec<AuditEntry>> {
    let since = query.since.map_or(oldest, |since| since.max(oldest));
    let mut sql = "SELECT * FROM audit WHERE at >= ?1 AND id < ?2".to_owned();
    let mut values =
        vec![Value::from(since.as_millisecond()), Value::from(query.before.unwrap_or(i64::MAX))];
    let user = query.owner.as_ref().map(|owner| salt.reference(owner));
    for (column, value) in [("user_ref", user), ("tenant", query.tenant.clone())] {
        if let Some(value) = value {
            values.push(value.into());
            sql += &format!(" AND {column} = ?{}", values.len());
        }
    }
    values.push(i64::try_from(query.limit).unwrap_or(i64::MAX).into());
    sql += &format!(" ORDER BY id DESC LIMIT ?{}", values.len());
    c.prepare_cached(&sql)?.query_map(params_from_iter(values), read)?.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<AuditEntry> {
    Ok(AuditEntry {
        id: row.get("id")?,
        at: Timestamp::from_millisecond(row.get("at")?).unwrap_or_default(),
        actor: row.get("actor")?,
        action: row.get("action")?,
        reason: row.get("reason")?,
        tenant: row.get("tenant")?,
        user_ref: row.get("user_ref")?,
        target: row.get("target")?,
        count: row.get::<_, Option<i64>>("count")?.and_then(|count| count.try_into().ok()),
        request_id: row.get("request_id")?,
    })
}
