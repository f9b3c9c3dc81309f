//! Failures of commands: a message for people, REST's error body for programs, and the exit status.

use std::process::ExitCode;

use crate::{
    api::{ApiError, ErrorBody, ErrorDetail},
    startup::StartError,
};
use memgate_config::ConfigError;
use memgate_sqlite::FolderError;

/// Exit status for invalid arguments or values.
const USAGE: u8 = 2;
/// Exit status of other failures.
const FAILED: u8 = 1;
/// REST's status for an invalid field.
const BAD_REQUEST: u16 = 400;
/// REST's status for a missing or wrong key.
const UNAUTHORIZED: u16 = 401;

/// A failed command.
#[derive(Debug)]
pub(super) struct Failure {
    exit: u8,
    message: String,
    /// The error body, as a server sent it or would have.
    body: Vec<u8>,
    held: bool,
}

impl Failure {
    /// A failure that is not caused by an invalid argument. `code` is for programs.
    pub(super) fn new(code: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        let detail = ErrorDetail {
            message: message.clone(),
            kind: "api_error".into(),
            param: None,
            code: code.into(),
        };
        let body = serde_json::to_vec(&ErrorBody { error: detail }).unwrap_or_default();
        Self { exit: FAILED, message, body, held: false }
    }

    /// A REST error response with its body.
    pub(super) fn refused(status: u16, error: &ErrorDetail, body: Vec<u8>) -> Self {
        let exit = if status == BAD_REQUEST { USAGE } else { FAILED };
        let mut message = told(error);
        if status == UNAUTHORIZED {
            message.push_str(
                "; the command line reads it from MEMGATE_KEY, else from the environment variable named in api.key_env",
            );
        }
        Self { exit, message, body, held: false }
    }

    /// Whether another process holds the data folder.
    pub(super) fn is_held(&self) -> bool {
        self.held
    }

    /// The message for people.
    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// The error body for programs.
    pub(super) fn body(&self) -> &[u8] {
        &self.body
    }

    /// The status to end with.
    pub(super) fn exit_code(&self) -> ExitCode {
        self.exit.into()
    }
}

/// REST's message, with the field's name on the command line.
fn told(error: &ErrorDetail) -> String {
    let ErrorDetail { message, param, .. } = error;
    let Some(param) = param.as_deref() else { return message.clone() };
    let argument = match param {
        "user_id" => "--user",
        "tenant_id" => "--tenant",
        "project_id" => "--project",
        "type" | "types" => "--type",
        "tags" => "--tag",
        "limit" => "--limit",
        "cursor" => "--cursor",
        "after" => "--resume",
        "threshold" => "--threshold",
        "since" => "--since",
        "importance" => "--importance",
        "content" => "TEXT",
        "query" => "QUERY",
        "wish" => "WISH",
        _ => return message.clone(),
    };
    let cause = message.strip_prefix(param).and_then(|rest| rest.strip_prefix(": "));
    format!("{argument}: {}", cause.unwrap_or(message))
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        let body = error.body();
        let bytes = serde_json::to_vec(&body).unwrap_or_default();
        Self::refused(error.status.as_u16(), &body.error, bytes)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::new("invalid_configuration", error.to_string())
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Folder(error) => error.into(),
            other => Self::new("cannot_start", other.to_string()),
        }
    }
}

impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Self {
        let held = matches!(error, FolderError::Held { .. });
        let code = if held { "data_folder_in_use" } else { "data_folder_unusable" };
        Self { held, ..Self::new(code, error.to_string()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail(message: &str, param: Option<&str>) -> ErrorDetail {
        ErrorDetail {
            message: message.into(),
            kind: "invalid_request_error".into(),
            param: param.map(str::to_owned),
            code: "invalid_value".into(),
        }
    }

    #[test]
    fn errors_use_the_names_of_the_command_line() {
        for (message, param, expected) in [
            ("limit: must be 1", Some("limit"), "--limit: must be 1"),
            ("user_id: must not be empty", Some("user_id"), "--user: must not be empty"),
            ("content: must not be empty", Some("content"), "TEXT: must not be empty"),
            ("wish: must be short", Some("wish"), "WISH: must be short"),
            ("version: is 3", Some("version"), "version: is 3"),
            ("no such memory", None, "no such memory"),
        ] {
            assert_eq!(told(&detail(message, param)), expected);
        }
    }

    #[test]
    fn an_invalid_field_is_a_usage_error_and_everything_else_a_failure() {
        let exit = |status| Failure::refused(status, &detail("m", None), Vec::new()).exit;
        assert_eq!([400, 401, 404, 503].map(exit), [USAGE, FAILED, FAILED, FAILED]);
        assert_eq!(Failure::new("x", "y").exit, FAILED);
    }

    #[test]
    fn every_failure_has_an_error_body() {
        let failure = Failure::new("data_folder_in_use", "in use");
        let expected = br#"{"error":{"message":"in use","type":"api_error","param":null,"code":"data_folder_in_use"}}"#;
        assert_eq!(failure.body(), expected);
    }
}
