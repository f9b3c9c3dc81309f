//! Screening of a finished turn, before the journal: secrets are redacted, and what admission refuses
//! is removed.

use std::collections::HashMap;

use crate::{
    admission::{Admitted, Refusal, admit, admit_reply, may_become_memory},
    journal::{Entry, EntryReply, History, Orders},
    session::message_digest,
    turn::FinishedTurn,
};
use memgate_core::fence;
use memgate_dialect::ToolItem;
use memgate_screening::{Class, MAX_MESSAGE_BYTES, MAX_TOOL_BYTES, Screened, Screener};
use memgate_text::{
    command::{Commands, own_words, without_envelope},
    greeting::is_greeting,
    housekeeping::is_housekeeping,
    pieces::Piece,
    preferences::{Reading, Stated, only_preferences_in},
};

/// The most tool calls kept of one exchange. Agents make dozens; thousands are
/// a loop that nobody learns from.
const MAX_CALLS: usize = 256;

/// The longest name or id kept, in bytes.
const MAX_NAME_BYTES: usize = 512;

/// Values that were removed from a turn.
#[derive(Debug, Default)]
pub(crate) struct Removed {
    /// How many secrets of each kind were redacted.
    pub(crate) secrets: HashMap<Class, u64>,
    /// Why sentences of the message are not kept, one entry a sentence.
    pub(crate) refused: Vec<Refusal>,
    /// Why sentences of the reply are not kept.
    pub(crate) reply_refused: Vec<Refusal>,
    /// Whether the message is a client's own prompt, of which nothing is kept.
    pub(crate) is_prompt: bool,
}

impl Removed {
    fn count(&mut self, secrets: &[Class]) {
        for secret in secrets {
            *self.secrets.entry(*secret).or_default() += 1;
        }
    }
}

/// Screens a turn, and takes out of it what memory itself had put there:
/// an echoed context must not be learnt again. Without `tool_contents` only the tools' names and outcomes are kept.
pub(crate) fn screened(
    turn: FinishedTurn,
    screener: Screener,
    tool_contents: bool,
) -> (Entry, Removed) {
    let mut removed = Removed::default();
    let message = screener.screen(&fence::strip(&turn.user_text), MAX_MESSAGE_BYTES);
    removed.count(&message.removed);
    let said = &*without_envelope(&message.text);
    let mut clean = |text: &str, max: usize| {
        let screened = screener.screen(&fence::strip(text), max);
        removed.count(&screened.removed);
        screened
    };
    let digest = message_digest(said, turn.media.as_deref(), &turn.place);
    let history = turn.before.zip(turn.history_digest).and_then(|(text, whole)| {
        let screened = screener.screen(&fence::strip(&text), MAX_MESSAGE_BYTES);
        let before = without_envelope(&screened.text);
        (!is_greeting(&before))
            .then(|| History { before: message_digest(&before, None, &turn.place), whole })
    });
    let (mut orders, rest, withdrawn) = orders(said, screener);
    let is_prompt = is_housekeeping(said);
    if is_prompt {
        // "Generate a title. Always answer in English." is no wish of the user's.
        orders = Orders::default();
    } else if turn.speaker.is_some() {
        // How another person wants to be answered is no wish of the owner's.
        orders.prefer.clear();
    }
    let admitted = admitted_words(&rest, &message);
    let mut user_text = admitted.text;
    let mut tools = |items: Vec<ToolItem>| -> Vec<ToolItem> {
        let items = items.into_iter().take(MAX_CALLS);
        items.map(|item| clean_tool(item, tool_contents, &mut clean)).collect()
    };
    let mut before = tools(turn.tool_items);
    let mut calls = tools(turn.reply.tool_calls);
    let answered = admit_reply(&clean(&turn.reply.text, MAX_MESSAGE_BYTES));
    let mut reply_text = answered.text;
    // The things that it names or tells are to be forgotten; and nobody learns from a client's own prompt.
    let forgets = withdrawn || !orders.forget.is_empty();
    let silent_message = forgets || is_prompt;
    if silent_message {
        user_text.clear();
    }
    // The reply and the tools may say it again, a secret without the label that it was known by.
    let silent = silent_message || !admitted.refused.is_empty() || !message.removed.is_empty();
    if silent {
        reply_text.clear();
        before.iter_mut().chain(&mut calls).for_each(without_words);
    }
    let reply = EntryReply {
        response_id: turn.reply.response_id.map(|id| clip(&id)),
        model: turn.reply.model.map(|name| clip(&name)),
        text: reply_text,
        refusal: turn
            .reply
            .refusal
            .map(|text| admit_reply(&clean(&text, MAX_MESSAGE_BYTES)).text)
            .filter(|_| !silent),
        calls,
        ending: turn.reply.outcome,
        usage: turn.reply.usage,
    };
    let entry = Entry {
        digest,
        learn: turn.learn,
        orders,
        owner: turn.owner,
        project: turn.project_id,
        agent: turn.agent_id,
        session: turn.session,
        place: turn.place,
        user_text,
        speaker: turn.speaker,
        history,
        had_media: turn.media.is_some(),
        before,
        reply,
        request_id: turn.request_id,
        began: turn.began,
        ended: turn.ended,
        zone: turn.zone,
        ends_session: turn.ends_session,
    };
    removed.refused = admitted.refused;
    removed.reply_refused = answered.refused;
    removed.is_prompt = is_prompt;
    (entry, removed)
}

