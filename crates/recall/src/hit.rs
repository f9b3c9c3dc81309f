//! A hit: a memory with its relevance, and the breakdown of its relevance and of its place in the order.

use serde::{Deserialize, Serialize};

use memgate_core::{
    fence::marks,
    memory::{Memory, MemoryId, Owner, Space},
};

/// A memory that was found, with its relevance.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The memory.
    pub memory: Memory,
    /// The scope of its owner, as the request sees it.
    pub scope: HitScope,
    /// Calibrated relevance, 0 to 1; means the same in every store.
    pub score: f32,
    /// The parts of its score and of its place in the order.
    pub breakdown: ScoreBreakdown,
}

/// The scope of a memory, as a request sees it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum HitScope {
    /// The user's own, of another session or of none.
    #[default]
    User,
    /// A memory of the request's session.
    Session,
    /// The agent's.
    Agent,
    /// The organisation's.
    Organisation,
    /// Another user's, who shares it.
    Shared,
}

impl HitScope {
    /// The scopes of the user's own memories.
    pub(crate) const OWN: &[Self] = &[Self::User, Self::Session];

    /// The scope of a memory for this owner in this session.
    #[must_use]
    pub fn of(memory: &Memory, asks: &Owner, session: Option<&str>) -> Self {
        match memory.owner.space() {
            Space::Session(_) => Self::Session,
            Space::Agent(_) => Self::Agent,
            Space::Organisation => Self::Organisation,
            Space::User(_) if memory.owner != *asks => Self::Shared,
            Space::User(_) if session.is_some() && memory.session_id.as_deref() == session => {
                Self::Session
            }
            Space::User(_) => Self::User,
        }
    }

    /// Whether it is the user's own.
    pub(crate) fn is_own(self) -> bool {
        Self::OWN.contains(&self)
    }

    /// The mark in a context that says whose a memory is; none for the user's own.
    pub(crate) fn mark(self) -> Option<&'static str> {
        match self {
            Self::User | Self::Session => None,
            Self::Agent => Some(marks::AGENT),
            Self::Organisation => Some(marks::ORGANISATION),
            Self::Shared => Some(marks::SHARED),
        }
    }
}

/// The parts of a hit's score and of its place in the order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScoreBreakdown {
    /// Cosine of the query and the best part of the memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cosine: Option<f32>,
    /// The cosine less the best cosine of all candidates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<f32>,
    /// Which part of the memory that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<u16>,
    /// Part of the query's weight in rare words that was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<f32>,
    /// BM25 over the owner's memories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bm25: Option<f32>,
    /// How long the user's words of a turn are, up to 1 for a sentence; 1 for other memories.
    pub length: f32,
    /// BM25 of the memory and the one said just before it, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<f32>,
    /// Whether it was found for a part of the question, better than for the whole.
    #[serde(default)]
    pub of_part: bool,
    /// Whether the question asks for the assistant's words: then the reply of a turn is shown.
    #[serde(default)]
    pub replies: bool,
    /// The contribution of each feature to the relevance. Features order hits; they do not decide
    /// whether one passes.
    #[serde(default, rename = "added")]
    pub features: FeatureScores,
    /// The sum of the features, in log-odds.
    #[serde(default, rename = "context")]
    pub boost: f32,
    /// The ranks that were fused, where the order is by ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<FeatureRanks>,
    /// The value by which hits are ordered, the highest first: the relevance in log-odds and
    /// `boost`, or the sum over `ranks`. With `features.self_query`, the best of what was found
    /// without it go first.
    #[serde(default)]
    pub order: f32,
}

/// The contribution of each feature, in log-odds; 0 where it is absent or switched off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FeatureScores {
    /// The query's words, in it or just before it.
    #[serde(skip_serializing_if = "is_nothing")]
    pub window: f32,
    /// The best memories of its session.
    #[serde(skip_serializing_if = "is_nothing")]
    pub session: f32,
    /// Somebody said it whom the query names.
    #[serde(skip_serializing_if = "is_nothing")]
    pub speaker: f32,
    /// It was said at a time that the query names.
    #[serde(skip_serializing_if = "is_nothing")]
    pub date: f32,
    /// It meets what a model read out of the query.
    #[serde(skip_serializing_if = "is_nothing")]
    pub self_query: f32,
    /// It is new.
    #[serde(skip_serializing_if = "is_nothing")]
    pub recency: f32,
    /// It matters.
    #[serde(skip_serializing_if = "is_nothing")]
    pub importance: f32,
    /// Its type.
    #[serde(rename = "type", skip_serializing_if = "is_nothing")]
    pub kind: f32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_nothing(value: &f32) -> bool {
    *value == 0.0
}

impl FeatureScores {
    /// Each feature with its name.
    #[must_use]
    pub fn named(&self) -> [(&'static str, f32); 8] {
        [
            ("window", self.window),
            ("session", self.session),
            ("speaker", self.speaker),
            ("date", self.date),
            ("self_query", self.self_query),
            ("recency", self.recency),
            ("importance", self.importance),
            ("type", self.kind),
        ]
    }

    /// The sum of all features.
    #[must_use]
    pub fn sum(&self) -> f32 {
        self.named().iter().map(|(_, value)| value).sum()
    }
}

/// The ranks of a hit by each kind of evidence alone, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeatureRanks {
    /// By cosine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cosine: Option<u16>,
    /// By the words in it and just before it.
    #[serde(default, rename = "words", skip_serializing_if = "Option::is_none")]
    pub lexical: Option<u16>,
    /// By the sum of the features.
    #[serde(rename = "context")]
    pub boost: u16,
}

/// A memory that is presented.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PresentedMemory {
    /// Its id.
    pub id: MemoryId,
    /// Why it is presented.
    #[serde(flatten)]
    pub why: Why,
}

/// Why a memory is presented.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Why {
    /// It was found.
    Found {
        /// The scope of its owner, as the request sees it.
        scope: HitScope,
        /// Its calibrated relevance, 0 to 1.
        score: f32,
        /// The parts of its score and of its place in the order.
        #[serde(rename = "parts")]
        breakdown: Box<ScoreBreakdown>,
    },
    /// It is a preference or a wish about every answer, presented whatever is asked.
    Preference,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_has_its_name_on_the_wire_and_counts() {
        let names: Vec<&str> =
            FeatureScores::default().named().iter().map(|(name, _)| *name).collect();
        let ones = names.iter().map(|name| ((*name).to_owned(), 1.0.into())).collect();
        let added: FeatureScores = serde_json::from_value(serde_json::Value::Object(ones)).unwrap();
        assert!(added.named().iter().all(|(_, value)| *value == 1.0), "{added:?}");
        assert_eq!(added.sum(), 8.0);
        let told = serde_json::to_value(added).unwrap();
        assert_eq!(told.as_object().unwrap().len(), names.len());
        assert_eq!(serde_json::to_value(FeatureScores::default()).unwrap(), serde_json::json!({}));
    }
}
