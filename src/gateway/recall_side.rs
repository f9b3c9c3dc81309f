//! The request's way through memory: from its body to the body that goes on.
//!
//! Whatever happens here, the request is answered: a failed step leaves the
//! context out, and our own fields are removed all the same.

use std::{borrow::Cow, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures_util::FutureExt;
use jiff::Timestamp;
use tokio::time::{Instant, timeout_at};

use super::{
    admission::{Admission, Admitted, admit},
    head::RequestHead,
    outcome::{FailedBecause, Outcome},
    patience::Patience,
    service::Parts,
};
use crate::{
    capture::{SessionKey, may_become_memory},
    config::Config,
    dialect::{self, Ask, Dialect, InvalidField, Placed, ReadError, Role, fence},
    memory::StoreError,
    recall::{Context, Decision, Failure, Inquiry, LoopKey, Message, Scored, decide},
    signals::{Command, Commands},
    telemetry::Phase,
};

/// Larger bodies are parsed off the async runtime, and so are compressed ones,
/// whatever they hold; others take less time to parse than to hand over.
const PARSED_INLINE: usize = 256 * 1024;
/// Turns of a conversation that the model server keeps, which the journal lends as history.
const LENT_TURNS: usize = 3;
/// The part of the time left in which a chain's last turn may still reach the journal.
const LENDING_SHARE: u32 = 4;

/// A search that a model helps ends by itself so much earlier than it is given up.
const GRACE: Duration = Duration::from_millis(20);

/// What is to be done with the body.
#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    /// It goes on as it is.
    Unchanged(Outcome),
    /// This one goes on instead.
    Replaced {
        body: Vec<u8>,
        /// It came compressed and goes on plain.
        decoded: bool,
        outcome: Outcome,
        hits: usize,
        /// Which hits these are, where the configuration asks for it.
        scores: Vec<Scored>,
    },
    /// The client is told what is wrong.
    Rejected(InvalidField),
}

/// Answers a request's body, and tells what it asks of memory itself.
pub(super) async fn answer(
    parts: &Parts,
    config: &Arc<Config>,
    dialect: Dialect,
    head: &RequestHead,
    body: Vec<u8>,
    patience: Patience<'_>,
) -> (Answer, Option<Command>) {
    let arrived = Instant::now();
    let read = if body.len() > PARSED_INLINE || head.headers().content_encoding().is_some() {
        let (config, head) = (Arc::clone(config), head.clone());
        match tokio::task::spawn_blocking(move || read(&config, dialect, &head, body)).await {
            Ok(read) => read,
            Err(_) => {
                let outcome = Outcome::Failed(FailedBecause::Internal);
                return (Answer::Unchanged(outcome), None);
            }
        }
    } else {
        read(config, dialect, head, body)
    };
    parts.metrics.phase(Phase::Read, arrived.elapsed());
    let Read { plain, decoded, request, admission } = match read {
        Ok(read) => read,
        Err(Unread::Invalid(field)) => return (Answer::Rejected(field), None),
        Err(Unread::TooLarge) => return (Answer::Unchanged(Outcome::SkippedTooLarge), None),
        Err(Unread::Unreadable(reason)) => {
            tracing::debug!(reason, "the body cannot be read and passes as it is");
            return (Answer::Unchanged(Outcome::SkippedUnreadable), None);
        }
    };
    let mut commands = Commands::default();
    let (outcome, context, placement) = match admission {
        Admission::Invalid(field) => return (Answer::Rejected(field), None),
        Admission::Off => (Outcome::Off, Context::default(), dialect::Placement::System),
        Admission::BadHeader => {
            let outcome = Outcome::Failed(FailedBecause::Header);
            (outcome, Context::default(), dialect::Placement::System)
        }
        Admission::NoIdentity => {
            (Outcome::SkippedNoIdentity, Context::default(), dialect::Placement::System)
        }
        Admission::Refused => {
            let outcome = Outcome::Failed(FailedBecause::Identity);
            (outcome, Context::default(), dialect::Placement::System)
        }
        Admission::Admitted(admitted) => {
            let ask = request.ask();
            commands = asked_of_memory(parts, ask, &admitted);
            let (outcome, context) =
                remember(parts, config, head, (ask, &commands), &admitted, (arrived, patience))
                    .await;
            (outcome, context, admitted.placement)
        }
    };
    let edits = request.plan(Some((&context.text, placement)));
    let hits = match edits.placed() {
        Placed::At(_) => context.shown.len(),
        Placed::NotAsked | Placed::Nowhere => 0,
    };
    if edits.is_empty() {
        return (Answer::Unchanged(outcome), commands.kind());
    }
    let body = edits.apply(&plain);
    let told = hits > 0 && config.memory.debug_metadata;
    let scores = if told { context.scores } else { Vec::new() };
    (Answer::Replaced { body, decoded, outcome, hits, scores }, commands.kind())
}

