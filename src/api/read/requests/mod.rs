//! The requests of the API, as JSON or query. Unknown members are refused: a misspelt `project_id`
//! must not turn "forget this project" into "forget everything".

mod access;
mod journal;
mod memories;
mod preferences;
mod transfer;

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::{
    IntoParams,
    openapi::path::{Parameter, ParameterIn},
};

use crate::api::ApiError;
use memgate_core::memory::Owner;

pub use access::{AuditRequest, CreateKeyRequest};
pub use journal::{
    AllJobsRequest, FlushOptions, FlushRequest, JobFilter, JobsRequest, RetryAllRequest,
    SessionsRequest,
};
pub use memories::{
    ChangeRequest, CreateRequest, ForgetFilter, ForgetRequest, ListFilter, ListRequest, NewMemory,
    PatchRequest, SearchRequest, SearchTerms,
};
pub use preferences::{
    NewPreference, PreferenceScope, PreferencesRequest, SetPreferenceRequest, UnsetPreference,
    UnsetPreferenceRequest,
};
pub use transfer::{ExportAllRequest, ExportRequest};

/// The user whose memories are meant.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Whose {
    /// The user's id.
    pub user_id: String,
    /// The tenant's id. Default: `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
}

impl Whose {
    /// The owner for the two ids.
    ///
    /// # Errors
    /// 400 when one of them is invalid.
    pub fn owner(&self) -> Result<Owner, ApiError> {
        let tenant = self.tenant_id.as_deref().unwrap_or(Owner::DEFAULT_TENANT);
        Owner::of_user(&self.user_id).map_err(|cause| ApiError::invalid("user_id", cause))?;
        Owner::new(tenant, &self.user_id).map_err(|cause| ApiError::invalid("tenant_id", cause))
    }
}

/// A page of a list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Paging {
    /// Maximum number of items, 1 to 100. Default: 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A request without members.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, IntoParams)]
pub struct NoMembers {}

/// Describes flattened requests by their parts, because `derive(IntoParams)` does not know `flatten`.
macro_rules! described_by_parts {
    ($($request:ident: $($part:ident)+;)+) => {$(
        impl IntoParams for $request {
            fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
                [$($part::into_params(&place)),+].concat()
            }
        }
    )+};
}

described_by_parts! {
    ListRequest: Whose ListFilter Paging;
    ForgetRequest: Whose ForgetFilter;
    JobsRequest: Whose AllJobsRequest;
    AllJobsRequest: JobFilter Paging;
    SessionsRequest: Whose Paging;
    PreferencesRequest: Whose PreferenceScope;
    UnsetPreferenceRequest: Whose UnsetPreference;
    ExportRequest: Whose ExportAllRequest;
}

/// Accepts `null` for the default.
fn or_default<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    Option::deserialize(from).map(Option::unwrap_or_default)
}

/// Distinguishes `null` from absent.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}
