//! Errors of the API, always in OpenAI's error shape.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};

use memgate_capture::ForgetError;
use memgate_core::memory::StoreError;
use memgate_recall::RecallError;
use memgate_sqlite::DatabaseError;

/// An error and its status.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// The HTTP status.
    pub status: StatusCode,
    /// Description for people.
    pub message: String,
    /// The field that caused the error.
    pub param: Option<String>,
    /// Machine-readable cause.
    pub code: String,
    /// Seconds after which the caller may try again.
    pub retry_after: Option<u32>,
}

/// The body of an error.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ErrorBody {
    /// The error.
    pub error: ErrorDetail,
}

/// The content of [`ErrorBody`].
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ErrorDetail {
    /// Description for people.
    pub message: String,
    /// `invalid_request_error` for mistakes of the caller, else `api_error`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The field that caused the error.
    pub param: Option<String>,
    /// Machine-readable cause.
    pub code: String,
}

impl ApiError {
    pub(super) fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        let retry_after = (status == StatusCode::SERVICE_UNAVAILABLE).then_some(1);
        Self { status, message: message.into(), param: None, code: code.to_owned(), retry_after }
    }

    /// 400: the value of a field is invalid.
    pub(super) fn invalid(param: &str, cause: impl std::fmt::Display) -> Self {
        Self {
            param: Some(param.to_owned()),
            ..Self::new(StatusCode::BAD_REQUEST, "invalid_value", format!("{param}: {cause}"))
        }
    }

    /// 404: it does not exist, or belongs to another user.
    pub(super) fn no_such(what: &str) -> Self {
        let message = format!("this user has no such {what}");
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    /// 404: the trail has no such record, or it belongs to a user out of reach.
    pub(super) fn not_in_trail(what: &str) -> Self {
        let message = format!(
            "no such {what} in the trail; a running memgate keeps the latest ones in memory (memory.trail.requests)"
        );
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    /// 412: `If-Match` names another version.
    pub(super) fn not_the_version(found: u32) -> Self {
        let message = format!("If-Match: version {found} is stored");
        Self {
            param: Some("If-Match".to_owned()),
            ..Self::new(StatusCode::PRECONDITION_FAILED, "precondition_failed", message)
        }
    }

    /// 503: the data folder is not open yet.
    pub(super) fn not_open() -> Self {
        let message = "the store is not open yet; try again later";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "store_unavailable", message)
    }

    /// 503: background work was interrupted because memgate is shutting down.
    pub(super) fn interrupted() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "interrupted", "memgate is shutting down")
    }

    /// 503: too many long texts are worked on.
    pub(super) fn texts_busy() -> Self {
        let message = "too many long texts are being checked; try again later";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message)
    }

    /// 500: a bug in memgate.
    pub(super) fn internal() -> Self {
        let message = "memgate failed to answer this request; its log has the place of the bug";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", message)
    }

    /// The body as REST sends it and the command line prints it.
    #[must_use]
    pub fn body(&self) -> ErrorBody {
        let kind =
            if self.status.is_client_error() { "invalid_request_error" } else { "api_error" };
        ErrorBody {
            error: ErrorDetail {
                message: self.message.clone(),
                kind: kind.to_owned(),
                param: self.param.clone(),
                code: self.code.clone(),
            },
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        match error {
            StoreError::NotFound => Self::no_such("memory"),
            StoreError::Exists => Self::new(StatusCode::CONFLICT, "exists", message),
            StoreError::Conflict { .. } => Self {
                param: Some("version".into()),
                ..Self::new(StatusCode::CONFLICT, "version_conflict", message)
            },
            StoreError::Invalid { field, cause } => Self::invalid(field, cause),
            StoreError::Unreadable(_) => {
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "unreadable", message)
            }
            StoreError::Busy(_) => Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message),
            StoreError::Unavailable(_) => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "store_unavailable", message)
            }
        }
    }
}

impl From<RecallError> for ApiError {
    fn from(failure: RecallError) -> Self {
        let message = failure.to_string();
        match failure {
            RecallError::Store(error) => error.into(),
            RecallError::Unavailable => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "store_unavailable", message)
            }
            RecallError::Embedding(_) | RecallError::Deadline => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "search_unavailable", message)
            }
        }
    }
}

impl From<ForgetError> for ApiError {
    fn from(error: ForgetError) -> Self {
        match error {
            ForgetError::Journal(error) => error.into(),
            ForgetError::Store(error) => error.into(),
        }
    }
}

impl From<DatabaseError> for ApiError {
    fn from(error: DatabaseError) -> Self {
        let code = match error {
            DatabaseError::Busy { .. } => "busy",
            _ => "journal_unavailable",
        };
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code, format!("the journal: {error}"))
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body())).into_response();
        let headers = response.headers_mut();
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}
