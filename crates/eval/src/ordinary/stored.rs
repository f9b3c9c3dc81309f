//! Classes of a story's memories: whether one is shown as current, is clean, and holds facts.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{
    alone::{Fragment, says_over},
    matching::Text,
    row::{State, Story},
};
use memgate_core::memory::{Memory, MemoryKind, Source};

/// The most characters of a clean memory.
const MOST_CHARS: usize = 300;

/// Class of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// A short statement or preference of the user that recall may show as current.
    Clean,
    /// The same, but long.
    Long,
    /// A stored turn.
    Turn,
    /// The summary of a session.
    Summary,
    /// From a document or an import.
    Contributed,
    /// Ended, superseded, forgotten or expired: recall does not show it as current.
    Inactive,
}

impl Class {
    pub(crate) fn of(memory: &Memory, now: Timestamp) -> Self {
        let ended = memory.valid_until.is_some_and(|until| until <= now);
        if !memory.is_in_use(now) || ended {
            return Self::Inactive;
        }
        let contributed = memory.source == Source::ExternalData || memory.document_id.is_some();
        match memory.kind {
            MemoryKind::Turn => Self::Turn,
            MemoryKind::Summary => Self::Summary,
            _ if contributed => Self::Contributed,
            _ if memory.text().chars().count() > MOST_CHARS => Self::Long,
            MemoryKind::Preference
            | MemoryKind::Wish
            | MemoryKind::Quotation
            | MemoryKind::Statement => Self::Clean,
        }
    }

    /// Whether recall may show it as current, other than as a raw turn.
    pub(super) fn is_active(self) -> bool {
        !matches!(self, Self::Turn | Self::Inactive)
    }
}

/// A memory, compared with the labels of its story.
#[derive(Debug)]
pub(super) struct Stored<'a> {
    pub(super) memory: &'a Memory,
    pub(super) class: Class,
    /// The facts that it holds, by their places in the story.
    pub(super) facts: BTreeSet<usize>,
    /// Whether it holds something harmless.
    pub(super) acceptable: bool,
    pub(super) fragment: Option<Fragment>,
    /// Whether it is marked as over or as perhaps over, or says so itself.
    pub(super) over: bool,
}

impl<'a> Stored<'a> {
    pub(super) fn of(memory: &'a Memory, story: &Story, now: Timestamp) -> Self {
        let (content, language) = (memory.text(), story.language());
        let text = Text::new(&content);
        Self {
            memory,
            class: Class::of(memory, now),
            facts: text.facts(&story.facts),
            acceptable: text.holds_one(&story.acceptable),
            fragment: Fragment::of(&content, language),
            over: memory.valid_until.is_some()
                || memory.may_have_changed().is_some()
                || says_over(&content, language),
        }
    }

    pub(super) fn is_clean(&self) -> bool {
        self.class == Class::Clean
    }

    /// Whether it holds a fact that is true at the end of the story.
    pub(super) fn holds_now(&self, story: &Story) -> bool {
        let states = self.facts.iter().filter_map(|at| story.facts.get(*at));
        states.into_iter().any(|fact| fact.state == State::Now)
    }

    /// Whether it holds nothing that is labelled.
    pub(super) fn is_junk(&self) -> bool {
        self.facts.is_empty() && !self.acceptable
    }

    /// Whether it gives a fact that is over as if it held.
    pub(super) fn is_stale(&self, story: &Story) -> bool {
        !self.over && !self.holds_now(story)
    }
}
