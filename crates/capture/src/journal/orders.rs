//! Requests of a user to memory itself in a turn, and the jobs that carry them out.
//!
//! A turn that asks to forget is written without its words, or they would be learnt: what is to
//! be forgotten stands here alone, until it is done.

use jiff::Timestamp;
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use crate::{
    journal::{
        columns,
        jobs::{self, ClaimedJob, JobKind},
    },
    session::digest,
};
use memgate_core::memory::Owner;
use memgate_text::{command::Subject, preferences::Stated};

/// Requests of a turn to memory, as they stand in the tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Orders {
    /// To be remembered, in the user's words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) remember: Vec<String>,
    /// Whether the answer of the turn before is to be remembered.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) answer: bool,
    /// Preferences, with the user's words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) prefer: Vec<Stated>,
    /// To be forgotten, as rules read it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) forget: Vec<Subject>,
    /// The sentences that ask to forget, each with the one before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) requests: Vec<String>,
}

/// The payload of a remembering.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RememberOrder {
    /// In the user's words.
    pub(crate) statements: Vec<String>,
    /// Whether the answer of the turn before is meant, too.
    pub(crate) answer: bool,
}

/// The payload of a forgetting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ForgetOrder {
    /// As rules read it.
    pub(crate) forget: Vec<Subject>,
    /// The sentences that ask, each with the one before it.
    pub(crate) requests: Vec<String>,
    /// When it was asked, in milliseconds: what was said later stays.
    pub(crate) asked_at: i64,
}

impl Orders {
    pub(crate) fn are_none(&self) -> bool {
        self.remember.is_empty() && !self.answer && self.prefer.is_empty() && self.forget.is_empty()
    }

    /// As it stands in the tables; `None` when nothing is asked.
    pub(crate) fn json(&self) -> Option<String> {
        (!self.are_none()).then(|| serde_json::json!(self).to_string())
    }

    fn read(json: Option<String>) -> Self {
        json.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default()
    }
}

/// Owes what a complete turn asks. Returns whether the turn asks to forget: then
/// nothing else is made of it.
pub(crate) fn owe(c: &Connection, turn: i64, now: Timestamp) -> rusqlite::Result<bool> {
    let (json, tenant, user, began): (Option<String>, String, String, i64) = c
        .prepare_cached("SELECT orders, tenant, user, began_at FROM turns WHERE id = ?1")?
        .query_row([turn], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    let orders = Orders::read(json);
    if orders.are_none() {
        return Ok(false);
    }
    let owner = columns::owner(&tenant, &user)?;
    // In this order: "forget my address, remember that it is …".
    let forgets = !orders.forget.is_empty();
    if forgets {
        let (forget, requests) = (orders.forget, orders.requests);
        owe_forgetting(c, turn, &owner, &ForgetOrder { forget, requests, asked_at: began }, now)?;
    }
    if !orders.remember.is_empty() || orders.answer {
        let order = RememberOrder { statements: orders.remember, answer: orders.answer };
        let payload = serde_json::json!(order).to_string();
        jobs::ask_for_order(c, JobKind::Remember, turn, &owner, payload, now)?;
    }
    if !orders.prefer.is_empty() {
        let payload = serde_json::json!(orders.prefer).to_string();
        jobs::ask_for_order(c, JobKind::SetPreferences, turn, &owner, payload, now)?;
    }
    Ok(forgets)
}

/// Owes a forgetting that no turn is kept of. Asked twice, it is one job.
pub(crate) fn owe_without_turn(
    c: &Connection,
    owner: &Owner,
    order: &ForgetOrder,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let names = serde_json::json!(order.forget).to_string();
    let digest = digest(&[&owner.key(), &names]);
    // Turns count from 1 upward, so what is negative is none.
    let number = digest.bytes().fold(0_i64, |n, byte| n.wrapping_mul(31).wrapping_add(byte.into()));
    owe_forgetting(c, -(number & (i64::MAX >> 1)) - 1, owner, order, now)
}

/// Owes what a turn asks to be forgotten.
pub(crate) fn owe_forgetting(
    c: &Connection,
    turn: i64,
    owner: &Owner,
    order: &ForgetOrder,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let payload = serde_json::json!(order).to_string();
    jobs::ask_for_order(c, JobKind::ForgetSaid, turn, owner, payload, now)
}

/// Whether what a turn asks to be forgotten is still there.
pub(crate) fn has_to_forget(c: &Connection, turn: i64) -> rusqlite::Result<bool> {
    c.prepare_cached(
        "SELECT 1 FROM jobs WHERE kind = 'forget_said' AND subject = ?1 AND state = 'pending'",
    )?
    .exists([turn])
}

/// A forgetting is done: its words go, and those of the turn that asked for it. Asked for once
/// more while it ran, it needs them again.
pub(crate) fn fulfilled(c: &Connection, job: &ClaimedJob) -> rusqlite::Result<()> {
    let last = c
        .prepare_cached("UPDATE jobs SET payload = NULL WHERE id = ?1 AND wanted = ?2")?
        .execute([job.id, job.wanted])?;
    if last == 0 {
        return Ok(());
    }
    let turn = job.subject;
    c.prepare_cached("UPDATE turns SET orders = NULL, user_text = '' WHERE id = ?1")?
        .execute([turn])?;
    c.prepare_cached("UPDATE replies SET text = '', refusal = NULL WHERE turn = ?1")?
        .execute([turn])?;
    c.prepare_cached(
        "UPDATE tool_calls SET input = '', output = NULL, error = NULL WHERE turn = ?1",
    )?
    .execute([turn])?;
    Ok(())
}

/// The keys of an owner's turns that began after a time.
pub(crate) fn later_turns(
    c: &Connection,
    owner: &Owner,
    time: i64,
) -> rusqlite::Result<Vec<String>> {
    c.prepare_cached("SELECT key FROM turns WHERE tenant = ?1 AND user = ?2 AND began_at > ?3")?
        .query_map(params![owner.tenant(), owner.name(), time], |row| row.get(0))?
        .collect()
}
