//! The keys of the API: created, found, listed and revoked.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use jiff::Timestamp;
use memgate_core::memory::Owner;
use memgate_sqlite::{Database, DatabaseError};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::{
    audit::{self, Action, Actor, Audit, Subject},
    key::{Bound, KeyRecord, NewKey, Scopes},
    secret::{Digest, Secret},
};

/// Maximum number of keys. All of them are held in memory.
const MAX_KEYS: u32 = 10_000;
/// Maximum number of valid keys with the same name: the one in use, and its successor.
const PER_NAME: u32 = 2;

/// A key was not created, found or revoked.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// Two valid keys have this name.
    #[error("name: has two valid keys; revoke one of them first")]
    TooManyOfName,
    /// There are [`MAX_KEYS`] keys.
    #[error("there are {MAX_KEYS} keys; revoke some of them first")]
    TooMany,
    /// The operating system has no randomness.
    #[error("the operating system provides no random numbers: {0}")]
    Random(getrandom::Error),
    /// The file cannot be read or written.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// The keys. Only this process changes them, so a lookup needs no disk.
#[derive(Clone)]
pub struct Keys {
    database: Arc<Database>,
    audit: Audit,
    known: Arc<RwLock<HashMap<Digest, KeyRecord>>>,
}

/// A key that something was begun with which outlasts its request.
#[derive(Clone)]
pub struct HeldKey {
    keys: Keys,
    digest: Digest,
}

impl HeldKey {
    /// Whether it was neither revoked nor has expired.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let known = self.keys.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(&self.digest).is_some_and(|key| key.is_valid(self.keys.audit.now()))
    }
}

/// Why a key was not inserted.
enum Full {
    Name,
    All,
}

impl Keys {
    pub(crate) fn new(
        database: Arc<Database>,
        audit: Audit,
        known: Vec<(Digest, KeyRecord)>,
    ) -> Self {
        let known = Arc::new(RwLock::new(known.into_iter().collect()));
        Self { database, audit, known }
    }

    /// The valid key with this text.
    #[must_use]
    pub fn find(&self, key: &str) -> Option<KeyRecord> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(&Digest::of(key)).filter(|key| key.is_valid(self.audit.now())).cloned()
    }

    /// The key with this id, to see whether it is still valid; none if it was revoked.
    #[must_use]
    pub fn held(&self, id: i64) -> Option<HeldKey> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let (digest, _) = known.iter().find(|(_, key)| key.id == id)?;
        Some(HeldKey { keys: self.clone(), digest: *digest })
    }

    /// All keys that were not revoked, expired ones included, oldest first.
    #[must_use]
    pub fn list(&self) -> Vec<KeyRecord> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut keys: Vec<_> = known.values().cloned().collect();
        keys.sort_by_key(|key| key.id);
        keys
    }

    /// Creates a key. Its text is returned once and kept nowhere.
    ///
    /// # Errors
    /// [`KeyError`]; then no key was created.
    pub async fn create(
        &self,
        new: NewKey,
        by: Actor,
        request_id: Option<String>,
    ) -> Result<(KeyRecord, Secret), KeyError> {
        let secret = Secret::generate().map_err(KeyError::Random)?;
        let (digest, now) = (Digest::of(secret.reveal()), self.audit.now());
        let entry = self.audit.entry(by, Action::KeyCreate, request_id);
        let job = move |c: &mut Connection| {
            let key = new.record(0, now);
            let of_name = "SELECT count(*) FROM key WHERE name = ?1 \
                           AND (expires_at IS NULL OR expires_at > ?2)";
            let count = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
                c.query_row(sql, values, |row| row.get::<_, u32>(0))
            };
            if count(of_name, &[&key.name, &now.as_millisecond()])? >= PER_NAME {
                return Ok(Err(Full::Name));
            }
            if count("SELECT count(*) FROM key", &[])? >= MAX_KEYS {
                return Ok(Err(Full::All));
            }
            insert(c, &digest, &key)?;
            let key = new.record(c.last_insert_rowid(), now);
            audit::append(c, &entry.of(subject(&key)))?;
            Ok(Ok(key))
        };
        let key = self.database.write(job).await?.map_err(|full| match full {
            Full::Name => KeyError::TooManyOfName,
            Full::All => KeyError::TooMany,
        })?;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(digest, key.clone());
        Ok((key, secret))
    }

    /// Revokes a key at once. `None` when there is no such key.
    ///
    /// # Errors
    /// [`KeyError::Database`] when the file cannot be written; the key stays valid then.
    pub async fn revoke(
        &self,
        id: i64,
        by: Actor,
        request_id: Option<String>,
    ) -> Result<Option<KeyRecord>, KeyError> {
        let entry = self.audit.entry(by, Action::KeyRevoke, request_id);
        let job = move |c: &mut Connection| {
            let sql = "DELETE FROM key WHERE id = ?1 RETURNING *";
            let Some((digest, key)) = c.query_row(sql, [id], read).optional()? else {
                return Ok(None);
            };
            audit::append(c, &entry.of(subject(&key)))?;
            Ok(Some((digest, key)))
        };
        let Some((digest, key)) = self.database.write(job).await? else { return Ok(None) };
        self.known.write().unwrap_or_else(PoisonError::into_inner).remove(&digest);
        Ok(Some(key))
    }
}

