//! The job that stores a turn as one memory.

use jiff::Timestamp;

use crate::{
    admission::Refusal,
    backfill::{EMBED_REST, owe_vectors},
    error::JobError,
    extract::{
        local::{self, Look},
        turns,
    },
    jobs::{drift::notice_drift, prompts::is_clients_prompt, requests::owe_what_is_meant},
    journal,
    parts::Parts,
    reconcile::still_true,
    trail::{Became, TurnEvent},
    turn::StoredTurn,
    writer::Written,
};
use memgate_core::memory::{Actor, Memory, ScopeQuery, Search, Write};
use memgate_text::command::Commands;

/// Memories that a reply is compared with, for sentences that repeat them.
const REPEATABLE: usize = 10;

/// The memory of a turn. Nothing to do when the turn was forgotten, or is
/// not worth one.
pub(crate) async fn run(parts: &Parts, number: i64) -> Result<(), JobError> {
    let (Some(mut turn), before) =
        parts.journal.read(move |c| journal::turn_and_before(c, number)).await?
    else {
        return Ok(());
    };
    // The first job of a turn, so that the answer is known to the others: also where the turn is worth no memory.
    if is_clients_prompt(parts, &turn).await? {
        return Ok(());
    }
    let now = parts.journal.now();
    let answer = turns::long_answer(&turn, now);
    if !turns::worth_it(&turn) {
        keep_answer(parts, &turn, answer).await?;
        return not_worth_it(parts, &turn);
    }
    let known = remembered(parts, &turn, now).await?;
    let Look { own, rest, tells, private, requests } = look(parts, &turn, before.as_ref()).await;
    if private {
        return withhold(parts, &turn).await;
    }
    let forgets = owe_what_is_meant(parts, number, &turn, requests).await?;
    // What is to be forgotten may be in it.
    if !forgets {
        keep_answer(parts, &turn, answer).await?;
    }
    turn.user_text = if forgets { rest } else { own };
    if !turns::worth_it(&turn) {
        return not_worth_it(parts, &turn);
    }
    let mut episode = turns::episode(&turn, &known, tells, now);
    if let Ok(stored) = parts.writer.store.get(&turn.owner, &turn.memory_id(), now).await {
        episode = still_true(episode, &[stored]);
    }
    let write =
        Write { actor: Actor::Capture, reason: "turn", request_id: turn.request_id.clone() };
    let kept = TurnEvent::of(Became::Kept, "turn", &episode.id);
    let passages = episode.passages();
    let written = parts.writer.put(episode, passages.clone(), &write).await?;
    parts.writer.trail.note((&turn).into(), [kept]);
    log_alone(parts, &turn);
    match written {
        Written::Whole => notice_drift(parts, number, &turn, passages).await,
        Written::WithoutVectors => Ok(owe_vectors(&parts.journal, EMBED_REST).await?),
    }
}

/// Keeps the whole answer of a turn.
async fn keep_answer(
    parts: &Parts,
    turn: &StoredTurn,
    answer: Option<Memory>,
) -> Result<(), JobError> {
    let Some(answer) = answer else { return Ok(()) };
    let write =
        Write { actor: Actor::Capture, reason: "answer", request_id: turn.request_id.clone() };
    let kept = TurnEvent::of(Became::Kept, "answer", &answer.id);
    let passages = answer.passages();
    if parts.writer.put(answer, passages, &write).await? == Written::WithoutVectors {
        owe_vectors(&parts.journal, EMBED_REST).await?;
    }
    parts.writer.trail.note(turn.into(), [kept]);
    Ok(())
}

/// Takes the words out of the journal of a turn whose user asks that they not be remembered.
async fn withhold(parts: &Parts, turn: &StoredTurn) -> Result<(), JobError> {
    let (owner, key) = (turn.owner.clone(), turn.key.clone());
    parts.journal.write(move |c| journal::withhold_words(c, &owner, &key)).await?;
    parts.writer.metrics.refused(Refusal::NoStore.name());
    parts.writer.trail.note(turn.into(), [TurnEvent::refused("message", Refusal::NoStore)]);
    log_alone(parts, turn);
    Ok(())
}

fn not_worth_it(parts: &Parts, turn: &StoredTurn) -> Result<(), JobError> {
    let dropped = TurnEvent::dropped("turn", "not_worth_keeping");
    parts.writer.trail.note(turn.into(), [dropped]);
    log_alone(parts, turn);
    Ok(())
}

/// Logs what became of the turn, unless the job that picks its statements will.
fn log_alone(parts: &Parts, turn: &StoredTurn) {
    if !parts.live.get().extract_locally {
        parts.writer.trail.log(turn);
    }
}

/// The user's own words in a turn, and whether it tells something worth keeping, or asks to keep
/// something; so it does where nobody can say: in a message too long to be looked at, and while the
/// embedder is busy, which must not keep a turn from being stored.
async fn look(parts: &Parts, turn: &StoredTurn, before: Option<&StoredTurn>) -> Look {
    let (embedder, models) = (parts.writer.embedder.as_ref(), parts.writer.models.as_ref());
    let own = || turn.user_text.clone();
    let unread =
        || Look { own: own(), rest: own(), tells: true, private: false, requests: Vec::new() };
    let mut look = local::look(embedder, models, turn, before).await.unwrap_or_else(|_| unread());
    let asks = Commands::of(&turn.user_text).kind().is_some();
    look.tells |= local::is_too_long(&turn.user_text) || asks;
    look
}

/// The memories that the turn's reply may repeat.
async fn remembered(
    parts: &Parts,
    turn: &StoredTurn,
    now: Timestamp,
) -> Result<Vec<String>, JobError> {
    if turn.reply_text.is_empty() {
        return Ok(Vec::new());
    }
    let search = Search {
        scopes: vec![ScopeQuery::of(turn.owner.clone())],
        shared: None,
        filter: None,
        vector: None,
        text: Some(turn.reply_text.clone()),
        limit: REPEATABLE,
        now,
    };
    let own = turn.memory_id();
    let found = parts.writer.store.retrieve(&search).await?;
    let others = found.iter().map(|found| &found.memory).filter(|memory| memory.id != own);
    Ok(others.map(|memory| memory.text().into_owned()).collect())
}
