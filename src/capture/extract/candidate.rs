//! What an extractor found: something worth remembering, not yet stored.

use serde::{Deserialize, Serialize};

use crate::memory::Source;

/// Something worth remembering, not yet stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::capture) struct Candidate {
    /// The memory's type.
    #[serde(rename = "type")]
    pub(in crate::capture) memory_type: String,
    /// The fact, with what it needs to be understood alone.
    pub(in crate::capture) content: String,
    /// The user's own words, where the content says more than they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::capture) raw: Option<String>,
}

/// Who found it: stands in every memory made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::capture) struct Extractor {
    pub(in crate::capture) name: &'static str,
    /// A new version may extract again what an old one made.
    pub(in crate::capture) version: &'static str,
    /// What its finds are: the user's words, or concluded from them.
    pub(in crate::capture) source: Source,
    /// They wait until they can be compared by meaning. Others are stored without vectors, and
    /// then only the same words are known again.
    pub(in crate::capture) waits_for_vectors: bool,
}
