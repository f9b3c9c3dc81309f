//! The one small language that narrows searches and lists. A store renders it
//! into its own query language, or evaluates it with [`Filter::matches`].

use std::{cell::LazyCell, fmt};

use jiff::Timestamp;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error as _, IgnoredAny, SeqAccess, Visitor},
};

use crate::memory::{Memory, MemoryKind, Source, Status};
use memgate_text::entity::entity_key;

/// The largest filter a store takes, counted by [`Filter::size`]: more than a
/// person writes, less than what makes a query slow.
pub const MAX_FILTER_SIZE: usize = 256;

/// A condition on a memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Filter {
    /// All of them; empty is true.
    And(Vec<Filter>),
    /// One of them; empty is false.
    Or(Vec<Filter>),
    /// Not this.
    Not(Box<Filter>),
    /// The kind is one of these.
    Kind(Vec<MemoryKind>),
    /// The type is one of these.
    Type(Vec<String>),
    /// The status is one of these.
    Status(Vec<Status>),
    /// The source is one of these.
    Source(Vec<Source>),
    /// Carries this tag.
    Tag(String),
    /// A top-level member of the metadata.
    Metadata(MetadataTest),
    /// The content, with a turn's reply on the next line, holds this text, whatever its case.
    Text(String),
    /// Importance compares so.
    #[serde(deserialize_with = "compared")]
    Importance(Comparison, f32),
    /// Confidence is known and compares so.
    #[serde(deserialize_with = "compared")]
    Confidence(Comparison, f32),
    /// A time is known and lies in `[from, until)`.
    Time {
        /// Which time.
        field: TimeField,
        /// Not before.
        #[serde(default)]
        from: Option<Timestamp>,
        /// Before.
        #[serde(default)]
        until: Option<Timestamp>,
    },
    /// Learnt in this session.
    Session(String),
    /// Belongs to exactly this project.
    Project(String),
    /// Mentions the person or thing of this name, in any spelling ([`entity_key`]).
    Entity(String),
}

/// A comparison and a number, in a list of the two.
fn compared<'de, D: Deserializer<'de>>(from: D) -> Result<(Comparison, f32), D::Error> {
    struct Two;

    impl<'de> Visitor<'de> for Two {
        type Value = (Comparison, f32);

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(r#"a comparison and a number, ["gte", 0.9] for example"#)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
            let how = items.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
            let value = items.next_element()?.ok_or_else(|| A::Error::invalid_length(1, &self))?;
            match items.next_element()? {
                None => Ok((how, value)),
                Some(IgnoredAny) => Err(A::Error::invalid_length(3, &self)),
            }
        }
    }
    from.deserialize_tuple(2, Two)
}

/// How a number compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// At least.
    Gte,
    /// At most.
    Lte,
    /// More than.
    Gt,
    /// Less than.
    Lt,
}

impl Comparison {
    /// Whether the comparison of `left` with `right` holds.
    #[must_use]
    pub fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Self::Gte => left >= right,
            Self::Lte => left <= right,
            Self::Gt => left > right,
            Self::Lt => left < right,
        }
    }
}

/// Which time of a memory a filter looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeField {
    /// When it was stored.
    Created,
    /// When it was last changed.
    Updated,
    /// When the event in its content happened.
    Event,
}

/// A test on one member of the metadata.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetadataTest {
    /// The member's name.
    pub key: String,
    /// The value it must equal; `null` also matches an absent member.
    pub equals: serde_json::Value,
}

impl Filter {
    /// Memories that happened in `[from, until)`. One whose time is unknown counts by when it was
    /// stored.
    #[must_use]
    pub fn happened(from: Option<Timestamp>, until: Option<Timestamp>) -> Self {
        let time = |field, from, until| Self::Time { field, from, until };
        let known = time(TimeField::Event, None, None);
        let stored = time(TimeField::Created, from, until);
        Self::Or(vec![
            time(TimeField::Event, from, until),
            Self::And(vec![Self::Not(Box::new(known)), stored]),
        ])
    }