/// The words of a message for the journal. Only what the user typed speaks for the user: nothing is
/// learned from the rest of the message.
pub(super) fn admitted_words(rest: &str, message: &Screened) -> Admitted {
    let kept = message.kept.clone();
    admit(&Screened { text: own_words(rest), kept, ..Screened::default() })
}

/// The requests of a message to memory, the message without the preferences that it states (their
/// values are stored, and their words nowhere else), and whether it takes back what it tells.
pub(super) fn orders(said: &str, screener: Screener) -> (Orders, String, bool) {
    let Commands { mut remember, answer, forget, withdrawn, .. } = Commands::of(said);
    remember.retain(|words| may_become_memory(screener, words));
    let Reading { stated: mut prefer, rest } = Reading::of(said);
    prefer.retain(|stated| may_become_memory(screener, &stated.words));
    remember.retain(|words| {
        let preferences = only_preferences_in(words);
        let states_none = preferences.is_empty();
        for preference in preferences {
            if !prefer.iter().any(|stated| stated.preference == preference) {
                prefer.push(Stated { preference, words: words.clone() });
            }
        }
        states_none
    });
    let requests = if forget.is_empty() { Vec::new() } else { requests(said) };
    (Orders { remember, answer, prefer, forget, requests }, rest, withdrawn)
}

/// The sentences of a message that ask to forget, each with the one before it.
fn requests(said: &str) -> Vec<String> {
    let sentences = Piece::sentences(said);
    let asks = |at: &usize| !Commands::of(sentences[*at].words()).forget.is_empty();
    let asking = (0..sentences.len()).filter(asks);
    asking.map(|at| Piece::with_the_one_before(&sentences, at)).collect()
}

fn clean_tool(
    item: ToolItem,
    contents: bool,
    clean: &mut impl FnMut(&str, usize) -> Screened,
) -> ToolItem {
    let mut clean = |text: &str| match contents {
        true => clean(text, MAX_TOOL_BYTES).text,
        false => String::new(),
    };
    ToolItem {
        call_id: clip(&item.call_id),
        name: clip(&item.name),
        input: clean(&item.input),
        // An empty one still says that the call has its result.
        output: item.output.as_deref().map(clean),
        is_error: item.is_error,
    }
}

fn without_words(item: &mut ToolItem) {
    item.input.clear();
    item.output = None;
}

fn clip(name: &str) -> String {
    name[..name.floor_char_boundary(MAX_NAME_BYTES)].to_owned()
}
