//! The record of one turn: what can be looked up.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{admission::Refusal, turn::StoredTurn};
use memgate_core::memory::{MemoryId, Owner};
use memgate_screening::Class;
use memgate_trail::{Record, Stored};

/// Events kept of one turn; more are not kept. A turn leads to a few.
const MAX_EVENTS: usize = 64;

/// The outcome of something in a turn.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Became {
    /// It is a memory of its own.
    Kept,
    /// It is the new version of a memory.
    Updated,
    /// A memory says it already.
    Merged,
    /// A memory was superseded by another of this turn.
    Superseded,
    /// A memory that was said later holds in its place.
    Outdated,
    /// It may not be stored.
    Refused,
    /// Secrets in it were removed.
    Redacted,
    /// It is not worth keeping.
    Dropped,
    /// Memories were forgotten.
    Forgotten,
}

/// Something that a turn led to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnEvent {
    /// The outcome.
    pub became: Became,
    /// Its subject: `message`, `reply`, `turn`, `statement`, `preference`, `command`.
    pub what: Cow<'static, str>,
    /// Why: the class that was refused or removed, or why it was dropped.
    pub reason: Option<Cow<'static, str>>,
    /// The memory that it concerns.
    pub memory: Option<MemoryId>,
    /// The memory that superseded it.
    pub by: Option<MemoryId>,
    /// How many.
    pub count: u64,
}

impl TurnEvent {
    fn new(became: Became, what: &'static str) -> Self {
        Self { became, what: what.into(), reason: None, memory: None, by: None, count: 1 }
    }

    /// Something became of a memory.
    pub(crate) fn of(became: Became, what: &'static str, memory: &MemoryId) -> Self {
        Self { memory: Some(memory.clone()), ..Self::new(became, what) }
    }

    /// A memory was superseded.
    pub(crate) fn superseded(what: &'static str, old: &MemoryId, by: &MemoryId) -> Self {
        Self { by: Some(by.clone()), ..Self::of(Became::Superseded, what, old) }
    }

    /// Something is not kept.
    pub(crate) fn dropped(what: &'static str, reason: &'static str) -> Self {
        Self { reason: Some(reason.into()), ..Self::new(Became::Dropped, what) }
    }

    /// A message is a client's own prompt, of which nothing is kept.
    pub(crate) fn clients_prompt() -> Self {
        Self::dropped("message", "clients_prompt")
    }

    /// A sentence of a message or of a reply is not kept.
    pub(crate) fn refused(what: &'static str, why: Refusal) -> Self {
        Self { reason: Some(why.name().into()), ..Self::new(Became::Refused, what) }
    }

    /// Secrets of a class were removed from a message or a reply.
    pub(crate) fn redacted(class: Class, count: u64) -> Self {
        Self { reason: Some(class.name().into()), count, ..Self::new(Became::Redacted, "message") }
    }

    /// A request to forget was carried out.
    pub(crate) fn forgotten(count: u64) -> Self {
        let reason = (count == 0).then_some("nothing_found".into());
        Self { reason, count, ..Self::new(Became::Forgotten, "command") }
    }
}

/// A turn, as the trail names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnName {
    /// Whose.
    pub owner: Owner,
    /// The id of its first request.
    pub request_id: Option<String>,
    /// Its own id, once the journal has given it one.
    pub turn: Option<String>,
    /// When it began.
    pub at: Timestamp,
}

impl From<&StoredTurn> for TurnName {
    fn from(turn: &StoredTurn) -> Self {
        Self {
            owner: turn.owner.clone(),
            request_id: turn.request_id.clone(),
            turn: Some(turn.key.clone()),
            at: turn.began,
        }
    }
}

/// The outcomes of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnRecord {
    /// Which turn.
    pub name: TurnName,
    /// The events of the turn, in the order in which they were decided.
    pub events: Vec<TurnEvent>,
}

impl Record for TurnRecord {
    fn owner(&self) -> &Owner {
        &self.name.owner
    }

    fn ids(&self) -> [Option<&str>; 2] {
        [self.name.request_id.as_deref(), self.name.turn.as_deref()]
    }

    fn weight(&self) -> usize {
        let ids = self.events.iter().flat_map(|it| [&it.memory, &it.by]).flatten();
        let names = [&self.name.request_id, &self.name.turn].into_iter().flatten();
        let names: usize = names.map(String::len).sum();
        size_of::<Self>()
            + names
            + self.events.capacity() * size_of::<TurnEvent>()
            + ids.map(|id| id.as_str().len()).sum::<usize>()
    }
}

impl Stored for TurnRecord {
    const KIND: &'static str = "turn";

    fn at(&self) -> Timestamp {
        self.name.at
    }

    fn join(mut self, newer: Self) -> Self {
        self.add(newer.name.turn.as_ref(), newer.events);
        self
    }
}

impl TurnRecord {
    /// Adds further outcomes of the turn. Known ones are not added again.
    pub(super) fn add(
        &mut self,
        turn: Option<&String>,
        events: impl IntoIterator<Item = TurnEvent>,
    ) {
        if self.name.turn.is_none() {
            self.name.turn = turn.cloned();
        }
        for event in events {
            if self.events.len() < MAX_EVENTS && !self.events.contains(&event) {
                self.events.push(event);
            }
        }
    }
}

impl std::fmt::Display for TurnEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)?;
        if let Some(reason) = &self.reason {
            write!(f, " {reason}")?;
        }
        if let Some(memory) = &self.memory {
            write!(f, " {memory}")?;
        }
        if let Some(by) = &self.by {
            write!(f, " by {by}")?;
        }
        if self.count != 1 {
            write!(f, " ×{}", self.count)?;
        }
        Ok(())
    }
}
