//! Turns that were taken from the queue and are not yet written, by owner. An owner has one piece under way; the turns
//! that arrive meanwhile wait for its end and make the next piece. So turns of one owner keep their order, and a text
//! that takes long to screen holds up its own owner.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::sync::oneshot;

use crate::{intake::in_flight::InFlight, turn::FinishedTurn};
use memgate_core::memory::Owner;

/// An item in the queue, in order.
pub(super) enum Message {
    Turn(Waiting),
    /// Answered once everything before it is written or shed.
    Barrier(oneshot::Sender<()>),
}

/// A turn on its way to the journal.
pub(super) struct Waiting {
    pub(super) turn: Box<FinishedTurn>,
    pub(super) held: Held,
}

impl Waiting {
    pub(super) fn owner(&self) -> &Owner {
        &self.turn.owner
    }
}

/// What a turn holds until it is written or shed: its share of the bytes, and its exchange, which then ends.
pub(super) struct Held {
    pub(super) _weight: Weight,
    pub(super) flight: InFlight,
}

/// A share of the waiting bytes, given back when dropped.
pub(super) struct Weight(Arc<AtomicUsize>, usize);

impl Weight {
    /// Takes a share. Returns the bytes taken before it, too.
    pub(super) fn take(waiting_bytes: &Arc<AtomicUsize>, weight: usize) -> (usize, Self) {
        let before = waiting_bytes.fetch_add(weight, Ordering::Relaxed);
        (before, Self(Arc::clone(waiting_bytes), weight))
    }
}

impl Drop for Weight {
    fn drop(&mut self) {
        self.0.fetch_sub(self.1, Ordering::Relaxed);
    }
}

/// Answered when the last of its clones is dropped.
type Answer = Arc<oneshot::Sender<()>>;

/// The turns by owner. The queue's reader bounds their number.
#[derive(Default)]
pub(super) struct Backlog {
    /// Owners with a piece under way, each with its next piece.
    busy: HashMap<Owner, Piece>,
    turns: usize,
}

/// Turns of one owner that are screened and written together.
#[derive(Default)]
pub(super) struct Piece {
    pub(super) turns: Vec<Waiting>,
    /// Barriers that arrived after the turns of the piece before.
    pub(super) barriers: Vec<Answer>,
}

impl Backlog {
    /// Number of turns that are not yet written.
    pub(super) fn len(&self) -> usize {
        self.turns
    }

    /// Takes a turn. Returns it as a piece if nothing of its owner is under way.
    pub(super) fn take(&mut self, turn: Waiting) -> Option<Piece> {
        self.turns += 1;
        if let Some(next) = self.busy.get_mut(turn.owner()) {
            next.turns.push(turn);
            return None;
        }
        self.busy.insert(turn.owner().clone(), Piece::default());
        Some(Piece { turns: vec![turn], ..Piece::default() })
    }

    /// Answers when everything that is not yet written has been written or shed.
    pub(super) fn barrier(&mut self, answer: oneshot::Sender<()>) {
        let answer = Arc::new(answer);
        self.busy.values_mut().for_each(|next| next.barriers.push(Arc::clone(&answer)));
    }

    /// A piece of this many turns has been written or shed. Returns the owner's next one.
    pub(super) fn done(&mut self, owner: &Owner, turns: usize) -> Option<Piece> {
        self.turns -= turns;
        let next = std::mem::take(self.busy.get_mut(owner)?);
        if next.turns.is_empty() {
            self.busy.remove(owner);
            return None;
        }
        Some(next)
    }
}
