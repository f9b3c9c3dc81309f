//! The outcome of memory for one request, as in the response header.

use memgate_recall::{PresentedMemory, RecallError, Skip};
use memgate_text::command::Command;

/// The decision as clients, logs and metrics see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Memories were searched; possibly none matched.
    Searched,
    /// Switched off by the configuration, a policy or the request.
    Off,
    /// The message asks for a general fact.
    SkippedFact,
    /// A tool answers.
    SkippedTool,
    /// The message is only a greeting.
    SkippedGreeting,
    /// A chat client's own prompt.
    SkippedHousekeeping,
    /// The request has no user id.
    SkippedNoIdentity,
    /// The request has no user message.
    SkippedNoUserMessage,
    /// The body exceeds the limit.
    SkippedTooLarge,
    /// The body is not valid for its path, or one of memgate's fields in it is wrong.
    SkippedUnreadable,
    /// Memory should have been searched but was not.
    Failed(FailedBecause),
}

/// Why memory failed; the request continued without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum FailedBecause {
    /// The identity is contradictory or malformed.
    Identity,
    /// One of memgate's headers has an invalid value.
    Header,
    /// Neither vectors nor words could be searched.
    Embedding,
    /// The store did not answer.
    Store,
    /// The deadline passed.
    Deadline,
    /// A bug in memgate.
    Internal,
}

impl Outcome {
    /// The value of `x-memgate-decision`, also used as metric label.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Searched => "searched",
            Self::Off => "off",
            Self::SkippedFact => Skip::Fact.as_str(),
            Self::SkippedTool => Skip::Tool.as_str(),
            Self::SkippedGreeting => Skip::Greeting.as_str(),
            Self::SkippedHousekeeping => Skip::Housekeeping.as_str(),
            Self::SkippedNoIdentity => "skipped:no_identity",
            Self::SkippedNoUserMessage => "skipped:no_user_message",
            Self::SkippedTooLarge => "skipped:too_large",
            Self::SkippedUnreadable => "skipped:unreadable",
            Self::Failed(FailedBecause::Identity) => "failed:identity",
            Self::Failed(FailedBecause::Header) => "failed:header",
            Self::Failed(FailedBecause::Embedding) => "failed:embedding",
            Self::Failed(FailedBecause::Store) => "failed:store",
            Self::Failed(FailedBecause::Deadline) => "failed:deadline",
            Self::Failed(FailedBecause::Internal) => "failed:internal",
        }
    }
}

impl FailedBecause {
    /// The metric label.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl From<Skip> for Outcome {
    fn from(skip: Skip) -> Self {
        match skip {
            Skip::Fact => Self::SkippedFact,
            Skip::Tool => Self::SkippedTool,
            Skip::Greeting => Self::SkippedGreeting,
            Skip::Housekeeping => Self::SkippedHousekeeping,
        }
    }
}

impl From<&RecallError> for FailedBecause {
    fn from(error: &RecallError) -> Self {
        match error {
            RecallError::Deadline => Self::Deadline,
            RecallError::Embedding(_) => Self::Embedding,
            RecallError::Store(_) | RecallError::Unavailable => Self::Store,
        }
    }
}

/// The outcome of recall, for the metadata of a reply.
#[derive(Clone, Copy, Debug)]
pub(super) struct Verdict<'a> {
    pub(super) outcome: Outcome,
    /// Whether a context was added.
    pub(super) personalised: bool,
    pub(super) hits: usize,
    /// Which hits these are, where the configuration asks for it.
    pub(super) scores: &'a [PresentedMemory],
    /// The user's command to memory itself.
    pub(super) command: Option<Command>,
    pub(super) request_id: Option<&'a str>,
}