/// The subject by which the audit log names a key.
fn subject(key: &KeyRecord) -> Subject {
    Subject {
        owner: key.bound.owner().cloned(),
        tenant: key.bound.tenant().map(str::to_owned),
        target: Some(format!("key:{} {} {}", key.id, key.name, key.scopes)),
        count: None,
    }
}

fn insert(c: &Connection, digest: &Digest, key: &KeyRecord) -> rusqlite::Result<()> {
    c.execute(
        "INSERT INTO key (name, digest, scopes, tenant, user, created_at, expires_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            key.name,
            digest.0,
            key.scopes.to_string(),
            key.bound.tenant(),
            key.bound.owner().map(Owner::name),
            key.created_at.as_millisecond(),
            key.expires_at.map(Timestamp::as_millisecond),
        ],
    )?;
    Ok(())
}

/// All keys of the file.
pub(crate) fn all(c: &Connection) -> rusqlite::Result<Vec<(Digest, KeyRecord)>> {
    c.prepare("SELECT * FROM key")?.query_map([], read)?.collect()
}

/// Reads a row. A row that cannot be understood is an error: a key must never mean more than when it
/// was created.
fn read(row: &Row<'_>) -> rusqlite::Result<(Digest, KeyRecord)> {
    let bad = |name: &str, cause: &str| {
        let cause = format!("key.{name}: {cause}");
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, cause.into())
    };
    let scopes: String = row.get("scopes")?;
    let scopes: Result<Vec<_>, _> = scopes.split(',').map(str::parse).collect();
    let scopes = Scopes::new(scopes.map_err(|_| bad("scopes", "unknown scope"))?);
    let (tenant, user): (Option<String>, Option<String>) = (row.get("tenant")?, row.get("user")?);
    let bound = match (tenant, user) {
        (None, None) => Bound::All,
        (Some(tenant), None) => Bound::Tenant(tenant),
        (Some(tenant), Some(user)) => {
            Bound::One(Owner::named(&tenant, &user).map_err(|_| bad("user", "invalid id"))?)
        }
        (None, Some(_)) => return Err(bad("tenant", "missing")),
    };
    let time = |millis| Timestamp::from_millisecond(millis).map_err(|_| bad("time", "too large"));
    let expires_at = row.get::<_, Option<i64>>("expires_at")?.map(time).transpose()?;
    let key = KeyRecord {
        id: row.get("id")?,
        name: row.get("name")?,
        scopes,
        bound,
        created_at: time(row.get("created_at")?)?,
        expires_at,
    };
    Ok((Digest(row.get("digest")?), key))
}
