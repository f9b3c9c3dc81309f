//! Requests to the rewrite model, and its answers.

use jiff::Timestamp;

use memgate_core::memory::Filter;

/// The help that the model is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Help {
    /// Words to search by.
    Words(Words),
    /// Conditions on the memories that the question wants, and words in the same answer, where these help.
    Conditions(Option<Words>),
}

/// Words to search by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// The question, rewritten so that it can be understood alone. It is searched instead.
    Rewrite,
    /// A guess at the answer (HyDE). Used where the question itself finds nothing that is relevant enough.
    Hypothesis,
}

impl Help {
    /// Help with words, and with conditions where these are wanted.
    pub(crate) fn of(words: Option<Words>, conditions: bool) -> Option<Self> {
        if conditions { Some(Self::Conditions(words)) } else { words.map(Self::Words) }
    }
}

/// A request to the model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HelpRequest<'a> {
    /// The question.
    pub(crate) message: &'a str,
    /// The user's messages before it, oldest first.
    pub(crate) earlier: &'a [&'a str],
    /// The types that may be searched.
    pub(crate) types: &'a [String],
    /// The time of asking.
    pub(crate) now: Timestamp,
}

/// The content of the model's answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ModelAnswer {
    /// The rewritten question.
    pub(crate) question: Option<String>,
    /// The guess at the answer.
    pub(crate) guess: Option<String>,
    /// Conditions on the memories that the question wants.
    pub(crate) conditions: Option<Filter>,
}

impl Words {
    /// An answer with these words.
    pub(super) fn answered(self, words: String) -> ModelAnswer {
        match self {
            Self::Rewrite => ModelAnswer { question: Some(words), ..ModelAnswer::default() },
            Self::Hypothesis => ModelAnswer { guess: Some(words), ..ModelAnswer::default() },
        }
    }
}
