//! The job that stores a turn as one memory.

use jiff::Timestamp;

use crate::{
    error::JobError,
    extract::{
        local::{self, Look},
        turns,
    },
    jobs::{
        context::JobContext,
        drift::notice_drift,
        kinds::embed::{EMBED_REST, owe_vectors},
        prompts::is_clients_prompt,
    },
    journal,
    reconcile::still_true,
    trail::{Became, TurnEvent},
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
    let (Some(mut turn), before) =
        context.journal.read(move |c| journal::turn_and_before(c, number)).await?
    else {
        return Ok(());
    };
    if !turns::worth_it(&turn) {
        return not_worth_it(context, &turn);
    }
    if is_clients_prompt(context, number, &turn).await? {
        return Ok(());
    }
    let now = context.journal.now();
    let known = remembered(context, &turn, now).await?;
    let Look { own, tells } = look(context, &turn, before.as_ref()).await;
    turn.user_text = own;
    if !turns::worth_it(&turn) {
        return not_worth_it(context, &turn);
    }
    let mut episode = turns::episode(&turn, &known, tells, now);
    if let Ok(stored) = context.writer.store.get(&turn.owner, &turn.memory_id(), now).await {
        episode = still_true(episode, &[stored]);
    }
    let write =
        Write { actor: Actor::Capture, reason: "turn", request_id: turn.request_id.clone() };
    let kept = TurnEvent::of(Became::Kept, "turn", &episode.id);
    let passages = episode.passages();
    let written = context.writer.put(episode, passages.clone(), &write).await?;
    context.writer.trail.note((&turn).into(), [kept]);
    log_alone(context, &turn);
    match written {
        Written::Whole => notice_drift(context, number, &turn, passages).await,
        Written::WithoutVectors => Ok(owe_vectors(&context.journal, EMBED_REST).await?),
    }
}

fn not_worth_it(context: &JobContext, turn: &StoredTurn) -> Result<(), JobError> {
    let dropped = TurnEvent::dropped("turn", "not_worth_keeping");
    context.writer.trail.note(turn.into(), [dropped]);
    log_alone(context, turn);
    Ok(())
}

/// Logs what became of the turn, unless the job that picks its statements will.
fn log_alone(context: &JobContext, turn: &StoredTurn) {
    if !context.live.get().extract_locally {
        context.writer.trail.log(turn);
    }
}

/// What the user says in a turn, and whether it tells something worth keeping, or asks to keep something; so it does where
/// nobody can say: in a message too long to be looked at, and while the embedder is busy, which must not keep a turn from
/// being stored.
async fn look(context: &JobContext, turn: &StoredTurn, before: Option<&StoredTurn>) -> Look {
    let (embedder, models) = (context.writer.embedder.as_ref(), context.writer.models.as_ref());
    let unread = || Look { own: turn.user_text.clone(), tells: true };
    let mut look = local::look(embedder, models, turn, before).await.unwrap_or_else(|_| unread());
    let asks = Commands::of(&turn.user_text).kind().is_some();
    look.tells |= local::is_too_long(&turn.user_text) || asks;
    look
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
    let others = found.iter().map(|found| &found.memory).filter(|memory| memory.id != own);
    Ok(others.map(|memory| memory.text().into_owned()).collect())
}
