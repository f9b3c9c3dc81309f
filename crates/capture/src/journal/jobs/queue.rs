//! Jobs: asked for, and settled. `due` finds the next one.
//!
//! A claim is kept in memory only, since one process works on a data folder:
//! after a crash every job that had not been settled is simply owed again.

use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, named_params, params};

use crate::journal::{
    columns::{millis, owner},
    jobs::kind::JobKind,
};
use memgate_core::memory::Owner;

/// A job's number.
pub(crate) type JobId = i64;

/// A job that was claimed.
#[derive(Clone, Debug)]
pub(crate) struct ClaimedJob {
    pub(crate) id: JobId,
    pub(crate) kind: JobKind,
    pub(crate) subject: i64,
    /// `None` when it is about nobody in particular.
    pub(crate) owner: Option<Owner>,
    pub(crate) lane: String,
    pub(crate) payload: Option<String>,
    /// Tries that failed before.
    pub(crate) tries: u32,
    /// Since when it is owed.
    pub(crate) since: Timestamp,
    /// Which asking this run answers.
    pub(crate) wanted: i64,
}

#[cfg(test)]
impl ClaimedJob {
    /// A job that stands in no table.
    pub(crate) fn of(kind: JobKind) -> Self {
        Self {
            id: 0,
            kind,
            subject: 0,
            owner: None,
            lane: kind.lane(None),
            payload: None,
            tries: 0,
            since: Timestamp::UNIX_EPOCH,
            wanted: 0,
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// It is done, and leads to this.
    Done(Option<Next>),
    /// It could not be tried, perhaps for a reason worth telling; again at that time, and no try
    /// is counted.
    Postponed(Option<String>, Timestamp),
    /// It failed for the reason; again at that time.
    Failed(String, Timestamp),
    /// It failed for the reason, and is not tried any more.
    Dead(String),
}

/// The jobs that follow from one that is done; owed in the same transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Next {
    pub(crate) kind: JobKind,
    pub(crate) payload: String,
}

/// The jobs of an owner that are still there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OwnerJobs {
    pub(crate) pending: Vec<JobId>,
    pub(crate) dead: Vec<JobId>,
}

/// A job to be asked for.
struct Wish<'a> {
    kind: JobKind,
    subject: i64,
    owner: Option<&'a Owner>,
    payload: Option<String>,
    due: Timestamp,
    now: Timestamp,
}

/// Owes what is made of a turn alone: its memory, or its statements.
pub(crate) fn ask_for_turn(
    c: &Connection,
    kind: JobKind,
    turn: i64,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let owner = owner_of(c, "SELECT tenant, user FROM turns WHERE id = ?1", turn)?;
    ask(c, &Wish { kind, subject: turn, owner: Some(&owner), payload: None, due: now, now })
}

/// Owes what a user asked of memory itself.
pub(crate) fn ask_for_order(
    c: &Connection,
    kind: JobKind,
    subject: i64,
    owner: &Owner,
    payload: String,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let (owner, payload) = (Some(owner), Some(payload));
    ask(c, &Wish { kind, subject, owner, payload, due: now, now })
}

/// Owes the erasure of what a forgetting has hidden.
pub(crate) fn ask_for_erasure(
    c: &Connection,
    subject: i64,
    owner: &Owner,
    payload: String,
    due: Timestamp,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let (kind, owner, payload) = (JobKind::EraseForgotten, Some(owner), Some(payload));
    ask(c, &Wish { kind, subject, owner, payload, due, now })
}

/// Owes an extraction from the last `batch` turns of a session up to `through`.
pub(crate) fn ask_for_extraction(
    c: &Connection,
    through: i64,
    session: i64,
    batch: u32,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let owner = owner_of(c, "SELECT tenant, user FROM sessions WHERE id = ?1", session)?;
    let payload = Some(serde_json::json!({"session": session, "batch": batch}).to_string());
    let kind = JobKind::Extract;
    ask(c, &Wish { kind, subject: through, owner: Some(&owner), payload, due: now, now })
}

/// Owes the end of a session at the time when it will have been idle for long.
pub(crate) fn ask_for_end(
    c: &Connection,
    session: i64,
    owner: &Owner,
    due: Timestamp,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let kind = JobKind::EndIdleSession;
    ask(c, &Wish { kind, subject: session, owner: Some(owner), payload: None, due, now })
}

/// Owes a session's summary.
pub(crate) fn ask_for_summary(
    c: &Connection,
    session: i64,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let owner = owner_of(c, "SELECT tenant, user FROM sessions WHERE id = ?1", session)?;
    let kind = JobKind::Summarise;
    ask(c, &Wish { kind, subject: session, owner: Some(&owner), payload: None, due: now, now })
}

/// How often missing vectors are looked for: whatever was missed otherwise.
const EMBED_EVERY: Duration = Duration::from_secs(600);

/// Owes missing vectors after a pause, and then again and again.
pub(crate) fn ask_for_vectors(
    c: &Connection,
    now: Timestamp,
    pause: Duration,
) -> rusqlite::Result<()> {
    ask_for_upkeep(c, JobKind::Embed, EMBED_EVERY, now, pause)
}

/// How often the journal is pruned. A turn that may be removed once it is learned
/// is removed at most this much later.
const PRUNE_EVERY: Duration = Duration::from_secs(60);

/// Owes a look for what is to be pruned now, and then again and again.
pub(crate) fn ask_for_pruning(c: &Connection, now: Timestamp) -> rusqlite::Result<()> {
    ask_for_upkeep(c, JobKind::Prune, PRUNE_EVERY, now, Duration::ZERO)
}

