//! A screened exchange, as the journal writes it.

use jiff::Timestamp;

use crate::{
    capture::{
        journal::forget::Orders,
        session::{Place, SessionKey},
    },
    dialect::{Ending, ToolItem, Usage},
    memory::Owner,
};

/// A screened exchange.
#[derive(Debug)]
pub(in crate::capture) struct Entry {
    pub(in crate::capture) owner: Owner,
    pub(in crate::capture) project: Option<String>,
    pub(in crate::capture) agent: Option<String>,
    pub(in crate::capture) session: SessionKey,
    pub(in crate::capture) place: Place,
    pub(in crate::capture) digest: String,
    /// Whether a turn is to be kept; else only its orders to forget count.
    pub(in crate::capture) learn: bool,
    pub(in crate::capture) orders: Orders,
    pub(in crate::capture) user_text: String,
    pub(in crate::capture) had_media: bool,
    /// Calls of this turn before this exchange's reply.
    pub(in crate::capture) before: Vec<ToolItem>,
    pub(in crate::capture) reply: EntryReply,
    pub(in crate::capture) request_id: Option<String>,
    pub(in crate::capture) began: Timestamp,
    pub(in crate::capture) ended: Timestamp,
    /// The session ends with this exchange.
    pub(in crate::capture) ends_session: bool,
}

/// The reply of a screened exchange.
#[derive(Debug)]
pub(in crate::capture) struct EntryReply {
    pub(in crate::capture) response_id: Option<String>,
    pub(in crate::capture) model: Option<String>,
    pub(in crate::capture) text: String,
    pub(in crate::capture) refusal: Option<String>,
    pub(in crate::capture) calls: Vec<ToolItem>,
    pub(in crate::capture) ending: Ending,
    pub(in crate::capture) usage: Option<Usage>,
}

/// A turn that is to be forgotten, by what an exchange in flight may bring of it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::capture) struct Forgotten {
    pub(in crate::capture::journal) owner: Owner,
    /// Of its user message.
    pub(in crate::capture::journal) digest: String,
    /// The name of its session, and the one that its key had.
    pub(in crate::capture::journal) session: [String; 2],
    /// Nothing was said after it.
    pub(in crate::capture::journal) was_last: bool,
}

impl Entry {
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
    pub(in crate::capture) fn leaves_open(&self) -> bool {
        self.reply.ending == Ending::ToolCalls
    }
}
