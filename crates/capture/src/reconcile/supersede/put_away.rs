//! Superseding: a memory that is replaced, and its words in the memories of turns and in summaries.

use jiff::Timestamp;

use crate::{
    reconcile::{
        error::{Outcome, ReconcileError},
        scope::said_at,
        supersede::still_holds::still_holds,
        turn_text::without,
    },
    turn::StoredTurn,
    writer::MemoryWriter,
};
use memgate_core::memory::{Actor, Memory, MemoryId, Relation, Status, StoreError, Write};

/// Lets a turn's memory hold in the place of statements, and of sentences of other turns.
pub(in crate::reconcile) async fn put_away(
    writer: &MemoryWriter,
    own: &Memory,
    turn: &StoredTurn,
    old: Vec<Memory>,
    sentences: Vec<(Memory, String)>,
    now: Timestamp,
) -> Result<(), ReconcileError> {
    if old.is_empty() && sentences.is_empty() {
        return Ok(());
    }
    let write =
        Write { actor: Actor::Capture, reason: "superseded", request_id: turn.request_id.clone() };
    let mut own = writer.store.get(&own.owner, &own.id, now).await?;
    let targets = old.iter().chain(sentences.iter().map(|(turn, _)| turn)).map(|m| m.id.clone());
    let known = own.relations.len();
    for target in targets {
        let link = Relation::new(Relation::SUPERSEDES, target);
        if !own.relations.contains(&link) {
            own.relations.push(link);
        }
    }
    own.valid_from = own.valid_from.or(Some(turn.began));
    if own.relations.len() != known {
        own = writer.store.update(Memory { updated_at: now, ..own }, None, &write).await?;
    }
    for old in old {
        supersede(writer, old, &own, &write).await?;
    }
    for (turn, words) in sentences {
        leave_out(writer, &turn, &words, &own, &write).await?;
    }
    Ok(())
}

/// Marks memories that a turn may have outdated. They stay.
pub(in crate::reconcile) async fn doubt(
    writer: &MemoryWriter,
    turn: &StoredTurn,
    memories: Vec<Memory>,
) -> Result<(), StoreError> {
    for mut memory in memories {
        if memory.may_have_changed().is_none_or(|since| since < turn.began) {
            memory.set_may_have_changed(Some(turn.began));
            match writer.store.amend(memory).await {
                Ok(()) => writer.metrics.reconciled(Outcome::Doubted),
                // Somebody has changed or deleted it meanwhile, and knows better.
                Err(StoreError::Conflict { .. } | StoreError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

/// Puts a memory away because of another, and its words in the turn that it was taken from. Its clauses that still hold stay.
pub(in crate::reconcile) async fn supersede(
    writer: &MemoryWriter,
    old: Memory,
    winner: &Memory,
    write: &Write,
) -> Result<(), StoreError> {
    say_no_longer(writer, &old, winner, write).await?;
    if let Some(content) = still_holds(writer, &old, winner).await {
        let mut left = Memory { content, raw: None, updated_at: winner.updated_at, ..old };
        left.set_may_have_changed(None);
        let passages = left.passages();
        // Vectors that could not be made are made later.
        let _ = writer.replace(left, passages, write).await?;
        writer.metrics.reconciled(Outcome::Outdated);
        return Ok(());
    }
    let mut old = Memory {
        valid_until: Some(winner.valid_from.unwrap_or_else(|| said_at(winner))),
        updated_at: winner.updated_at,
        ..old
    };
    old.supersede(&winner.id);
    writer.store.update(old, None, write).await?;
    writer.metrics.reconciled(Outcome::Superseded);
    Ok(())
}

/// Takes the words of a memory out of the turns that said them.
pub(crate) async fn say_no_longer(
    writer: &MemoryWriter,
    memory: &Memory,
    winner: &Memory,
    write: &Write,
) -> Result<(), StoreError> {
    let words = memory.raw.as_ref().unwrap_or(&memory.content);
    for said in memory.occurrences() {
        let id = MemoryId::of_turn(&memory.owner, &said.turn);
        leave_out_of(writer, &id, words, winner, write).await?;
        let session = said.session.as_deref();
        leave_out_of_summary(writer, memory, session, words, winner, write).await?;
    }
    Ok(())
}

/// Takes words out of the summary of a session, in the scope of a memory.
async fn leave_out_of_summary(
    writer: &MemoryWriter,
    memory: &Memory,
    session: Option<&str>,
    words: &str,
    winner: &Memory,
    write: &Write,
) -> Result<(), StoreError> {
    let Some(session) = session else { return Ok(()) };
    let (project, agent) = (memory.project_id.as_deref(), memory.agent_id.as_deref());
    let id = MemoryId::of_summary(&memory.owner, session, project, agent);
    leave_out_of(writer, &id, words, winner, write).await
}

/// Lets a turn's memory, and the summary of its session, say these words no longer.
pub(in crate::reconcile) async fn leave_out(
    writer: &MemoryWriter,
    turn: &Memory,
    words: &str,
    winner: &Memory,
    write: &Write,
) -> Result<(), StoreError> {
    leave_out_of(writer, &turn.id, words, winner, write).await?;
    leave_out_of_summary(writer, turn, turn.session_id.as_deref(), words, winner, write).await
}

/// The new version of a memory of turns that does not say these words.
async fn leave_out_of(
    writer: &MemoryWriter,
    id: &MemoryId,
    words: &str,
    winner: &Memory,
    write: &Write,
) -> Result<(), StoreError> {
    let turn = match writer.store.get(&winner.owner, id, winner.updated_at).await {
        Err(StoreError::NotFound) => return Ok(()),
        found => found?,
    };
    let Some(mut left) = without(&turn, words).filter(|_| turn.status.is_in_use()) else {
        return Ok(());
    };
    left.updated_at = winner.updated_at.max(turn.updated_at);
    if left.status == Status::Superseded {
        left.supersede(&winner.id);
        left.valid_until = winner.valid_from;
        writer.store.update(left, None, write).await?;
    } else {
        let passages = left.passages();
        // Vectors that could not be made are made later.
        let _ = writer.replace(left, passages, write).await?;
    }
    writer.metrics.reconciled(Outcome::Outdated);
    Ok(())
}
