//! The requests about the trail.

use jiff::Timestamp;
use memgate_located::flattened;
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

use crate::api::{ApiError, read::requests::common::Whose};
use memgate_core::memory::Owner;

/// The user whose record it is, where the caller names one. An id alone is enough for a caller who can reach its user.
#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct WhoseIfNamed {
    /// The user's id. Default: any user within reach of the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The tenant's id. Default: any tenant within reach of the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
}

impl WhoseIfNamed {
    /// Whether an owner may be meant.
    ///
    /// # Errors
    /// 400 when an id is invalid.
    pub fn means(&self) -> Result<impl Fn(&Owner) -> bool, ApiError> {
        let Self { user_id, tenant_id } = self;
        if let Some(user_id) = user_id {
            Whose::user(user_id, tenant_id.clone()).owner()?;
        }
        Ok(|owner: &Owner| {
            user_id.as_deref().is_none_or(|user| Some(user) == owner.user())
                && tenant_id.as_ref().is_none_or(|tenant| tenant == owner.tenant())
        })
    }
}

flattened! {
    /// `GET /v1/recalls`.
    #[derive(Clone, Debug, Serialize)]
    pub struct RecallsRequest {
        /// The user.
        pub whose: Whose,
        /// How many.
        pub newest: Newest,
    }
}

/// How many records are wanted.
#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Newest {
    /// Maximum number of items, 1 to 100. Default: 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// `GET /admin/recalls/summary`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct RecallSummaryRequest {
    /// Only requests of this time or later. Default: those of the last hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}

flattened! {
    /// `POST /v1/memory/why`.
    #[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
    pub struct WhyRequest {
        /// The user.
        pub whose: Whose,
        /// The fact that should have been remembered.
        pub why: WhyTerms,
    }
}

/// The question of a [`WhyRequest`].
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct WhyTerms {
    /// The text that should have been remembered, in about the words in which it was said.
    pub text: String,
    /// The request in which it was missed. Default: the user's latest ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The question for which it was missed, searched anew. Default: what the trail knows of the requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
}
