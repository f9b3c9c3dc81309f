//! A screened exchange, as the journal writes it.

use jiff::{Timestamp, tz::TimeZone};

use crate::{
    journal::orders::Orders,
    session::{Place, SessionKey},
};
use memgate_core::memory::Owner;
use memgate_dialect::{Ending, ToolItem, Usage};

/// A screened exchange.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) owner: Owner,
    pub(crate) project: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) session: SessionKey,
    pub(crate) place: Place,
    pub(crate) digest: String,
    /// Whether a turn is to be kept; else only its orders to forget count.
    pub(crate) learn: bool,
    pub(crate) orders: Orders,
    pub(crate) user_text: String,
    /// Who said it, where that was another person than the owner.
    pub(crate) speaker: Option<String>,
    pub(crate) history: Option<History>,
    pub(crate) had_media: bool,
    /// Calls of this turn before this exchange's reply.
    pub(crate) before: Vec<ToolItem>,
    pub(crate) reply: EntryReply,
    pub(crate) request_id: Option<String>,
    pub(crate) began: Timestamp,
    pub(crate) ended: Timestamp,
    pub(crate) zone: TimeZone,
    /// The session ends with this exchange.
    pub(crate) ends_session: bool,
}

/// The messages before a user message, where the request holds them and the last one of the user's is more than a greeting:
/// many chats begin with the same greeting and answer.
#[derive(Debug)]
pub(crate) struct History {
    /// Digest of the user message right before.
    pub(crate) before: String,
    /// Digest of all messages before.
    pub(crate) whole: String,
}

/// The reply of a screened exchange.
#[derive(Debug)]
pub(crate) struct EntryReply {
    pub(crate) response_id: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) text: String,
    pub(crate) refusal: Option<String>,
    pub(crate) calls: Vec<ToolItem>,
    pub(crate) ending: Ending,
    pub(crate) usage: Option<Usage>,
}

/// A turn that is to be forgotten, by what an exchange in flight may bring of it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Forgotten {
    pub(crate) owner: Owner,
    /// Digest of its user message.
    pub(crate) digest: String,
    /// The name of its session, and the one that its key had.
    pub(crate) session: [String; 2],
    /// Nothing was said after it.
    pub(crate) was_last: bool,
}

impl Entry {
    /// Whether it would write this turn again, or take the one before for it.
    pub(crate) fn is_of(&self, turn: &Forgotten) -> bool {
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
    pub(crate) fn leaves_open(&self) -> bool {
        self.reply.ending == Ending::ToolCalls
    }
}
