//! Clients' own prompts: nothing is learned from them.

use crate::{error::JobError, journal, parts::Parts, trail::TurnEvent, turn::StoredTurn};
use memgate_embed::model_of;
use memgate_models::Features;
use memgate_text::question::asking::asking;

/// Whether a client wrote the message of a turn, and not its user: then no job makes anything of it. The first job of the
/// turn asks the model; the others read the answer in the journal.
pub(crate) async fn is_clients_prompt(parts: &Parts, turn: &StoredTurn) -> Result<bool, JobError> {
    if let Some(known) = turn.is_prompt {
        return Ok(known);
    }
    let is_prompt = is_prompt(parts, &turn.user_text).await;
    let (owner, key) = (turn.owner.clone(), turn.key.clone());
    parts.journal.write(move |c| journal::note_prompt(c, &owner, &key, is_prompt)).await?;
    if is_prompt {
        parts.writer.trail.note(turn.into(), [TurnEvent::clients_prompt()]);
    }
    Ok(is_prompt)
}

/// The turns whose messages their users wrote.
pub(crate) async fn without_prompts(
    parts: &Parts,
    turns: Vec<StoredTurn>,
) -> Result<Vec<StoredTurn>, JobError> {
    let mut own = Vec::with_capacity(turns.len());
    for turn in turns {
        if !is_clients_prompt(parts, &turn).await? {
            own.push(turn);
        }
    }
    Ok(own)
}

/// The model's answer. An embedder that fails leaves it to the words.
async fn is_prompt(parts: &Parts, message: &str) -> bool {
    let models = &parts.writer.models;
    let features = Features::of_message(message);
    let known = model_of(parts.writer.embedder.as_ref(), |space| models.are_trained_with(space));
    let reading = match known {
        // The request embedded the same text a moment ago, so the cache has it.
        Some(embedder) => embedder.read_query(&asking(message)).await.ok(),
        None => None,
    };
    let layers = reading.as_ref().and_then(|it| Some((it.layers.as_deref()?, &*it.vector)));
    match layers {
        Some((inner, vector)) => models.housekeeping.by_layers(&features, inner, vector),
        None => models.housekeeping.by_words(&features),
    }
}
