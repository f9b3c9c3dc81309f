//! Forgettings that wait for their grace to end. Each is the job that will erase; its payload names memories and holds
//! none of their words.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use super::{JobKind, jobs, time};
use crate::memory::{MemoryId, Owner, Status};

/// What one request to forget has hidden.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::capture) struct Hidden {
    /// The memories, with the status each had.
    pub(in crate::capture) memories: BTreeMap<MemoryId, Status>,
    /// Memories that said it once: their earlier versions are to go.
    pub(in crate::capture) histories: Vec<MemoryId>,
    /// Sessions whose summaries are to be made again, or never again.
    pub(in crate::capture) sessions: BTreeMap<String, bool>,
}

/// A forgetting that can be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forgetting {
    /// Its number.
    pub id: i64,
    /// When it was asked for.
    pub asked_at: Timestamp,
    /// When what it hides is erased.
    pub erase_at: Timestamp,
    /// What it hides.
    pub memories: Vec<MemoryId>,
}

/// What was hidden for a request already, by the subject of its job.
pub(in crate::capture) fn hidden_for(c: &Connection, subject: i64) -> rusqlite::Result<Hidden> {
    let payload: Option<Option<String>> = c
        .prepare_cached("SELECT payload FROM jobs WHERE kind = ?1 AND subject = ?2")?
        .query_row(params![JobKind::EraseForgotten.name(), subject], |row| row.get(0))
        .optional()?;
    Ok(payload.flatten().and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default())
}

/// Owes the erasure of what is hidden.
pub(in crate::capture) fn erase_later(
    c: &Connection,
    subject: i64,
    owner: &Owner,
    hidden: &Hidden,
    (due, now): (Timestamp, Timestamp),
) -> rusqlite::Result<()> {
    let payload = serde_json::json!(hidden).to_string();
    jobs::ask_for_erasure(c, subject, owner, payload, due, now)
}

/// An owner's forgettings that can be undone, the last one first.
pub(in crate::capture) fn pending(
    c: &Connection,
    owner: &Owner,
) -> rusqlite::Result<Vec<Forgetting>> {
    let mut found = c.prepare_cached(
        "SELECT id, created_at, due_at, payload FROM jobs
         WHERE kind = ?1 AND tenant = ?2 AND user = ?3 AND state = 'pending' ORDER BY id DESC",
    )?;
    let rows = found.query_map(
        params![JobKind::EraseForgotten.name(), owner.tenant(), owner.user()],
        |row| {
            let payload: Option<String> = row.get(3)?;
            let hidden: Hidden =
                payload.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default();
            Ok(Forgetting {
                id: row.get(0)?,
                asked_at: time(row.get(1)?)?,
                erase_at: time(row.get(2)?)?,
                memories: hidden.memories.into_keys().collect(),
            })
        },
    )?;
    rows.collect()
}

/// What a forgetting of an owner's hides; `None` when there is none of this number.
pub(in crate::capture) fn hidden_by(
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
            params![id, JobKind::EraseForgotten.name(), owner.tenant(), owner.user()],
            |row| row.get(0),
        )
        .optional()?;
    Ok(payload.flatten().and_then(|json| serde_json::from_str(&json).ok()))
}

/// Takes a forgetting back.
pub(in crate::capture) fn cancel(c: &Connection, id: i64) -> rusqlite::Result<()> {
    c.prepare_cached("DELETE FROM jobs WHERE id = ?1 AND kind = ?2")?
        .execute(params![id, JobKind::EraseForgotten.name()])?;
    Ok(())
}
