//! The job that picks the statements in a turn, without a model server.

use crate::{
    candidate::Candidate,
    error::JobError,
    extract::local,
    extractor::LOCAL,
    jobs::{
        candidates::{origin, store_candidates, without_commands},
        prompts::is_clients_prompt,
    },
    journal,
    parts::Parts,
    reconcile::{Origin, remark},
    trail::TurnEvent,
};
use memgate_text::command::Typed;

/// Brings the statements in a turn into the store. Found again, they are known.
pub(crate) async fn run(parts: &Parts, turn: i64) -> Result<(), JobError> {
    let (Some(mut said), before) =
        parts.journal.read(move |c| journal::turn_and_before(c, turn)).await?
    else {
        return Ok(());
    };
    if is_clients_prompt(parts, &said).await? {
        return Ok(());
    }
    // Where a sentence stands in the message counts, so before anything is taken out of it.
    let typed = Typed::of(&said.user_text);
    without_commands(&mut said);
    let (embedder, models) = (parts.writer.embedder.as_ref(), parts.writer.models.as_ref());
    let found = local::extract(embedder, models, &said, before.as_ref()).await?;
    let words = |found: &Candidate| found.raw.as_ref().unwrap_or(&found.content).clone();
    let kept: Vec<String> = found.iter().map(words).collect();
    if found.is_empty() {
        let dropped = TurnEvent::dropped("statement", "nothing_worth_keeping");
        parts.writer.trail.note((&said).into(), [dropped]);
    }
    let origin = Origin { typed, ..origin(&said, LOCAL) };
    store_candidates(parts, &origin, found).await?;
    remark(&parts.writer, parts.live.get().policy, &said, &kept, parts.journal.now()).await?;
    parts.writer.trail.log(&said);
    Ok(())
}
