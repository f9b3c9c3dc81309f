//! A memory and everything that is known about it.

use std::{fmt, sync::Arc};

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};

use crate::memory::{MemoryId, MemoryKind, Owner, Provenance, check_id};
use memgate_text::entity::{EntityRelation, Mention};

/// The type of a memory. An open string, because deployments define their own;
/// the configured list decides which are accepted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MemoryType(String);

impl MemoryType {
    /// A fact, a preference, knowledge.
    pub const SEMANTIC: &'static str = "semantic";
    /// How something is done.
    pub const PROCEDURAL: &'static str = "procedural";
    /// An event: a turn, or the summary of a session.
    pub const EPISODIC: &'static str = "episodic";
    /// A long answer of the assistant, whole. A search finds it only where that is asked for.
    pub const ANSWER: &'static str = "answer";
    /// A lesson about the assistant's own work.
    pub const REFLECTIVE: &'static str = "reflective";
    /// The types every deployment has, besides answers.
    pub const BUILT_IN: [&'static str; 4] =
        [Self::SEMANTIC, Self::PROCEDURAL, Self::EPISODIC, Self::REFLECTIVE];

    /// A type by its name.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MemoryType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a memory comes from.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The user said so.
    ExplicitUserInput,
    /// Concluded from what the user said.
    ImplicitInference,
    /// Made by memgate itself, a summary for example.
    SystemGenerated,
    /// Brought in from outside: REST, import, documents.
    ExternalData,
    /// A correction of an earlier memory.
    CorrectedMemory,
}

/// Whether a memory may be presented.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// In use.
    #[default]
    Active,
    /// Replaced by a newer memory; history only.
    Superseded,
    /// In use, but it contradicts another one and somebody should look.
    Review,
    /// Held back by the screening.
    Quarantined,
    /// Put away by upkeep.
    Archived,
    /// The user asked to forget it: hidden, and erased when the grace is over.
    Forgotten,
}

impl Source {
    /// Every source.
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The name stored and sent.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The source of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

impl Status {
    /// Every status.
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The name stored and sent.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The status of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// Whether such a memory may be presented.
    #[must_use]
    pub fn is_in_use(self) -> bool {
        matches!(self, Self::Active | Self::Review)
    }
}

/// Who besides the owner may read a memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Visibility {
    /// Nobody.
    #[default]
    Private,
    /// The named users and roles of the same tenant.
    Shared {
        /// User ids.
        #[serde(default)]
        users: Vec<String>,
        /// Role names.
        #[serde(default)]
        roles: Vec<String>,
    },
    /// Everyone of the same tenant.
    Public,
}

impl Visibility {
    /// Maximum number of users, and of roles, that a memory is shared with.
    pub const MAX_READERS: usize = 64;

    /// Checks the readers.
    ///
    /// # Errors
    /// The field and the cause, when an id is invalid, or there are too many, or none.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        let Self::Shared { users, roles } = self else { return Ok(()) };
        if users.is_empty() && roles.is_empty() {
            return Err(("visibility", "shared needs users or roles".to_owned()));
        }
        for (field, ids) in [("visibility.users", users), ("visibility.roles", roles)] {
            if ids.len() > Self::MAX_READERS {
                let cause = format!("must have at most {} entries", Self::MAX_READERS);
                return Err((field, cause));
            }
            let invalid = ids.iter().find_map(|id| check_id(id).err());
            invalid.map_or(Ok(()), |cause| Err((field, cause.to_string())))?;
        }
        Ok(())
    }
}

/// A directed link to another memory of the same owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relation {
    /// Meaning of the link, `related_to` for example.
    #[serde(rename = "type")]
    pub kind: String,
    /// The other memory.
    pub target: MemoryId,
}

