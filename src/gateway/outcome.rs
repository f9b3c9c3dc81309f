//! What became of memory for one request, in the words of the response header.

use crate::{
    recall::{PresentedMemory, RecallError, Skip},
    signals::Command,
};

/// The decision as clients, logs and metrics see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Memories were searched; perhaps none matched.
    Searched,
    /// Switched off by configuration, policy or request.
    Off,
    /// A general fact was asked.
    SkippedFact,
    /// A tool answers.
    SkippedTool,
    /// Nothing was asked.
    SkippedGreeting,
    /// Nobody said who asks.
    SkippedNoIdentity,
    /// The request has no user message.
    SkippedNoUserMessage,
    /// The body is over the limit.
    SkippedTooLarge,
    /// The body is not what its path promises, or a field of ours in it is wrong.
    SkippedUnreadable,
    /// Memory should have been searched and was not.
    Failed(FailedBecause),
}

/// Why memory failed; the request went on without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedBecause {
    /// The identity is contradictory or malformed.
    Identity,
    /// A header of ours has a value that cannot be read.
    Header,
    /// Neither vectors nor words could be searched.
    Embedding,
    /// The store did not answer.
    Store,
    /// The time was up.
    Deadline,
    /// A mistake of ours.
    Internal,
}

impl Outcome {
    /// The value of `x-memgate-decision`, and the label of the metric.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Searched => "searched",
            Self::Off => "off",
            Self::SkippedFact => "skipped:fact",
            Self::SkippedTool => "skipped:tool",
            Self::SkippedGreeting => "skipped:greeting",
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
    /// The label of the metric.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Header => "header",
            Self::Embedding => "embedding",
            Self::Store => "store",
            Self::Deadline => "deadline",
            Self::Internal => "internal",
        }
    }
}

impl From<Skip> for Outcome {
    fn from(skip: Skip) -> Self {
        match skip {
            Skip::Fact => Self::SkippedFact,
            Skip::Tool => Self::SkippedTool,
            Skip::Greeting => Self::SkippedGreeting,
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

/// What became of memory, for the metadata of a reply.
#[derive(Clone, Copy, Debug)]
pub(super) struct Verdict<'a> {
    pub(super) outcome: Outcome,
    pub(super) hits: usize,
    /// Which hits these are, where the configuration asks for it.
    pub(super) scores: &'a [PresentedMemory],
    /// What the user asked of memory itself.
    pub(super) command: Option<Command>,
    pub(super) request_id: Option<&'a str>,
}
