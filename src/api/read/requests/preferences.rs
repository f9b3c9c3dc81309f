//! The requests about preferences.

use memgate_located::flattened;
use serde::{Deserialize, Serialize};

use crate::api::read::requests::members::{Whose, or_default};
use memgate_core::memory::PreferenceKey;

flattened! {
    /// `GET /v1/preferences`.
    #[derive(Clone, Debug, Serialize)]
    pub struct PreferencesRequest {
        /// The user.
        pub whose: Whose,
        /// Which of the user's preferences.
        pub scope: PreferenceScope,
    }
}

/// Which preferences [`PreferencesRequest`] lists.
#[derive(Clone, Debug, Default, Serialize, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PreferenceScope {
    /// A project: lists its preferences and those without a project. Default: those without a project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// Whether the wishes about every answer are listed, too. Default: false.
    #[serde(default, deserialize_with = "or_default")]
    pub wishes: bool,
}

flattened! {
    /// `PUT /v1/preferences`.
    #[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
    pub struct SetPreferenceRequest {
        /// The user.
        pub whose: Whose,
        /// The preference or wish.
        pub preference: NewPreference,
    }
}

/// The preference of a [`SetPreferenceRequest`]: a key with its value, or a wish.
#[derive(Clone, Debug, Default, Serialize, Deserialize, utoipa::ToSchema)]
pub struct NewPreference {
    /// Its subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = crate::api::read::schemas::preference_key)]
    pub key: Option<PreferenceKey>,
    /// One of the values of the key; for `name` a name of at most 40 letters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// In place of key and value: a wish about every answer in the user's words, one sentence of at most 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wish: Option<String>,
    /// The project it belongs to. Default: none, in force in every project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
}

flattened! {
    /// `DELETE /v1/preferences`.
    #[derive(Clone, Debug, Serialize)]
    pub struct UnsetPreferenceRequest {
        /// The user.
        pub whose: Whose,
        /// Which of the user's preferences.
        pub preference: UnsetPreference,
    }
}

/// Which preferences an [`UnsetPreferenceRequest`] deletes.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct UnsetPreference {
    /// Their subject.
    #[param(schema_with = crate::api::read::schemas::preference_key)]
    pub key: PreferenceKey,
    /// The project they belong to. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
}
