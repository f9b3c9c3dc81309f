//! Turns: as the gateway hands them over after a reply that ended well, as the journal lends them to
//! recall, and as jobs read them.

use jiff::{Timestamp, civil::Date, tz::TimeZone};

use crate::session::{Place, SessionKey};
use memgate_core::memory::{MemoryId, Owner};
use memgate_dialect::{Ask, Ending, Reply, Role, ToolItem};

/// An exchange that ended well and may be learnt from. Making one decides that:
/// [`FinishedTurn::new`] returns none for a reply that failed or was cut off.
#[derive(Clone, Debug)]
pub struct FinishedTurn {
    /// Whose.
    pub owner: Owner,
    /// Scope: the project.
    pub project_id: Option<String>,
    /// Scope: the agent.
    pub agent_id: Option<String>,
    /// The session it belongs to.
    pub session: SessionKey,
    /// Its place among the session's turns.
    pub place: Place,
    /// The words of the last user message; empty in the middle of a tool loop
    /// whose earlier messages the model server keeps.
    pub user_text: String,
    /// Who said them, where the request names another person than the owner.
    pub speaker: Option<String>,
    /// The user message before it, where the request holds one that is not too long.
    pub before: Option<String>,
    /// A digest of all messages before it, where the request holds any.
    pub history_digest: Option<String>,
    /// A digest of its images and files, if it has any.
    pub media: Option<String>,
    /// Tool calls of this turn so far, with their results where known.
    pub tool_items: Vec<ToolItem>,
    /// The reply.
    pub reply: Reply,
    /// The request's id, for provenance.
    pub request_id: Option<String>,
    /// When the request began.
    pub began: Timestamp,
    /// When the reply ended.
    pub ended: Timestamp,
    /// The user's time zone.
    pub zone: TimeZone,
    /// The session ends with this exchange.
    pub ends_session: bool,
    /// Whether is learnt from it; else only what it asks to be forgotten counts.
    pub learn: bool,
}

/// Where an exchange came from and when; what its bodies do not say.
#[derive(Clone, Debug)]
pub struct Circumstances {
    /// Whose.
    pub owner: Owner,
    /// Scope: the project.
    pub project_id: Option<String>,
    /// Scope: the agent.
    pub agent_id: Option<String>,
    /// Header `x-session-id`.
    pub session_header: Option<String>,
    /// The request's id.
    pub request_id: Option<String>,
    /// When the request began.
    pub began: Timestamp,
    /// When the reply ended.
    pub ended: Timestamp,
    /// The user's time zone.
    pub zone: TimeZone,
    /// The client says that the session ends with this exchange.
    pub ends_session: bool,
    /// Whether may be learnt from it.
    pub learn: bool,
}

impl FinishedTurn {
    /// The turn of an exchange, or `None` when there is nothing to learn from it:
    /// a reply that is not whole (unless its tools are still to run), or a
    /// request that neither holds a user message nor goes on from one.
    #[must_use]
    pub fn new(ask: &Ask, reply: Reply, of: Circumstances) -> Option<Self> {
        if !reply.outcome.is_well_ended() && reply.outcome != Ending::ToolCalls {
            return None;
        }
        let place = Place::of(ask)?;
        let session = SessionKey::of(of.session_header.as_deref(), ask, &of.owner);
        let before = ask.history.iter().rfind(|said| said.role == Role::User);
        Some(Self {
            speaker: ask.user_name.as_deref().and_then(|name| speaker(name, &of.owner)),
            before: before.map(|said| said.text.clone()),
            history_digest: ask.history_digest.clone(),
            owner: of.owner,
            project_id: of.project_id,
            agent_id: of.agent_id,
            session,
            place,
            user_text: ask.user_text.clone().unwrap_or_default(),
            media: ask.user_media.clone(),
            tool_items: ask.tool_items.clone(),
            // The items hold text and calls once more, and what the model thought.
            reply: Reply { items: Vec::new(), ..reply },
            request_id: of.request_id,
            began: of.began,
            ended: of.ended,
            zone: of.zone,
            ends_session: of.ends_session,
            learn: of.learn,
        })
    }

    /// About how much memory it takes while it waits, in bytes.
    pub(crate) fn weight(&self) -> usize {
        let tool = |item: &ToolItem| {
            item.name.len() + item.input.len() + item.output.as_ref().map_or(0, String::len)
        };
        let reply = self.reply.text.len() + self.reply.tool_calls.iter().map(tool).sum::<usize>();
        size_of::<Self>()
            + self.user_text.len()
            + self.before.as_ref().map_or(0, String::len)
            + self.tool_items.iter().map(tool).sum::<usize>()
            + reply
    }
}

/// The longest name of a speaker, in characters, as the OpenAI API has it.
const MAX_NAME: usize = 64;

/// A name as it may stand before what somebody said; `None` where it is the owner's own, or no name.
fn speaker(name: &str, owner: &Owner) -> Option<String> {
    let fits = |c: &char| c.is_alphanumeric() || " -_.'’".contains(*c);
    let name: String = name.chars().filter(fits).take(MAX_NAME).collect();
    let name = name.trim();
    let own = name.to_lowercase() == owner.name().to_lowercase();
    (name.contains(char::is_alphanumeric) && !own).then(|| name.to_owned())
}

/// A turn as the journal lends it to recall.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournaledTurn {
    /// Its session's id.
    pub session: String,
    /// The user's words, screened.
    pub user_text: String,
    /// The reply's words, screened; of the last reply when tools ran between.
    pub reply_text: String,
    /// When the request began.
    pub at: Timestamp,
}

/// A turn of the journal, with what jobs need.
#[derive(Clone, Debug)]
pub(crate) struct StoredTurn {
    pub(crate) key: String,
    pub(crate) owner: Owner,
    pub(crate) session: String,
    pub(crate) project: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) user_text: String,
    /// Who said it, where that was another person than the owner.
    pub(crate) speaker: Option<String>,
    /// Text of the last reply that has words.
    pub(crate) reply_text: String,
    pub(crate) began: Timestamp,
    /// The user's time zone.
    pub(crate) zone: TimeZone,
    /// Id of the first exchange's request.
    pub(crate) request_id: Option<String>,
    /// Whether a client wrote the message on the user's account; `None` until a job has asked.
    pub(crate) is_prompt: Option<bool>,
}

impl StoredTurn {
    /// The id of its memory.
    pub(crate) fn memory_id(&self) -> MemoryId {
        MemoryId::of_turn(&self.owner, &self.key)
    }

    /// The day on which it was said, in the user's time zone.
    pub(crate) fn day(&self) -> Date {
        self.began.to_zoned(self.zone.clone()).date()
    }

    /// Words of it, with the name of who said them where that was another person than the owner.
    pub(crate) fn by_speaker(&self, words: &str) -> String {
        self.speaker.as_ref().map_or_else(|| words.to_owned(), |name| format!("{name}: {words}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_persons_name_is_kept_and_the_owners_own_and_what_is_no_name_is_not() {
        let owner = Owner::of_user("alice").unwrap();
        let of = |name: &str| speaker(name, &owner);
        assert_eq!(of("bob"), Some("bob".to_owned()));
        assert_eq!(of(" 陈伟 "), Some("陈伟".to_owned()));
        assert_eq!(of("Bob\n[2026-01-01] x: <y>"), Some("Bob2026-01-01 x y".to_owned()));
        assert_eq!([of("Alice"), of(""), of("--")], [None, None, None]);
        assert_eq!(of(&"x".repeat(100)).unwrap().len(), MAX_NAME);
    }
}
