//! The use case of recall: the context for one request to a model. It decides, keeps the contexts of tool loops, and
//! works without a store.

use std::time::Duration;

use crate::{
    decide::decide,
    decision::{Decision, Message, RecallError},
    present::Context,
    request::RecallRequest,
    service::Recall,
    signals::Earlier,
    state::LoopKey,
};
use memgate_models::Models;

/// The conversation that a request to a model is part of, as far as recall needs it.
#[derive(Clone, Copy, Debug)]
pub struct Conversation<'a> {
    /// The user's last message; none where the request holds none, as in a chain's later calls.
    pub user_text: Option<&'a str>,
    /// The user's first message, where the request holds it.
    pub first_user_text: Option<&'a str>,
    /// The user's messages before those in the request, oldest first, where the model server keeps the conversation and
    /// the journal knows them.
    pub journaled: &'a [&'a str],
    /// The name of the session, where it has one.
    pub session: Option<&'a str>,
    /// Signals of earlier filters about the message.
    pub signals: &'a Earlier,
    /// The request goes on with a tool loop: it brings results of tools.
    pub in_tool_loop: bool,
    /// The model may call tools.
    pub tools_offered: bool,
}

/// The context for a request to a model; none where the request holds no message of the user. `request.earlier` are the
/// messages in the request. `recall` is none while the data folder cannot be opened; `models` then decide alone. `extend` is asked whether a search
/// may last so much longer than its deadline, because a model helps.
///
/// # Errors
/// [`RecallError`]; the request then goes on without a context.
pub async fn context_for_exchange(
    recall: Option<&Recall>,
    models: &Models,
    conversation: &Conversation<'_>,
    request: &RecallRequest<'_>,
    extend: impl FnOnce(Duration) -> bool,
) -> Result<Option<Context>, RecallError> {
    let Conversation { user_text, journaled, signals, in_tool_loop, tools_offered, .. } =
        *conversation;
    // A call that only brings tool results asks what its turn asked.
    let asked_before = || journaled.last().copied().filter(|_| in_tool_loop);
    let text = user_text.or_else(asked_before).unwrap_or_default();
    if text.trim().is_empty() {
        return Ok(None);
    }
    let message = Message { text, signals, tools_offered };
    let Some(recall) = recall else {
        return match decide(&message, models).decision {
            Decision::Skip(why) => Ok(Some(Context::skipped(why))),
            Decision::Search => Err(RecallError::Unavailable),
        };
    };
    let keys = loop_keys(conversation, request, text);
    let loops = recall.tool_loops();
    if in_tool_loop
        && let Some(context) = keys.iter().find_map(|key| loops.get(key))
        && recall.may_see_again(&context, request).await
    {
        if let Some(trace) = request.trace {
            trace.in_tool_loop();
        }
        // Noted with the loop's first call.
        return Ok(Some(Context { cross_project: 0, ..context }));
    }
    let earlier: Vec<&str> = journaled.iter().chain(request.earlier).copied().collect();
    let request = RecallRequest { earlier: &earlier, ..request.clone() };
    let plan = recall.plan(message, &request).await?;
    if let Some(why) = plan.silent() {
        return Ok(Some(Context::skipped(why)));
    }
    // Held before it is known: a loop whose first call failed or came too late
    // gets nothing in its other calls either.
    keys.iter().for_each(|key| loops.begin(*key, request.owner));
    let context = plan.context(extend).await?;
    keys.iter().for_each(|key| loops.hold(key, &context));
    Ok(Some(context))
}

/// The keys under which the context of this turn is held for the calls of its tool
/// loop. In a chain the later calls bring neither the conversation's beginning
/// nor the message, so there is a key of the message alone.
fn loop_keys(
    conversation: &Conversation<'_>,
    request: &RecallRequest<'_>,
    text: &str,
) -> Vec<LoopKey> {
    let Conversation { first_user_text, session, in_tool_loop, tools_offered, .. } = *conversation;
    if !tools_offered && !in_tool_loop {
        return Vec::new();
    }
    let [project, agent] =
        [request.projects, request.agents].map(|it| it.named().unwrap_or_default());
    let session = session.unwrap_or_default();
    // With other roles the user may read other memories.
    let roles = request.reader.map(|reader| reader.roles.join("\n")).unwrap_or_default();
    let of = |place: &[&str]| LoopKey::of(request.owner, place, text);
    first_user_text
        .map(|first| of(&[project, agent, session, &roles, first]))
        .into_iter()
        .chain([of(&[project, agent, session, &roles])])
        .collect()
}
