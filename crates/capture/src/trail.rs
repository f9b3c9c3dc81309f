//! The trail of turns: the outcomes of the latest ones, each with its reason. The screening, the jobs and reconciliation write
//! it. It holds ids and names of reasons, never words.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use crate::{admission::Refusal, turn::StoredTurn};
use memgate_core::{
    memory::{MemoryId, Owner},
    trail::{Record, Ring},
};
use memgate_screening::Class;

/// Events kept of one turn; more are not kept. A turn leads to a few.
const MAX_EVENTS: usize = 64;

/// The outcome of something in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnEvent {
    /// The outcome.
    pub became: Became,
    /// Its subject: `message`, `turn`, `statement`, `preference`, `command`.
    pub what: &'static str,
    /// Why: the class that was refused or removed, or why it was dropped.
    pub reason: Option<&'static str>,
    /// The memory that it concerns.
    pub memory: Option<MemoryId>,
    /// The memory that superseded it.
    pub by: Option<MemoryId>,
    /// How many.
    pub count: u64,
}

impl TurnEvent {
    fn new(became: Became, what: &'static str) -> Self {
        Self { became, what, reason: None, memory: None, by: None, count: 1 }
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
        Self { reason: Some(reason), ..Self::new(Became::Dropped, what) }
    }

    /// A message is a client's own prompt, of which nothing is kept.
    pub(crate) fn clients_prompt() -> Self {
        Self::dropped("message", "clients_prompt")
    }

    /// A sentence of a message is not kept.
    pub(crate) fn refused(why: Refusal) -> Self {
        Self { reason: Some(why.name()), ..Self::new(Became::Refused, "message") }
    }

    /// Secrets of a class were removed from a message or a reply.
    pub(crate) fn redacted(class: Class, count: u64) -> Self {
        Self { reason: Some(class.name()), count, ..Self::new(Became::Redacted, "message") }
    }

    /// A request to forget was carried out.
    pub(crate) fn forgotten(count: u64) -> Self {
        let reason = (count == 0).then_some("nothing_found");
        Self { reason, count, ..Self::new(Became::Forgotten, "command") }
    }
}

/// A turn, as the trail names it.
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
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

    fn is(&self, id: &str) -> bool {
        [&self.name.request_id, &self.name.turn].into_iter().flatten().any(|known| known == id)
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

/// The trail of turns; clones share it.
// Locked to add an event or to look one up, never over an await, and never by a request to a model.
#[derive(Clone, Debug, Default)]
pub struct TurnTrail(Option<Arc<Mutex<Ring<TurnRecord>>>>);

impl TurnTrail {
    /// A trail that keeps nothing.
    #[must_use]
    pub fn off() -> Self {
        Self(None)
    }

    /// A trail of at most this many turns and bytes; of no turns it keeps nothing.
    #[must_use]
    pub fn new(turns: usize, bytes: usize) -> Self {
        Self((turns > 0).then(|| Arc::new(Mutex::new(Ring::new(turns, bytes)))))
    }

    /// The record of a turn by its own id or that of its first request, if its owner is within reach.
    #[must_use]
    pub fn find(&self, id: &str, reaches: impl Fn(&Owner) -> bool) -> Option<TurnRecord> {
        self.lock()?.find(id, reaches).cloned()
    }

    /// The newest records of an owner.
    #[must_use]
    pub fn newest(&self, owner: &Owner, most: usize) -> Vec<TurnRecord> {
        let Some(ring) = self.lock() else { return Vec::new() };
        ring.of(owner).take(most).cloned().collect()
    }

    /// Notes what a turn led to. Noted again, as by a job that runs twice, it is known.
    pub(crate) fn note(&self, name: TurnName, events: impl IntoIterator<Item = TurnEvent>) {
        let Some(mut ring) = self.lock() else { return };
        let owner = name.owner.clone();
        let same = |known: &TurnRecord| {
            [&name.request_id, &name.turn].into_iter().flatten().any(|id| known.is(id))
        };
        let mut events = Some(events);
        let known = ring.change(&owner, same, |known| {
            if known.name.turn.is_none() {
                known.name.turn.clone_from(&name.turn);
            }
            for event in events.take().into_iter().flatten() {
                if known.events.len() < MAX_EVENTS && !known.events.contains(&event) {
                    known.events.push(event);
                }
            }
        });
        if known.is_none() {
            let events = events.into_iter().flatten().take(MAX_EVENTS).collect();
            ring.push(TurnRecord { name, events });
        }
    }

    /// Logs the outcomes of a turn so far: one line, without words and without the user.
    pub(crate) fn log(&self, turn: &StoredTurn) {
        if !tracing::enabled!(tracing::Level::DEBUG) {
            return;
        }
        let Some(record) = self.find(&turn.key, |owner| *owner == turn.owner) else { return };
        let of = |became: &[Became]| {
            let events = record.events.iter().filter(|it| became.contains(&it.became));
            events.map(TurnEvent::to_string).collect::<Vec<_>>().join(", ")
        };
        tracing::debug!(
            request_id = record.name.request_id,
            kept = of(&[Became::Kept, Became::Updated, Became::Merged]),
            refused = of(&[Became::Refused, Became::Redacted]),
            dropped = of(&[Became::Dropped, Became::Outdated]),
            superseded = of(&[Became::Superseded]),
            forgotten = of(&[Became::Forgotten]),
            "Memory: Learned from a turn",
        );
    }

    fn lock(&self) -> Option<MutexGuard<'_, Ring<TurnRecord>>> {
        Some(self.0.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl std::fmt::Display for TurnEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.what)?;
        if let Some(reason) = self.reason {
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
