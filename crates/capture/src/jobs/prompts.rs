//! Clients' own prompts: nothing is learned from them.

use crate::{error::JobError, journal, parts::Parts, trail::TurnEvent, turn::StoredTurn};
use memgate_embed::model_of;
use memgate_models::Features;
use memgate_text::question::asking::asking;

/// Whether a client wrote the message of a turn, and not its user. Then the turn gives nothing to what reads it later, either.
/// An embedder that fails leaves it to the words.
pub(crate) async fn is_clients_prompt(
    parts: &Parts,
    number: i64,
    turn: &StoredTurn,
) -> Result<bool, JobError> {
    let models = &parts.writer.models;
    let features = Features::of_message(&turn.user_text);
    let known = model_of(parts.writer.embedder.as_ref(), |space| models.are_trained_with(space));
    let reading = match known {
        // The request embedded the same text a moment ago, so the cache has it.
        Some(embedder) => embedder.read_query(&asking(&turn.user_text)).await.ok(),
        None => None,
    };
    let layers = reading.as_ref().and_then(|it| Some((it.layers.as_deref()?, &*it.vector)));
    let is_prompt = match layers {
        Some((inner, vector)) => models.housekeeping.by_layers(&features, inner, vector),
        None => models.housekeeping.by_words(&features),
    };
    if is_prompt {
        parts.journal.write(move |c| journal::withhold(c, number)).await?;
        parts.writer.trail.note(turn.into(), [TurnEvent::clients_prompt()]);
    }
    Ok(is_prompt)
}
