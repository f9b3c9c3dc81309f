//! The kind of a memory. It is not stored; it follows from what is.

use crate::memory::{Memory, Relation, extractor};

/// What a memory is, whatever its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryKind {
    /// A turn: what the user said and what the reply said.
    Turn,
    /// The summary of a session.
    Summary,
    /// How the user wants to be called and answered in every conversation.
    Preference,
    /// What the user wants where a topic comes up, or of every answer. It is shown in the user's words.
    Wish,
    /// Any other memory: a statement of the user, a fact, or content from the API.
    Statement,
}

impl Memory {
    /// The kind of this memory.
    #[must_use]
    pub fn kind(&self) -> MemoryKind {
        let made_by = |name| self.provenance.extractor.as_deref() == Some(name);
        let links = |kind| self.relations.iter().any(|link| link.kind == kind);
        if made_by(extractor::SUMMARY) || links(Relation::SUMMARY_OF) {
            MemoryKind::Summary
        } else if made_by(extractor::TURNS) {
            MemoryKind::Turn
        } else if self.preference().is_some() {
            MemoryKind::Preference
        } else if self.wish_topic().is_some() || self.is_wish_for_every_answer() {
            MemoryKind::Wish
        } else {
            MemoryKind::Statement
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::memory::{MemoryId, MemoryType, Owner, Source};

    fn memory(extractor: Option<&str>, tags: &[&str], link: Option<&str>) -> Memory {
        let mut memory = Memory::new(
            MemoryId::fresh(),
            Owner::of_user("u").unwrap(),
            MemoryType::new(MemoryType::SEMANTIC),
            "x",
            Source::ExternalData,
            Timestamp::UNIX_EPOCH,
        );
        memory.provenance.extractor = extractor.map(str::to_owned);
        memory.tags = tags.iter().map(|&tag| tag.to_owned()).collect();
        memory.relations =
            link.into_iter().map(|kind| Relation::new(kind, MemoryId::fresh())).collect();
        memory
    }

    #[test]
    fn the_kind_follows_from_extractor_and_relations() {
        use MemoryKind::{Statement, Summary, Turn};
        for (extractor, tags, link, kind) in [
            (None, &[][..], None, Statement),
            (Some("local"), &["mine"][..], Some(Relation::SUPERSEDES), Statement),
            (Some("turns"), &[][..], None, Turn),
            (Some("summary"), &[][..], None, Summary),
            (None, &[][..], Some(Relation::SUMMARY_OF), Summary),
            (Some("local"), &[Memory::PREFERENCE, Memory::STANDING][..], None, Statement),
        ] {
            assert_eq!(
                memory(extractor, tags, link).kind(),
                kind,
                "{extractor:?} {tags:?} {link:?}"
            );
        }
    }
}
