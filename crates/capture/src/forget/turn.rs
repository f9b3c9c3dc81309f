//! Forgetting one turn, with the memories that were made of it and of nothing else.

use crate::{
    error::ForgetError,
    forget::{
        cascade::{Origins, forget_origins, sources},
        session_memories::of_session,
    },
    journal::Forget,
    parts::Parts,
    turn::StoredTurn,
};
use memgate_core::memory::{Actor, Memory, Write};

/// Pages of the session's memories that are looked through: a turn leaves few, and an edited one is among the newest.
const PAGES: usize = 20;

/// Forgets a turn. Returns how many memories that were. Nothing may run in the owner's lanes. Safe to run again after a failure.
pub(crate) async fn forget_turn(parts: &Parts, turn: &StoredTurn) -> Result<u64, ForgetError> {
    let mut origins = Origins::default();
    origins.add_turn(turn);
    // In flight, it would be written again.
    let pending = parts.journal.to_forget(&turn.owner, &origins.turns).await?;
    parts.exchanges.forget_turns(pending);
    let this = Forget::Turn(turn.key.clone());
    let only_this = |memory: &Memory| {
        let mut of = sources(memory).peekable();
        of.peek().is_some() && of.all(|source| source == this)
    };
    let made = of_session(parts, &turn.owner, &turn.session, None, PAGES, only_this).await?;
    let write = Write::by(Actor::Capture, "message edited");
    let forgotten = parts.writer.store.forget_all(&turn.owner, &made, &write).await?;
    Ok(forgotten + forget_origins(parts, &turn.owner, &origins).await?)
}
