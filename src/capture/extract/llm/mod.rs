//! Facts out of turns, by the helper model with the role `memory_extraction`.

mod answer;
mod prompt;

use super::candidate::{Candidate, Extractor};
use crate::{
    capture::journal::StoredTurn,
    llm::{Helper, LlmError},
    memory::Source,
};

/// This extractor, in every memory it makes.
pub(in crate::capture) const EXTRACTOR: Extractor = Extractor {
    name: "llm",
    version: "1",
    source: Source::ImplicitInference,
    waits_for_vectors: true,
};

/// What an answer held.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::capture) struct Answer {
    pub(in crate::capture) candidates: Vec<Candidate>,
    /// Dropped: of a type that is not asked for.
    pub(in crate::capture) unknown_type: u64,
    /// Dropped: without content, or holding what must not be kept.
    pub(in crate::capture) unusable: u64,
    /// Dropped: beyond the most that one batch may give.
    pub(in crate::capture) too_many: u64,
}

/// Why a batch gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::capture) enum ExtractError {
    /// The model could not be asked, or did not answer.
    #[error(transparent)]
    Llm(LlmError),
    /// Its answer is not what it was asked for.
    #[error("the answer is {0}")]
    Malformed(&'static str),
}

impl From<LlmError> for ExtractError {
    fn from(error: LlmError) -> Self {
        match error {
            LlmError::Unreadable(_) => Self::Malformed("no chat completion"),
            other => Self::Llm(other),
        }
    }
}

/// Asks the model for the facts in some turns, oldest first.
pub(in crate::capture) async fn extract(
    helper: &Helper,
    turns: &[StoredTurn],
) -> Result<Answer, ExtractError> {
    let answer = helper.ask(prompt::INSTRUCTIONS, &prompt::request(turns)).await?;
    answer::read(&answer)
}
