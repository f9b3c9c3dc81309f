//! Words errors about a request: which member is wrong, and what it must be.

use axum::http::StatusCode;
use memgate_located::{Cause, Error, Errors, Expected, Found, join};

use crate::api::ApiError;

/// A response names one error, the first.
impl From<Errors> for ApiError {
    fn from(Errors { first: Error { path, cause, .. }, .. }: Errors) -> Self {
        let place = match cause {
            Cause::Missing(name) | Cause::Repeated(name) => join(&path, name),
            _ => path,
        };
        let cause = words(cause);
        if place.is_empty() {
            let message = format!("the body {cause}");
            return Self::new(StatusCode::BAD_REQUEST, "invalid_value", message);
        }
        Self::invalid(&place, cause)
    }
}

fn words(cause: Cause) -> String {
    match cause {
        Cause::UnknownKey { known: [], .. } => {
            "is unknown; no members are expected here".to_owned()
        }
        Cause::UnknownKey { known, .. } => {
            format!("is unknown; must be one of {}", known.join(", "))
        }
        Cause::Missing(_) => "is required".to_owned(),
        Cause::Repeated(_) => "must not be repeated".to_owned(),
        Cause::OutOfRange(_, Found::Unsigned) => "is too large".to_owned(),
        // In a query every value is a string.
        Cause::WrongType(expected, Found::Spelt)
        | Cause::OutOfRange(expected, _)
        | Cause::WrongForm(expected) => format!("must be {}", plain(expected)),
        Cause::WrongType(expected, found) => {
            format!("must be {}, not {}", plain(expected), kind(found))
        }
        Cause::NotFinite => "must be a finite number".to_owned(),
        Cause::NotOneOf { known, .. } => format!("must be one of {}", known.join(", ")),
        Cause::NotOneMember(known) => {
            format!("must have exactly one member, one of {}", known.join(", "))
        }
        Cause::BareName(name) => format!("must be an object: {{\"{name}\": …}}"),
        Cause::NotBareName(name) => format!("must be the string \"{name}\""),
        Cause::Other(message) => message,
    }
}

fn plain(expected: Expected) -> String {
    match expected {
        Expected::Map => "an object".to_owned(),
        Expected::Other(words) => words,
    }
}

fn kind(found: Found) -> &'static str {
    match found {
        Found::Bool => "true or false",
        Found::Unsigned | Found::Signed => "a number",
        Found::Float | Found::Huge => "a number with a decimal point",
        Found::Text | Found::Spelt => "a string",
        Found::Null => "null",
        Found::List => "a list",
        Found::Map => "an object",
        Found::Other => "something else",
    }
}