    /// How many conditions and listed values the filter has.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::And(parts) | Self::Or(parts) => 1 + parts.iter().map(Self::size).sum::<usize>(),
            Self::Not(inner) => 1 + inner.size(),
            Self::Kind(listed) => 1 + listed.len(),
            Self::Type(listed) => 1 + listed.len(),
            Self::Status(listed) => 1 + listed.len(),
            Self::Source(listed) => 1 + listed.len(),
            _ => 1,
        }
    }

    /// Whether the filter says something about the status.
    #[must_use]
    pub fn mentions_status(&self) -> bool {
        match self {
            Self::And(parts) | Self::Or(parts) => parts.iter().any(Self::mentions_status),
            Self::Not(inner) => inner.mentions_status(),
            Self::Status(_) => true,
            _ => false,
        }
    }

    /// Whether a memory meets the condition: the meaning every store must keep.
    #[must_use]
    pub fn matches(&self, memory: &Memory) -> bool {
        self.meets(memory, &LazyCell::new(|| memory.lines().to_lowercase()))
    }

    /// `lower`: the memory's text in lower case, for all conditions on it.
    fn meets<F: FnOnce() -> String>(&self, memory: &Memory, lower: &LazyCell<String, F>) -> bool {
        match self {
            Self::And(all) => all.iter().all(|f| f.meets(memory, lower)),
            Self::Or(any) => any.iter().any(|f| f.meets(memory, lower)),
            Self::Not(inner) => !inner.meets(memory, lower),
            Self::Kind(all) => all.contains(&memory.kind),
            Self::Type(names) => names.iter().any(|n| n == memory.memory_type.as_str()),
            Self::Status(all) => all.contains(&memory.status),
            Self::Source(all) => all.contains(&memory.source),
            Self::Tag(tag) => memory.tags.contains(tag),
            Self::Metadata(test) => {
                memory.metadata.get(&test.key).unwrap_or(&serde_json::Value::Null) == &test.equals
            }
            Self::Text(text) => lower.contains(&text.to_lowercase()),
            Self::Importance(how, value) => how.holds(memory.importance.into(), (*value).into()),
            Self::Confidence(how, value) => {
                memory.confidence.is_some_and(|known| how.holds(known.into(), (*value).into()))
            }
            Self::Time { field, from, until } => field.of(memory).is_some_and(|time| {
                from.is_none_or(|from| time >= from) && until.is_none_or(|until| time < until)
            }),
            Self::Session(id) => memory.session_id.as_ref() == Some(id),
            Self::Project(id) => memory.project_id.as_ref() == Some(id),
            Self::Entity(name) => {
                let key = entity_key(name);
                memory.entity_names().any(|other| entity_key(other) == key)
            }
        }
    }
}

impl TimeField {
    /// That time of a memory, where known.
    #[must_use]
    pub fn of(self, memory: &Memory) -> Option<Timestamp> {
        match self {
            Self::Created => Some(memory.created_at),
            Self::Updated => Some(memory.updated_at),
            Self::Event => memory.event_time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{MemoryId, MemoryType, Owner};

    #[test]
    fn what_happened_at_an_unknown_time_counts_by_when_it_was_stored() {
        let day = |day: i8| -> Timestamp { format!("2026-04-{day:02}T00:00:00Z").parse().unwrap() };
        let mut memory = Memory::new(
            MemoryId::fresh(),
            Owner::of_user("u").unwrap(),
            MemoryType::new(MemoryType::SEMANTIC),
            "a",
            Source::ExplicitUserInput,
            day(10),
        );
        let within = |memory: &Memory, from, until| {
            Filter::happened(Some(day(from)), Some(day(until))).matches(memory)
        };
        assert!(within(&memory, 10, 11) && !within(&memory, 9, 10));
        memory.event_time = Some(day(2));
        assert!(within(&memory, 2, 3) && !within(&memory, 10, 11));
        assert!(Filter::happened(None, None).matches(&memory));
    }
}
