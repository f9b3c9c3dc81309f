//! Forgetting one turn, with the memories that were made of it and of nothing else.

use crate::{
    error::ForgetError,
    forget::{
        cascade::{Origins, forget_origins, sources},
        context::ForgetContext,
    },
    journal::Forget,
    turn::StoredTurn,
};
use memgate_core::memory::{
    Actor, Filter, ListQuery, Memory, MemoryId, ScopeQuery, Status, StoreError, Write,
};

/// Memories of a session that are read at once, and how often: one turn leaves few.
const PAGE: usize = 100;
const PAGES: usize = 20;

/// Forgets a turn. Returns how many memories that were. Nothing may run in the owner's lanes. Safe to run again after a failure.
pub(crate) async fn forget_turn(
    context: &ForgetContext,
    turn: &StoredTurn,
) -> Result<u64, ForgetError> {
    let mut origins = Origins::default();
    origins.add_turn(turn);
    // In flight, it would be written again.
    let pending = context.journal.to_forget(&turn.owner, &origins.turns).await?;
    context.exchanges.forget_turns(pending);
    let made = made_of(context, turn).await?;
    let write = Write::by(Actor::Capture, "message edited");
    let forgotten = context.store.forget_all(&turn.owner, &made, &write).await?;
    Ok(forgotten + forget_origins(context, &turn.owner, &origins).await?)
}

/// The memories of the turn's session that nothing but this turn said.
async fn made_of(context: &ForgetContext, turn: &StoredTurn) -> Result<Vec<MemoryId>, StoreError> {
    let mut query = ListQuery {
        scope: ScopeQuery::of(turn.owner.clone()),
        filter: Some(Filter::And(vec![
            Filter::Session(turn.session.clone()),
            Filter::Status(Status::ALL.to_vec()),
        ])),
        limit: PAGE,
        cursor: None,
        now: context.journal.now(),
    };
    let this = Forget::Turn(turn.key.clone());
    let only_this = |memory: &Memory| {
        let mut of = sources(memory).peekable();
        of.peek().is_some() && of.all(|source| source == this)
    };
    let mut made = Vec::new();
    for _ in 0..PAGES {
        let page = context.store.list(&query).await?;
        made.extend(page.memories.into_iter().filter(only_this).map(|memory| memory.id));
        match page.next {
            Some(next) => query.cursor = Some(next),
            None => break,
        }
    }
    Ok(made)
}
