//! The recall filter's side of a request: from its body to the body that goes on.
//!
//! Whatever happens here, the request is answered: a failed step leaves the
//! context out, and our own fields are removed all the same.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, timeout_at};

use crate::gateway::{
    history,
    outcome::{FailedBecause, Outcome},
    parts::Parts,
    request::{Admission, Admitted, ReadRequest, RequestHead, Traced, Unread, read},
    timeout_extension::TimeoutExtension,
};
use memgate_access::{Action, Actor, Subject};
use memgate_capture::{SessionKey, may_become_memory};
use memgate_config::Config;
use memgate_core::{fence, memory::Owner};
use memgate_dialect::{Ask, Dialect, InvalidField, Placed, Placement, Role};
use memgate_recall::{
    Context, Conversation, PresentedMemory, RecallError, RecallRequest, Trace, context_for_exchange,
};
use memgate_screening::Screener;
use memgate_telemetry::{PanicIn, Phase};
use memgate_text::command::{Command, Commands};

/// A search that a model helps ends by itself this much earlier than it is cancelled.
const GRACE: Duration = Duration::from_millis(20);

/// The answer to the body.
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
        /// Whether a context was added.
        personalised: bool,
        hits: usize,
        /// Which hits these are, where the configuration asks for it.
        scores: Vec<PresentedMemory>,
    },
    /// The request is answered with an error.
    Rejected(InvalidField),
}

/// Answers a request's body, and says what the message asks of memory itself.
pub(super) async fn answer(
    parts: &Parts,
    config: &Arc<Config>,
    dialect: Dialect,
    head: &RequestHead,
    body: Vec<u8>,
    extension: TimeoutExtension<'_>,
) -> (Answer, Option<Command>) {
    let arrived = Instant::now();
    let read = read(parts, PanicIn::Recall, config, dialect, head, body, |read| read).await;
    parts.metrics.phase(Phase::Read, arrived.elapsed());
    let ReadRequest { plain, decoded, request, admission } = match read {
        Ok(read) => read,
        Err(unread) => return (without_memory(parts, unread), None),
    };
    let mut commands = Commands::default();
    let mut placement = Placement::System;
    let (mut traced, mut owner) = (None, None);
    let without_context = |outcome| (outcome, Context::default());
    let (mut outcome, mut context) = match admission {
        Admission::Invalid(field) => return (Answer::Rejected(field), None),
        Admission::Off => without_context(Outcome::Off),
        Admission::BadHeader(InvalidField { message, .. }) => {
            // Once: capture, which reads the headers too, says nothing of them.
            let request_id = head.request_id();
            tracing::debug!(request_id, cause = message, "a header is invalid, memory is off");
            without_context(Outcome::Failed(FailedBecause::Header))
        }
        Admission::NoIdentity => without_context(Outcome::SkippedNoIdentity),
        Admission::Refused => without_context(Outcome::Failed(FailedBecause::Identity)),
        Admission::Admitted(admitted) => {
            let ask = request.ask();
            placement = admitted.placement;
            traced = Traced::begin(parts, head, ask, &admitted, arrived);
            let (admitted, trace) = (&*admitted, traced.as_ref().map(Traced::trace));
            owner = Some(admitted.identity.owner().clone());
            // A panic in here is this request's alone, and costs it the context and nothing else.
            let work = async {
                commands = commands_to_memory(parts, config, ask, admitted);
                let commands = &commands;
                let recalling =
                    Recalling { parts, config, head, ask, commands, admitted, extension, trace };
                recalling.within_deadline(arrived).await
            };
            let found = parts.metrics.catch_async(PanicIn::Recall, work).await;
            found.unwrap_or_else(|| without_context(panicked(parts)))
        }
    };
    let edited = |context: &str| {
        let edit = || {
            let edits = request.plan(Some((context, placement)));
            let personalised = matches!(edits.placed(), Placed::At(_));
            ((!edits.is_empty()).then(|| edits.apply(&plain)), personalised)
        };
        parts.metrics.catch(PanicIn::Recall, edit)
    };
    let (body, personalised) = edited(&context.text).unwrap_or_else(|| {
        // Our own fields are still to be removed.
        (outcome, context) = without_context(panicked(parts));
        edited("").unwrap_or_default()
    });
    let hits = if personalised { context.hits() } else { 0 };
    if let Some(owner) = owner.filter(|_| personalised) {
        audit(parts, head, &owner, &context);
    }
    let wanted = body.is_some() && personalised && config.memory.debug_metadata;
    let scores = if wanted { context.scores.clone() } else { Vec::new() };
    if let Some(traced) = traced {
        traced.end(outcome, personalised.then_some(context));
    }
    let answer = match body {
        None => Answer::Unchanged(outcome),
        Some(body) => Answer::Replaced { body, decoded, outcome, personalised, hits, scores },
    };
    (answer, commands.kind())
}

/// The outcome of a request whose recall panicked.
fn panicked(parts: &Parts) -> Outcome {
    parts.metrics.failed(FailedBecause::Internal.as_str());
    Outcome::Failed(FailedBecause::Internal)
}

