//! The context in which the candidates of one batch are reconciled.

use jiff::Timestamp;

use crate::{
    reconcile::{origin::Origin, supersede},
    settings::Policy,
    trail::TurnEvent,
    writer::MemoryWriter,
};
use memgate_core::memory::{Actor, Memory, StoreError, Write};

/// The context in which the candidates of one batch are reconciled.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) writer: &'a MemoryWriter,
    pub(super) policy: Policy,
    pub(super) origin: &'a Origin,
    pub(super) now: Timestamp,
}

impl Context<'_> {
    /// A change for this reason and the request of the batch.
    pub(super) fn write(&self, reason: &'static str) -> Write {
        Write { actor: Actor::Capture, reason, request_id: self.origin.request_id.clone() }
    }

    /// Notes in the trail what became of a candidate.
    pub(super) fn note(&self, event: TurnEvent) {
        self.writer.trail.note(self.origin.turn_name(), [event]);
    }

    /// Takes a memory's words out of the turns that said them.
    pub(super) async fn say_no_longer(&self, memory: &Memory) -> Result<(), StoreError> {
        let write = self.write("superseded");
        supersede::say_no_longer(self.writer, memory, memory, &write).await
    }
}
