//! The requests of the API, as JSON or query. Unknown members are refused: a misspelt `project_id`
//! must not turn "forget this project" into "forget everything".

mod access;
mod context;
mod journal;
mod members;
mod memories;
mod preferences;
mod trail;
mod transfer;

use utoipa::{
    IntoParams,
    openapi::path::{Parameter, ParameterIn},
};

pub use access::{AuditRequest, CreateKeyRequest};
pub use context::{ContextRequest, ContextTerms};
pub use journal::{
    AllJobsRequest, FlushOptions, FlushRequest, JobFilter, JobsRequest, RetryAllRequest,
    SessionsRequest,
};
pub use members::{NoMembers, Paging, Whose};
pub use memories::{
    ChangeRequest, CountRequest, CreateRequest, ForgetOptions, ForgetRequest, ListFilter,
    ListRequest, NewMemory, PatchRequest, SearchRequest, SearchTerms,
};
pub use preferences::{
    NewPreference, PreferenceScope, PreferencesRequest, SetPreferenceRequest, UnsetPreference,
    UnsetPreferenceRequest,
};
pub use trail::{Newest, RecallSummaryRequest, RecallsRequest, WhoseIfNamed, WhyRequest, WhyTerms};
pub use transfer::{ExportAllRequest, ExportRequest, ImportOptions, ImportRequest};

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
    CountRequest: Whose ListFilter;
    ForgetRequest: Whose ListFilter ForgetOptions;
    JobsRequest: Whose AllJobsRequest;
    AllJobsRequest: JobFilter Paging;
    SessionsRequest: Whose Paging;
    RecallsRequest: Whose Newest;
    PreferencesRequest: Whose PreferenceScope;
    UnsetPreferenceRequest: Whose UnsetPreference;
    ExportRequest: Whose ExportAllRequest;
    ImportRequest: Whose ImportOptions;
}