/// Logs that memories of other projects are presented.
fn audit(parts: &Parts, head: &RequestHead, owner: &Owner, context: &Context) {
    let Some(memory) = parts.memory.get().filter(|_| context.cross_project > 0) else { return };
    let subject = Subject::of(owner).count(context.cross_project as u64);
    let request_id = head.request_id().map(str::to_owned);
    memory.audit.note(Actor::Message, Action::CrossProject, subject, request_id);
}

/// The answer to a request that cannot be read.
fn without_memory(parts: &Parts, unread: Unread) -> Answer {
    Answer::Unchanged(match unread {
        Unread::Invalid(field) => return Answer::Rejected(field),
        Unread::TooLarge => Outcome::SkippedTooLarge,
        Unread::Unreadable(reason) => {
            tracing::debug!(reason, "the body cannot be read and passes as it is");
            Outcome::SkippedUnreadable
        }
        Unread::Panicked => panicked(parts),
    })
}

/// The message's commands to memory itself, as far as they will be done after a good end: capture,
/// on another stream, comes to the same by itself.
fn commands_to_memory(parts: &Parts, config: &Config, ask: &Ask, admitted: &Admitted) -> Commands {
    let (Some(text), Some(memory), false) = (&ask.user_text, parts.memory.get(), ask.in_tool_loop)
    else {
        return Commands::default();
    };
    #[cfg(test)]
    crate::injected::panic_at(text);
    let mut commands = Commands::of(&fence::strip(text));
    let screener = Screener::new(config.memory.screening);
    let admits = |words: &String| admitted.learn && may_become_memory(screener, words);
    commands.remember.retain(admits);
    if !commands.forget.is_empty() {
        // A tool loop that is open may hold a context with what is to be forgotten.
        memory.recall.forget(admitted.identity.owner());
    }
    commands
}

/// The recall of an admitted request.
struct Recalling<'a> {
    parts: &'a Parts,
    config: &'a Config,
    head: &'a RequestHead,
    ask: &'a Ask,
    commands: &'a Commands,
    admitted: &'a Admitted,
    extension: TimeoutExtension<'a>,
    trace: Option<&'a Trace>,
}

impl Recalling<'_> {
    /// The context, within the deadline.
    async fn within_deadline(&self, arrived: Instant) -> (Outcome, Context) {
        let Self { parts, config, .. } = self;
        let deadline = arrived + config.memory.deadline();
        // Each step keeps the deadline itself; with a model's help, and only then, the search may end later.
        let helped = parts.memory.get().is_some_and(|memory| memory.recall.has_rewriter());
        let longer =
            if helped { config.memory.query.rewrite_deadline() + GRACE } else { Duration::ZERO };
        let error = match timeout_at(deadline + longer, self.context(deadline)).await {
            Ok(Ok(Some(context))) => {
                return (context.skipped.map_or(Outcome::Searched, Outcome::from), context);
            }
            Ok(Ok(None)) => return (Outcome::SkippedNoUserMessage, Context::default()),
            Ok(Err(error)) => error,
            Err(_) => RecallError::Deadline,
        };
        error.log(self.head.request_id(), config.memory.deadline(), arrived.elapsed());
        let because = FailedBecause::from(&error);
        parts.metrics.failed(because.as_str());
        (Outcome::Failed(because), Context::default())
    }

    async fn context(&self, deadline: Instant) -> Result<Option<Context>, RecallError> {
        let Self { parts, config, head, ask, commands, admitted, extension, trace } = *self;
        let owner = admitted.identity.owner();
        let memory = parts.memory.get();
        let journaled = match memory {
            Some(memory) => history::lent(&memory.capture, head, ask, owner, deadline).await,
            None => Vec::new(),
        };
        let journaled: Vec<&str> = journaled.iter().map(String::as_str).collect();
        let users = ask.history.iter().filter(|said| said.role == Role::User);
        let earlier: Vec<&str> = users.map(|said| said.text.as_str()).collect();
        let session = head.headers().text("x-session-id");
        let conversation = Conversation {
            user_text: ask.user_text.as_deref(),
            first_user_text: ask.first_user_text.as_deref(),
            journaled: &journaled,
            session: session.or(ask.conversation.as_deref()).or(ask.metadata_session_id.as_deref()),
            signals: &head.earlier,
            in_tool_loop: ask.in_tool_loop,
            tools_offered: !ask.tools_offered.is_empty(),
        };
        let reader = admitted.reader();
        let key = SessionKey::of(session, ask, owner);
        let mut settings = config.memory.recall_settings();
        if !admitted.standing {
            settings.budget.standing = 0;
        }
        let request = RecallRequest {
            owner,
            projects: &admitted.projects,
            agents: &admitted.agents,
            session: Some(key.name()),
            reader: reader.as_ref(),
            earlier: &earlier,
            selection: &admitted.selection,
            settings,
            filter: None,
            forgotten: &commands.forget,
            now: parts.clock.now(),
            zone: admitted.zone.clone(),
            deadline,
            trace,
        };
        let recall = memory.map(|memory| &memory.recall);
        let extend = |extra| extension.request(config.memory.deadline() + extra);
        context_for_exchange(recall, &parts.models, &conversation, &request, extend).await
    }
}
