//! Requests to forget that wait for the end of their grace period. Each is stored as the job that will erase; its payload
//! holds memory ids and no content.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use crate::journal::{
    columns::time,
    jobs::{self, JobKind},
};
use memgate_core::memory::{MemoryId, Owner, Status};

/// The memories that one request to forget hides, or of which it hides a part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Hidden {
    /// The hidden memories, each with its previous status.
    pub(crate) memories: BTreeMap<MemoryId, Status>,
    /// The memories that it leaves shorter, each with the version before.
    pub(crate) cut: BTreeMap<MemoryId, u32>,
    /// Memories whose earlier versions match: these are to be erased.
    pub(crate) histories: Vec<MemoryId>,
    /// Sessions whose summaries are erased; true: the session is never summarised again.
    pub(crate) sessions: BTreeMap<String, bool>,
}

/// A request to forget that can be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forgetting {
    /// The number of its job.
    pub id: i64,
    /// When the memories were hidden.
    pub asked_at: Timestamp,
    /// When the memories are erased.
    pub erase_at: Timestamp,
    /// The memories that are hidden, or say less.
    pub memories: Vec<MemoryId>,
}

impl Hidden {
    /// Number of memories that the request hides, or leaves shorter.
    pub(crate) fn count(&self) -> u64 {
        (self.memories.len() + self.cut.len()) as u64
    }
}

/// The memories that an earlier run of the job has hidden; empty on the first run.
pub(crate) fn hidden_for(c: &Connection, subject: i64) -> rusqlite::Result<Hidden> {
    let payload: Option<Option<String>> = c
        .prepare_cached("SELECT payload FROM jobs WHERE kind = ?1 AND subject = ?2")?
        .query_row(params![JobKind::EraseForgotten.name(), subject], |row| row.get(0))
        .optional()?;
    Ok(payload.flatten().and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default())
}

/// Schedules the erasure of hidden memories.
pub(crate) fn erase_later(
    c: &Connection,
    subject: i64,
    owner: &Owner,
    hidden: &Hidden,
    (due, now): (Timestamp, Timestamp),
) -> rusqlite::Result<()> {
    let payload = serde_json::json!(hidden).to_string();
    jobs::ask_for_erasure(c, subject, owner, payload, due, now)
}

/// The owner's requests that can be undone, newest first.
pub(crate) fn pending(c: &Connection, owner: &Owner) -> rusqlite::Result<Vec<Forgetting>> {
    let mut found = c.prepare_cached(
        "SELECT id, created_at, due_at, payload FROM jobs
         WHERE kind = ?1 AND tenant = ?2 AND user = ?3 AND state = 'pending' ORDER BY id DESC",
    )?;
    let rows = found.query_map(
        params![JobKind::EraseForgotten.name(), owner.tenant(), owner.name()],
        |row| {
            let payload: Option<String> = row.get(3)?;
            let hidden: Hidden =
                payload.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default();
            Ok(Forgetting {
                id: row.get(0)?,
                asked_at: time(row.get(1)?)?,
                erase_at: time(row.get(2)?)?,
                memories: hidden.memories.into_keys().chain(hidden.cut.into_keys()).collect(),
            })
        },
    )?;
    rows.collect()
}

/// The memories that the owner's request with this number hides; `None` when there is no such
/// request.
pub(crate) fn hidden_by(
    c: &Connection,
    owner: &Owner,
    id: i64,
) -> rusqlite::Result<Option<Hidden>> {
    let payload: Option<Option<String>> = c
        .prepare_cached(
            "SELECT payload FROM jobs
             WHERE id = ?1 AND kind = ?2 AND tenant = ?3 AND user = ?4 AND state = 'pending'",
        )?
        .query_row(
            params![id, JobKind::EraseForgotten.name(), owner.tenant(), owner.name()],
            |row| row.get(0),
        )
        .optional()?;
    Ok(payload.flatten().and_then(|json| serde_json::from_str(&json).ok()))
}

/// Cancels the erasure.
pub(crate) fn cancel(c: &Connection, id: i64) -> rusqlite::Result<()> {
    c.prepare_cached("DELETE FROM jobs WHERE id = ?1 AND kind = ?2")?
        .execute(params![id, JobKind::EraseForgotten.name()])?;
    Ok(())
}