/// What the ask wants of memory itself, as far as it will be done after a good end: capture, on
/// another stream, comes to the same by itself.
fn asked_of_memory(parts: &Parts, ask: &Ask, admitted: &Admitted) -> Commands {
    let (Some(text), Some(memory), false) = (&ask.user_text, parts.memory.get(), ask.in_tool_loop)
    else {
        return Commands::default();
    };
    let mut commands = Commands::of(&fence::strip(text));
    commands.remember.retain(|words| admitted.learn && may_become_memory(words));
    if !commands.forget.is_empty() {
        // A tool loop that is open may hold a context with what is to be forgotten.
        memory.recall.held().forget(admitted.identity.owner());
    }
    commands
}

enum Unread {
    Invalid(InvalidField),
    TooLarge,
    Unreadable(&'static str),
}

/// A request that was read and judged.
struct Read {
    plain: Vec<u8>,
    decoded: bool,
    request: dialect::Request,
    admission: Admission,
}

fn read(
    config: &Config,
    dialect: Dialect,
    head: &RequestHead,
    body: Vec<u8>,
) -> Result<Read, Unread> {
    let (plain, decoded) = match head.headers().content_encoding() {
        None => (body, false),
        Some(encoding) => match dialect::decode_body(encoding, &body, config.memory.max_body_bytes)
        {
            Ok(plain) => (plain, true),
            Err(dialect::DecodeError::TooLarge { .. }) => return Err(Unread::TooLarge),
            Err(_) => return Err(Unread::Unreadable("the body's encoding cannot be read")),
        },
    };
    match dialect::read(dialect, &plain) {
        Ok(request) => {
            let admission = admit(config, head, request.ask());
            Ok(Read { plain, decoded, request, admission })
        }
        Err(ReadError::Invalid(field)) => Err(Unread::Invalid(field)),
        Err(ReadError::Unreadable(reason)) => Err(Unread::Unreadable(reason)),
    }
}

/// The context for an admitted ask, within the deadline. A panic in here is
/// this request's alone, and costs it the context and nothing else.
async fn remember(
    parts: &Parts,
    config: &Config,
    head: &RequestHead,
    (ask, commands): (&Ask, &Commands),
    admitted: &Admitted,
    (arrived, patience): (Instant, Patience<'_>),
) -> (Outcome, Context) {
    let deadline = arrived + config.memory.deadline();
    let work = recalled(parts, config, head, (ask, commands), admitted, (deadline, patience));
    // Each step keeps the deadline itself; with a model's help, and only then, the search may end later.
    let helped = parts.memory.get().is_some_and(|memory| memory.recall.has_rewriter());
    let longer =
        if helped { config.memory.query.rewrite_deadline() + GRACE } else { Duration::ZERO };
    let last = deadline + longer;
    let outcome = match timeout_at(last, AssertUnwindSafe(work).catch_unwind()).await {
        Ok(Ok(Ok(found))) => return found,
        Ok(Ok(Err(failure))) => failed(&failure),
        Err(_) => failed(&Failure::Deadline),
        Ok(Err(_)) => {
            tracing::error!("recall panicked; the request goes on without a context");
            FailedBecause::Internal
        }
    };
    parts.metrics.failed(outcome.as_str());
    (Outcome::Failed(outcome), Context::default())
}

fn failed(failure: &Failure) -> FailedBecause {
    match failure {
        Failure::Deadline => {
            tracing::warn!("Memory search timeout, skipping");
            FailedBecause::Deadline
        }
        Failure::Embedding(cause) => {
            tracing::warn!(%cause, "Embedding failed, skipping memory");
            FailedBecause::Embedding
        }
        Failure::Store(cause @ StoreError::Busy(_)) => {
            tracing::warn!(%cause, "Memory search failed, skipping");
            FailedBecause::Store
        }
        // It is there, and something in it does not work.
        Failure::Store(cause) => {
            tracing::error!(%cause, "Store unavailable, memory disabled");
            FailedBecause::Store
        }
        // Said once, when it went.
        Failure::Away => {
            tracing::debug!("the store is away, the request goes on without memory");
            FailedBecause::Store
        }
    }
}

async fn recalled(
    parts: &Parts,
    config: &Config,
    head: &RequestHead,
    (ask, commands): (&Ask, &Commands),
    admitted: &Admitted,
    (deadline, patience): (Instant, Patience<'_>),
) -> Result<(Outcome, Context), Failure> {
    let owner = admitted.identity.owner();
    let memory = parts.memory.get();
    let patience_of_journal = deadline.saturating_duration_since(Instant::now()) / LENDING_SHARE;
    let lent = match (&ask.previous_response_id, memory) {
        (Some(id), Some(memory)) => {
            let (count, request) = (LENT_TURNS, head.request_id());
            memory.capture.chain_turns(owner, id, count, request, patience_of_journal).await
        }
        // A tool's result goes on with a turn, and which one that is the conversation does not tell.
        (None, Some(memory)) if ask.conversation.is_some() && ask.user_text.is_some() => {
            let session = SessionKey::of(head.headers().text("x-session-id"), ask, owner);
            memory.capture.session_turns(owner, &session, LENT_TURNS, patience_of_journal).await
        }
        _ => Vec::new(),
    };
    // A call that only brings tool results asks what its turn asked.
    let text = match (&ask.user_text, lent.last()) {
        (Some(text), _) => Cow::Borrowed(text.as_str()),
        (None, Some(turn)) if ask.in_tool_loop => Cow::Owned(turn.user_text.clone()),
        _ => Cow::Borrowed(""),
    };
    if text.trim().is_empty() {
        return Ok((Outcome::SkippedNoUserMessage, Context::default()));
    }
    let keys = loop_keys(head, ask, admitted, &text);
    if ask.in_tool_loop
        && let Some(memory) = memory
        && let Some(context) = keys.iter().find_map(|key| memory.recall.held().get(key))
    {
        return Ok((outcome(&context), context));
    }
    let tools_offered = !ask.tools_offered.is_empty();
    let message = Message { text: &text, earlier: &head.earlier, tools_offered };
    let Some(memory) = memory else {
        return match decide(&message, &parts.models.need).decision {
            Decision::Skip(why) => Ok((why.into(), Context::default())),
            Decision::Search => Err(Failure::Away),
        };
    };
    let earlier: Vec<&str> = lent
        .iter()
        .map(|turn| turn.user_text.as_str())
        .chain(ask.history.iter().filter(|u| u.role == Role::User).map(|u| u.text.as_str()))
        .collect();
    let inquiry = Inquiry {
        owner,
        project_id: admitted.project_id.as_deref(),
        message,
        earlier: &earlier,
        terms: &admitted.terms,
        config: &config.memory,
        forgotten: &commands.forget,
        now: Timestamp::now(),
        deadline,
    };
    let considered = memory.recall.consider(&inquiry).await?;
    if let Some(why) = considered.silent() {
        return Ok((why.into(), Context::default()));
    }
    // Held before it is known: a loop whose first call failed or came too late
    // gets nothing in its other calls either.
    let held = memory.recall.held();
    keys.iter().for_each(|key| held.begin(*key, owner));
    let may_last = |extra| patience.ask(config.memory.deadline() + extra);
    let context = considered.context(may_last).await?;
    keys.iter().for_each(|key| held.hold(key, &context));
    Ok((outcome(&context), context))
}

fn outcome(context: &Context) -> Outcome {
    context.skipped.map_or(Outcome::Searched, Outcome::from)
}

/// Under which names the context of this turn is held for the calls of its tool
/// loop. In a chain the later calls bring neither the conversation's beginning
/// nor the message, so there the message alone must do.
fn loop_keys(head: &RequestHead, ask: &Ask, admitted: &Admitted, text: &str) -> Vec<LoopKey> {
    if ask.tools_offered.is_empty() && !ask.in_tool_loop {
        return Vec::new();
    }
    let owner = admitted.identity.owner();
    let project = admitted.project_id.as_deref().unwrap_or_default();
    let session = head
        .headers()
        .text("x-session-id")
        .or(ask.conversation.as_deref())
        .or(ask.metadata_session_id.as_deref())
        .unwrap_or_default();
    let whole = ask.first_user_text.as_deref();
    let of = |place: &[&str]| LoopKey::of(owner, place, text);
    whole
        .map(|first| of(&[project, session, first]))
        .into_iter()
        .chain([of(&[project, session])])
        .collect()
}
