//! Preferences and wishes about every answer as JSON.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use memgate_core::memory::{Memory, Preference, PreferenceKey, preference::wording};

/// A preference.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PreferenceView {
    /// Its subject.
    #[schema(schema_with = crate::api::read::schemas::preference_key)]
    pub key: PreferenceKey,
    /// Its value.
    pub value: String,
    /// The sentence that the model reads.
    pub shown_as: String,
    /// Its project; absent for a preference of every project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// The id of the memory that holds it.
    pub memory_id: String,
    /// When it was set.
    pub updated_at: Timestamp,
}

impl PreferenceView {
    pub(in crate::api) fn of(preference: &Preference, memory: &Memory) -> Self {
        Self {
            key: preference.key(),
            value: preference.value().to_owned(),
            shown_as: wording(preference),
            project_id: memory.project_id.clone(),
            memory_id: memory.id.to_string(),
            updated_at: memory.updated_at,
        }
    }
}

/// A wish about every answer.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct WishView {
    /// The id of its memory.
    pub id: String,
    /// The user's words, which the model reads.
    pub content: String,
    /// Its project; absent for a wish of every project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// When it was said or set.
    pub said_at: Timestamp,
}

impl WishView {
    pub(in crate::api) fn of(memory: &Memory) -> Self {
        Self {
            id: memory.id.to_string(),
            content: memory.content.clone(),
            project_id: memory.project_id.clone(),
            said_at: memory.preference_said_at(),
        }
    }
}

/// What was set.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(untagged)]
pub enum SetPreferenceView {
    /// A preference.
    Preference(PreferenceView),
    /// A wish about every answer.
    Wish(WishView),
}

/// The preferences and wishes in force.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PreferencesView {
    /// The preferences, the newest first.
    pub preferences: Vec<PreferenceView>,
    /// The wishes about every answer, the newest first, where they are asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wishes: Option<Vec<WishView>>,
}