impl Relation {
    /// From the summary of a session to the memory of a turn that it sums up.
    pub const SUMMARY_OF: &'static str = "summary_of";
    /// From a memory to one that it replaces.
    pub const SUPERSEDES: &'static str = "supersedes";
    /// From a superseded memory to the one that holds in its place.
    pub const SUPERSEDED_BY: &'static str = "superseded_by";
    /// Between two memories that cannot both hold, while nobody has decided which one does.
    pub const CONTRADICTS: &'static str = "contradicts";
    /// Between two memories of one batch, or of one entity.
    pub const RELATED_TO: &'static str = "related_to";

    /// A link of this kind.
    #[must_use]
    pub fn new(kind: &str, target: MemoryId) -> Self {
        Self { kind: kind.to_owned(), target }
    }
}

/// A memory. `None` means unknown, never "default".
///
/// As JSON it stands in files that go from one memgate to another, whole: what is unknown is left
/// out, and a member that this version does not know is refused, since it would be lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Unique within the owner.
    pub id: MemoryId,
    /// Whose it is.
    pub owner: Owner,
    /// Its kind.
    pub kind: MemoryKind,
    /// Its type.
    #[serde(rename = "type")]
    pub memory_type: MemoryType,
    /// A finer kind within the type: preference, profile, task, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub_type: Option<String>,
    /// The text of the memory; of a turn the user's side.
    pub content: String,
    /// The assistant's side of a turn, where it says something; no other memory has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// The user's own words, where the content is a rewording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// A machine-readable form of the content.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub structured: Option<serde_json::Value>,
    /// Scope: the project; `None` belongs to every project of the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// Scope: the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Scope: the session it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The others who may read it.
    pub visibility: Visibility,
    /// Where it comes from.
    pub source: Source,
    /// Whether it may be presented.
    pub status: Status,
    /// How much it matters, 0 to 1.
    pub importance: f32,
    /// How sure it is, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f32>,
    /// Free labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Free members, an object.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub metadata: serde_json::Map<String, serde_json::Value>,
    /// 1 when new; each update adds one.
    pub version: u32,
    /// How often it was presented.
    pub access_count: u64,
    /// When it was last presented.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_accessed_at: Option<Timestamp>,
    /// Score left by upkeep's decay, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decay_score: Option<f32>,
    /// When the event in its content happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_time: Option<Timestamp>,
    /// True from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// True until.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
    /// Out of every read from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The document it was cut from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document_id: Option<String>,
    /// Its place in that document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk: Option<u32>,
    /// Links to other memories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<Relation>,
    /// Who and what it speaks of, as it is written there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<Mention>,
    /// How these stand to one another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entity_relations: Vec<EntityRelation>,
    /// Its origin.
    #[serde(default, skip_serializing_if = "Provenance::is_empty")]
    pub provenance: Provenance,
    /// When the first version was written.
    pub created_at: Timestamp,
    /// When this version was written.
    pub updated_at: Timestamp,
}

/// Distinguishes `null` from an absent member.
fn given<'de, D: Deserializer<'de>>(from: D) -> Result<Option<serde_json::Value>, D::Error> {
    serde_json::Value::deserialize(from).map(Some)
}

