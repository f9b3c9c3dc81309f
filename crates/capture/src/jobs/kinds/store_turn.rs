//! The job that stores a turn as one memory.

use jiff::Timestamp;

use crate::{
    error::JobError,
    extract::{local, turns},
    jobs::{
        context::JobContext,
        drift::notice_drift,
        kinds::embed::{EMBED_REST, owe_vectors},
    },
    journal,
    reconcile::still_true,
    turn::StoredTurn,
    writer::Written,
};
use memgate_core::memory::{Actor, ScopeQuery, Search, Write};
use memgate_text::command::Commands;

/// Memories that a reply is compared with, for sentences that repeat them.
const REPEATABLE: usize = 10;

/// The memory of a turn. Nothing to do when the turn was forgotten, or is
/// not worth one.
pub(crate) async fn run(context: &JobContext, number: i64) -> Result<(), JobError> {
    let (Some(turn), before) =
        context.journal.read(move |c| journal::turn_and_before(c, number)).await?
    else {
        return Ok(());
    };
    if !turns::worth_it(&turn) {
        return Ok(());
    }
    let now = context.journal.now();
    let known = remembered(context, &turn, now).await?;
    let tells = tells(context, &turn, before.as_ref()).await;
    let mut episode = turns::episode(&turn, &known, tells, now);
    if let Ok(stored) = context.writer.store.get(&turn.owner, &turn.memory_id(), now).await {
        episode.memory = still_true(episode.memory, &[stored]);
        episode.passages = episode.memory.passages();
    }
    let write =
        Write { actor: Actor::Capture, reason: "turn", request_id: turn.request_id.clone() };
    match context.writer.put(episode.memory, episode.passages.clone(), &write).await? {
        Written::Whole => notice_drift(context, number, &turn, episode.passages).await,
        Written::WithoutVectors => Ok(owe_vectors(&context.journal, EMBED_REST).await?),
    }
}

/// Whether the user's words tell something worth keeping, or ask to keep something; also where nobody can say: in a message
/// too long to be looked at, and while the embedder is busy, which must not keep a turn from being stored.
async fn tells(context: &JobContext, turn: &StoredTurn, before: Option<&StoredTurn>) -> bool {
    if local::is_too_long(&turn.user_text) || Commands::of(&turn.user_text).kind().is_some() {
        return true;
    }
    let (embedder, models) = (context.writer.embedder.as_ref(), context.writer.models.as_ref());
    local::tells(embedder, models, turn, before).await.unwrap_or(true)
}

/// What is remembered already that the turn's reply may repeat.
async fn remembered(
    context: &JobContext,
    turn: &StoredTurn,
    now: Timestamp,
) -> Result<Vec<String>, JobError> {
    if turn.reply_text.is_empty() {
        return Ok(Vec::new());
    }
    let search = Search {
        scopes: vec![ScopeQuery::of(turn.owner.clone())],
        filter: None,
        vector: None,
        text: Some(turn.reply_text.clone()),
        limit: REPEATABLE,
        now,
    };
    let own = turn.memory_id();
    let found = context.writer.store.retrieve(&search).await?;
    Ok(found.into_iter().filter(|e| e.memory.id != own).map(|e| e.memory.content).collect())
}
