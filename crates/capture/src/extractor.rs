//! The extractors of candidates: their names, versions, and what their candidates are.

use memgate_core::memory::{Source, extractor};

/// An extractor of candidates. Name and version are stored in every memory made of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extractor {
    /// One of [`extractor`].
    pub(crate) name: &'static str,
    /// A new version may extract again what an old one made.
    pub(crate) version: &'static str,
    /// Source of its candidates: the user's words, or conclusions from them.
    pub(crate) source: Source,
    /// They wait until they can be compared by meaning. Others are stored without vectors, and
    /// then only the same words are known again.
    pub(crate) waits_for_vectors: bool,
}

/// Picks statements out of the user's words, without a model server.
pub(crate) const LOCAL: Extractor = Extractor {
    name: extractor::LOCAL,
    version: "1",
    source: Source::ExplicitUserInput,
    waits_for_vectors: false,
};

/// Takes what the user asked to be remembered.
pub(crate) const EXPLICIT: Extractor = Extractor {
    name: extractor::EXPLICIT,
    version: "1",
    source: Source::ExplicitUserInput,
    waits_for_vectors: false,
};

/// Asks the helper model with the role `memory_extraction`.
pub(crate) const LLM: Extractor = Extractor {
    name: extractor::LLM,
    version: "2",
    source: Source::ImplicitInference,
    waits_for_vectors: true,
};