impl Memory {
    /// The first of the times of what has happened that is later than `latest`: when the memory was made, changed, presented
    /// or said.
    #[must_use]
    pub fn dated_after(&self, latest: Timestamp) -> Option<&'static str> {
        [
            ("created_at", Some(self.created_at)),
            ("updated_at", Some(self.updated_at)),
            ("last_accessed_at", self.last_accessed_at),
            ("provenance.said_at", self.provenance.said_at),
        ]
        .into_iter()
        .find_map(|(field, time)| time.filter(|time| *time > latest).map(|_| field))
    }

    /// Whether the memory is out of every read.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }

    /// Whether the memory may be presented.
    #[must_use]
    pub fn is_in_use(&self, now: Timestamp) -> bool {
        self.status.is_in_use() && !self.is_expired(now)
    }

    /// The names of all it speaks of, those included that only its relations name. One that is
    /// named twice comes twice.
    pub fn entity_names(&self) -> impl Iterator<Item = &str> {
        let related = self.entity_relations.iter();
        let ends = related.flat_map(|relation| [&*relation.subject, &*relation.object]);
        self.mentions.iter().map(|mention| &*mention.name).chain(ends)
    }

    /// The member of the metadata that names who said it, where that was another person than the owner.
    pub const SPEAKER: &'static str = "speaker";

    /// The member of the metadata that names the time from which it may no longer hold, because the user told something then
    /// that may have changed it.
    const MAY_HAVE_CHANGED: &'static str = "may_have_changed";

    /// The time from which it may no longer hold, where there is a doubt.
    #[must_use]
    pub fn may_have_changed(&self) -> Option<Timestamp> {
        self.metadata.get(Self::MAY_HAVE_CHANGED)?.as_str()?.parse().ok()
    }

    /// Notes that it may no longer hold from this time on; `None` ends the doubt.
    pub fn set_may_have_changed(&mut self, since: Option<Timestamp>) {
        match since {
            Some(since) => {
                let since = serde_json::Value::String(since.to_string());
                self.metadata.insert(Self::MAY_HAVE_CHANGED.to_owned(), since);
            }
            None => {
                self.metadata.remove(Self::MAY_HAVE_CHANGED);
            }
        }
    }

    /// Who said it, where that was another person than the owner.
    #[must_use]
    pub fn speaker(&self) -> Option<&str> {
        self.metadata.get(Self::SPEAKER)?.as_str()
    }

    /// Notes that another person than the owner said it.
    pub fn set_speaker(&mut self, name: Option<&str>) {
        if let Some(name) = name {
            self.metadata.insert(Self::SPEAKER.to_owned(), name.into());
        }
    }

    /// The importance of a memory nobody rated.
    pub const DEFAULT_IMPORTANCE: f32 = 0.5;
    /// The importance of a turn in which nothing was found that is worth keeping: a request, small talk, pasted text.
    pub const IDLE_IMPORTANCE: f32 = 0.1;

    /// A new, private, active statement; the rest is set field by field.
    #[must_use]
    pub fn new(
        id: MemoryId,
        owner: Owner,
        memory_type: MemoryType,
        content: impl Into<String>,
        source: Source,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            owner,
            kind: MemoryKind::Statement,
            memory_type,
            sub_type: None,
            content: content.into(),
            reply: None,
            raw: None,
            structured: None,
            project_id: None,
            agent_id: None,
            session_id: None,
            visibility: Visibility::Private,
            source,
            status: Status::Active,
            importance: Self::DEFAULT_IMPORTANCE,
            confidence: None,
            tags: Vec::new(),
            metadata: serde_json::Map::new(),
            version: 1,
            access_count: 0,
            last_accessed_at: None,
            decay_score: None,
            event_time: None,
            valid_from: None,
            valid_until: None,
            expires_at: None,
            document_id: None,
            chunk: None,
            relations: Vec::new(),
            mentions: Vec::new(),
            entity_relations: Vec::new(),
            provenance: Provenance::default(),
            created_at: now,
            updated_at: now,
        }
    }
}

/// One vector of a memory. A memory may have several in one space: a turn has
/// one for the user's words and one for the reply, a long text one a window.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    /// The embedding space: model, dimension, pooling and prefixes in one name.
    pub space: Arc<str>,
    /// Which part of the memory this is, from 0.
    pub part: u16,
    /// L2-normalised values.
    pub values: Arc<[f32]>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_sources_and_states_are_those_on_the_wire() {
        for &source in Source::ALL {
            assert_eq!(serde_json::to_value(source).unwrap(), source.name());
            assert_eq!(Source::from_name(source.name()), Some(source));
        }
        for &status in Status::ALL {
            assert_eq!(serde_json::to_value(status).unwrap(), status.name());
            assert_eq!(Status::from_name(status.name()), Some(status));
        }
        assert_eq!((Source::from_name("?"), Status::from_name("")), (None, None));
    }
}
