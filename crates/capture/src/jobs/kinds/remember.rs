//! The job that stores what a user asked to be remembered.

use std::time::Duration;

use crate::{
    backfill::{EMBED_REST, owe_vectors},
    error::JobError,
    extract::{explicit, local, turns},
    extractor::EXPLICIT,
    jobs::{
        candidates::{admitted, origin, store_candidates},
        payload::payload,
        prompts::is_clients_prompt,
    },
    journal::{self, ClaimedJob, RememberOrder},
    parts::Parts,
    reconcile::Origin,
    trail::{Became, TurnEvent},
    turn::StoredTurn,
    writer::Written,
};
use memgate_core::memory::{Actor, Write};
use memgate_text::command::Typed;

/// The pause while what the same message asks to be forgotten is still there.
const ORDER_PAUSE: Duration = Duration::from_secs(5);

/// Brings what a user asked to be remembered into the store.
pub(crate) async fn run(parts: &Parts, job: &ClaimedJob) -> Result<(), JobError> {
    let RememberOrder { mut statements, answer } = payload(job)?;
    let turn = job.subject;
    if parts.journal.read(move |c| journal::has_to_forget(c, turn)).await? {
        return Err(JobError::NotNow(ORDER_PAUSE));
    }
    let Some(said) = parts.journal.read(move |c| journal::turn(c, turn)).await? else {
        return Ok(());
    };
    if is_clients_prompt(parts, &said).await? {
        return Ok(());
    }
    if answer
        && let Some(before) =
            parts.journal.read(move |c| journal::turn_right_before(c, turn)).await?
    {
        keep_answer(parts, &before).await?;
    }
    let (embedder, models) = (parts.writer.embedder.as_ref(), parts.writer.models.as_ref());
    if local::may_hold_pasted(&said.user_text) {
        // A text that is pasted without marks asks for nothing.
        let own = local::look(embedder, models, &said, None).await?.own;
        let [whole, own] = [&said.user_text, &own].map(|text| Typed::whole(&[text]));
        statements.retain(|words| own.says(words) || !whole.says(words));
    }
    // Commands are read from typed text alone.
    let typed = Typed::whole(&statements);
    let found = explicit::extract(embedder, models, statements, said.day()).await?;
    let origin = Origin { typed, ..origin(&said, EXPLICIT) };
    let stored = store_candidates(parts, &origin, found).await?;
    parts.writer.metrics.command_done("remember", stored);
    parts.writer.trail.log(&said);
    Ok(())
}

/// Stores the answer of a turn.
async fn keep_answer(parts: &Parts, turn: &StoredTurn) -> Result<(), JobError> {
    let found = turns::answer(turn).into_iter().collect();
    let Some(answer) = admitted(parts, || turn.into(), found).pop() else { return Ok(()) };
    let memory = turns::answer_memory(turn, answer, parts.journal.now());
    let passages = memory.passages();
    let kept = TurnEvent::of(Became::Kept, "command", &memory.id);
    parts.writer.trail.note(turn.into(), [kept]);
    let write =
        Write { actor: Actor::Capture, reason: "remember", request_id: turn.request_id.clone() };
    match parts.writer.put(memory, passages, &write).await? {
        Written::Whole => Ok(()),
        Written::WithoutVectors => Ok(owe_vectors(&parts.journal, EMBED_REST).await?),
    }
}
