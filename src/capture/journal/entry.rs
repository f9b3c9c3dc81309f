//! A finished turn as it may be written: screened. The journal takes nothing else.

use std::collections::HashMap;

use jiff::Timestamp;

use super::{Forgotten, orders::Orders};
use crate::{
    capture::{
        session::{Place, SessionKey, message_digest},
        turn::FinishedTurn,
    },
    dialect::{Ending, ToolItem, Usage, fence},
    memory::Owner,
    screening::{MAX_MESSAGE_BYTES, MAX_TOOL_BYTES, Secret, screen},
    signals::Commands,
};

/// The most tool calls kept of one exchange. Agents make dozens; thousands are
/// a loop that nobody learns from.
const MAX_CALLS: usize = 256;

/// The longest name or id kept, in bytes.
const MAX_NAME_BYTES: usize = 512;

/// A screened exchange.
#[derive(Debug)]
pub(in crate::capture) struct Entry {
    pub(super) owner: Owner,
    pub(super) project: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) session: SessionKey,
    pub(super) place: Place,
    pub(super) digest: String,
    /// Whether a turn is to be kept; else only its orders to forget count.
    pub(super) learn: bool,
    pub(super) orders: Orders,
    pub(super) user_text: String,
    pub(super) had_media: bool,
    /// Calls of this turn before this exchange's reply.
    pub(super) before: Vec<ToolItem>,
    pub(super) reply: EntryReply,
    pub(super) request_id: Option<String>,
    pub(super) began: Timestamp,
    pub(super) ended: Timestamp,
    /// The session ends with this exchange.
    pub(super) ends_session: bool,
}

/// The reply of a screened exchange.
#[derive(Debug)]
pub(super) struct EntryReply {
    pub(super) response_id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) text: String,
    pub(super) refusal: Option<String>,
    pub(super) calls: Vec<ToolItem>,
    pub(super) ending: Ending,
    pub(super) usage: Option<Usage>,
}

/// How many secrets of each kind were removed.
pub(in crate::capture) type Removed = HashMap<Secret, u64>;

impl Entry {
    /// Screens a turn, and takes out of it what memory itself had put there:
    /// an echoed context must not be learnt again.
    pub(in crate::capture) fn screened(turn: FinishedTurn) -> (Self, Removed) {
        let mut removed = Removed::new();
        let mut clean = |text: &str, max: usize| {
            let screened = screen(&fence::strip(text), max);
            for secret in screened.removed {
                *removed.entry(secret).or_default() += 1;
            }
            screened.text
        };
        let mut user_text = clean(&turn.user_text, MAX_MESSAGE_BYTES);
        let digest = message_digest(&user_text, turn.media.as_deref(), &turn.place);
        let Commands { remember, forget, .. } = Commands::of(&user_text);
        let orders = Orders { remember, forget };
        let mut tools = |items: Vec<ToolItem>| -> Vec<ToolItem> {
            items.into_iter().take(MAX_CALLS).map(|item| clean_tool(item, &mut clean)).collect()
        };
        let mut before = tools(turn.tool_items);
        let mut calls = tools(turn.reply.tool_calls);
        let mut reply_text = clean(&turn.reply.text, MAX_MESSAGE_BYTES);
        if !orders.forget.is_empty() {
            // Nothing of such a turn is kept: what it names is to be forgotten.
            user_text.clear();
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
                .map(|text| clean(&text, MAX_MESSAGE_BYTES))
                .filter(|_| orders.forget.is_empty()),
            calls,
            ending: turn.reply.outcome,
            usage: turn.reply.usage,
        };
        let entry = Self {
            digest,
            learn: turn.learn,
            orders,
            owner: turn.owner,
            project: turn.project_id,
            agent: turn.agent_id,
            session: turn.session,
            place: turn.place,
            user_text,
            had_media: turn.media.is_some(),
            before,
            reply,
            request_id: turn.request_id,
            began: turn.began,
            ended: turn.ended,
            ends_session: turn.ends_session,
        };
        (entry, removed)
    }

    /// Whether it would write this turn again, or take the one before for it.
    pub(in crate::capture) fn is_of(&self, turn: &Forgotten) -> bool {
        let same_session = turn.session.iter().any(|name| name == self.session.name());
        self.owner == turn.owner
            && match self.place {
                Place::Latest => same_session && turn.was_last,
                // It finds its turn by a response, or none.
                Place::Within(_) => false,
                Place::Numbered(_) | Place::After(_) | Place::Next => {
                    let follows = matches!(self.session, SessionKey::AfterResponse(_));
                    self.digest == turn.digest && (same_session || follows)
                }
            }
    }

    /// Whether the reply leaves the turn open: its tools are still to run.
    pub(super) fn leaves_open(&self) -> bool {
        self.reply.ending == Ending::ToolCalls
    }
}

fn clean_tool(item: ToolItem, clean: &mut impl FnMut(&str, usize) -> String) -> ToolItem {
    ToolItem {
        call_id: clip(&item.call_id),
        name: clip(&item.name),
        input: clean(&item.input, MAX_TOOL_BYTES),
        output: item.output.map(|output| clean(&output, MAX_TOOL_BYTES)),
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