/// Owes a job about nobody in particular, which comes again by itself.
fn ask_for_upkeep(
    c: &Connection,
    kind: JobKind,
    every: Duration,
    now: Timestamp,
    pause: Duration,
) -> rusqlite::Result<()> {
    let due = now.checked_add(pause).unwrap_or(now);
    ask(c, &Wish { kind, subject: 0, owner: None, payload: None, due, now })?;
    c.prepare_cached("UPDATE jobs SET every_ms = ?2 WHERE kind = ?1")?
        .execute(params![kind.name(), i64::try_from(every.as_millis()).unwrap_or(i64::MAX)])?;
    Ok(())
}

/// Adds a job, or asks once more for one that is there: dead or running, it
/// will run again.
fn ask(c: &Connection, wish: &Wish<'_>) -> rusqlite::Result<()> {
    let lane = wish.kind.lane(wish.owner);
    c.prepare_cached(
        "INSERT INTO jobs (kind, subject, tenant, user, lane, payload, due_at, created_at)
         VALUES (:kind, :subject, :tenant, :user, :lane, :payload, :due, :now)
         ON CONFLICT (kind, subject) DO UPDATE SET
             payload = excluded.payload, due_at = excluded.due_at, state = 'pending', tries = 0,
             wanted = wanted + 1",
    )?
    .execute(named_params! {
        ":kind": wish.kind.name(), ":subject": wish.subject,
        ":tenant": wish.owner.map(Owner::tenant), ":user": wish.owner.map(Owner::name),
        ":lane": lane, ":payload": wish.payload,
        ":due": millis(wish.due), ":now": millis(wish.now),
    })?;
    Ok(())
}

/// Takes a job back that is not needed any more.
pub(crate) fn cancel(c: &Connection, kind: JobKind, subject: i64) -> rusqlite::Result<()> {
    c.prepare_cached("DELETE FROM jobs WHERE kind = ?1 AND subject = ?2 AND state = 'pending'")?
        .execute(params![kind.name(), subject])?;
    Ok(())
}

/// Makes all that an owner is owed due at once, but for what waits so that it can be undone.
pub(crate) fn hurry(c: &Connection, owner: &Owner, now: Timestamp) -> rusqlite::Result<()> {
    c.prepare_cached(
        "UPDATE jobs SET due_at = ?3
         WHERE tenant = ?1 AND user = ?2 AND state = 'pending' AND due_at > ?3
           AND kind <> 'erase_forgotten'",
    )?
    .execute(params![owner.tenant(), owner.name(), millis(now)])?;
    Ok(())
}

/// Writes how a run ended. A job that was asked for again meanwhile stays owed.
pub(crate) fn settle(
    c: &Connection,
    job: &ClaimedJob,
    settled: &Settled,
    now: Timestamp,
) -> rusqlite::Result<()> {
    match settled {
        Settled::Done(next) => {
            if let Some(Next { kind, payload }) = next {
                let (owner, payload) = (job.owner.as_ref(), Some(payload.clone()));
                ask(c, &Wish { kind: *kind, subject: job.subject, owner, payload, due: now, now })?;
            }
            c.prepare_cached(
                "UPDATE jobs SET due_at = ?3 + every_ms, tries = 0, last_error = NULL
                 WHERE id = ?1 AND wanted = ?2 AND every_ms IS NOT NULL",
            )?
            .execute(params![job.id, job.wanted, millis(now)])?;
            c.prepare_cached(
                "DELETE FROM jobs WHERE id = ?1 AND wanted = ?2 AND every_ms IS NULL",
            )?
            .execute(params![job.id, job.wanted])?;
        }
        Settled::Postponed(reason, until) => {
            c.prepare_cached(
                "UPDATE jobs SET due_at = ?3, last_error = coalesce(?4, last_error)
                 WHERE id = ?1 AND wanted = ?2",
            )?
            .execute(params![job.id, job.wanted, millis(*until), reason])?;
        }
        Settled::Failed(reason, again) => {
            c.prepare_cached(
                "UPDATE jobs SET due_at = ?3, tries = tries + 1, last_error = ?4
                 WHERE id = ?1 AND wanted = ?2",
            )?
            .execute(params![job.id, job.wanted, millis(*again), reason])?;
        }
        Settled::Dead(reason) => {
            c.prepare_cached(
                "UPDATE jobs SET state = 'dead', tries = tries + 1, last_error = ?3
                 WHERE id = ?1 AND wanted = ?2",
            )?
            .execute(params![job.id, job.wanted, reason])?;
        }
    }
    Ok(())
}

/// An owner's jobs, but for those that only wait for a session to be idle, or for a grace to be over.
pub(crate) fn of_owner(c: &Connection, owner: &Owner) -> rusqlite::Result<OwnerJobs> {
    let mut jobs = OwnerJobs::default();
    let mut rows = c.prepare_cached(
        "SELECT id, state FROM jobs
             WHERE tenant = ?1 AND user = ?2
               AND kind NOT IN ('end_idle_session', 'erase_forgotten')",
    )?;
    let mut rows = rows.query(params![owner.tenant(), owner.name()])?;
    while let Some(row) = rows.next()? {
        let state: String = row.get(1)?;
        if state == "dead" { &mut jobs.dead } else { &mut jobs.pending }.push(row.get(0)?);
    }
    Ok(jobs)
}

fn owner_of(c: &Connection, sql: &str, id: i64) -> rusqlite::Result<Owner> {
    let (tenant, user): (String, String) =
        c.prepare_cached(sql)?.query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    owner(&tenant, &user)
}
