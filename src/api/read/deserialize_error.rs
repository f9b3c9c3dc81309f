//! Errors of deserializing a request: which member is wrong, and what it must be.

use std::fmt;

use axum::http::StatusCode;
use serde::de::{self, Expected, Unexpected};

use crate::api::ApiError;

/// Maximum length of a member name quoted from the request, in characters.
const MAX_NAME: usize = 64;

/// A deserialization error on its way up to the root of the tree.
#[derive(Debug)]
pub(crate) struct DeserializeError {
    /// For example `filter.and[0].tag`; empty for the whole value.
    place: String,
    /// The cause.
    cause: String,
}

impl DeserializeError {
    pub(crate) fn new(cause: impl fmt::Display) -> Self {
        Self { place: String::new(), cause: cause.to_string() }
    }

    /// Another kind of value was expected.
    pub(crate) fn wanted(expected: &dyn Expected) -> Self {
        Self::new(format_args!("must be {}", plain(expected)))
    }

    /// Prefixes the path with a member's name.
    pub(crate) fn in_member(self, name: &str) -> Self {
        let name = match name.char_indices().nth(MAX_NAME) {
            Some((end, _)) => format!("{}…", &name[..end]),
            None => name.to_owned(),
        };
        self.within(name)
    }

    /// Prefixes the path with a list index, starting at 0.
    pub(crate) fn in_item(self, index: usize) -> Self {
        self.within(format!("[{index}]"))
    }

    fn within(self, outer: String) -> Self {
        let place = match self.place.as_str() {
            "" => outer,
            place if place.starts_with('[') => outer + place,
            place => format!("{outer}.{place}"),
        };
        Self { place, ..self }
    }
}

impl From<DeserializeError> for ApiError {
    fn from(DeserializeError { place, cause }: DeserializeError) -> Self {
        if place.is_empty() {
            let message = format!("the body {cause}");
            return Self::new(StatusCode::BAD_REQUEST, "invalid_value", message);
        }
        Self::invalid(&place, cause)
    }
}

impl std::error::Error for DeserializeError {}

impl fmt::Display for DeserializeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.cause)
    }
}

impl de::Error for DeserializeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message)
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(format_args!("must be {}, not {}", plain(expected), kind(found)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        match found {
            Unexpected::Unsigned(_) => Self::new("is too large"),
            _ => Self::wanted(expected),
        }
    }

    fn invalid_length(_: usize, expected: &dyn Expected) -> Self {
        Self::wanted(expected)
    }

    fn unknown_variant(_: &str, known: &'static [&'static str]) -> Self {
        Self::new(format_args!("must be one of {}", known.join(", ")))
    }

    fn unknown_field(name: &str, known: &'static [&'static str]) -> Self {
        let cause = match known {
            [] => "is unknown; no members are expected here".to_owned(),
            _ => format!("is unknown; must be one of {}", known.join(", ")),
        };
        Self::new(cause).in_member(name)
    }

    fn missing_field(name: &'static str) -> Self {
        Self::new("is required").in_member(name)
    }

    fn duplicate_field(name: &'static str) -> Self {
        Self::new("must not be repeated").in_member(name)
    }
}

/// Serde's name of an expected type, in plain words.
fn plain(expected: &dyn Expected) -> String {
    match expected.to_string().as_str() {
        "u32" | "u64" | "usize" => "a whole number, 0 or more".into(),
        "f32" => "a number".into(),
        "a boolean" => "true or false".into(),
        "a sequence" => "a list".into(),
        "a timestamp string" => "a time like 2026-05-01T10:00:00Z".into(),
        "a map" => "an object".into(),
        text if text.starts_with("struct ") => "an object".into(),
        text => text.into(),
    }
}

fn kind(found: Unexpected<'_>) -> &'static str {
    match found {
        Unexpected::Bool(_) => "true or false",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) => "a number",
        Unexpected::Float(_) => "a number with a decimal point",
        Unexpected::Str(_) => "a string",
        Unexpected::Unit | Unexpected::Option => "null",
        Unexpected::Seq => "a list",
        Unexpected::Map => "an object",
        _ => "something else",
    }
}
