//! What goes with a turn whose message was edited: the memories that were made of it and of nothing else.

use crate::{
    forget::{
        cascade::{Origins, sources},
        matcher::Matches,
        session_memories::of_session,
    },
    journal::Forget,
    parts::Parts,
    turn::StoredTurn,
};
use memgate_core::memory::{Memory, StoreError};

/// Pages of the session's memories that are looked through: a turn leaves few, and an edited one is among the newest.
const PAGES: usize = 20;

/// The turn and the memories that were made of it alone.
pub(crate) async fn made_of(parts: &Parts, turn: &StoredTurn) -> Result<Matches, StoreError> {
    let mut origins = Origins::default();
    origins.add_turn(turn);
    let this = Forget::Turn(turn.key.clone());
    let only_this = |memory: &Memory| {
        let mut of = sources(memory).peekable();
        of.peek().is_some() && of.all(|source| source == this)
    };
    let memories = of_session(parts, &turn.owner, &turn.session, None, PAGES, only_this).await?;
    Ok(Matches { memories, origins, ..Matches::default() })
}
