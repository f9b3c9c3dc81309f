//! Which type of memory a question asks for. That is a hint and never a filter.

use memgate_core::memory::MemoryType;
use memgate_text::question::kind::{self, Kind};

/// The type that is asked for, where the question tells.
pub(super) fn asked_for(query: &str) -> Option<&'static str> {
    kind::of(query).map(|kind| match kind {
        Kind::Procedure => MemoryType::PROCEDURAL,
        Kind::Event => MemoryType::EPISODIC,
    })
}
