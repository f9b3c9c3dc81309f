//! Turns serde's errors about unsuitable values into plain sentences.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

use crate::parse::{problem::Problem, suggest::nearest};

/// A deserialization error on its way up; line and key are filled in where they are known.
#[derive(Debug)]
pub(crate) struct DeserializeError(pub(crate) Problem);

impl DeserializeError {
    pub(crate) fn at(mut self, key: &str, line: u64) -> Self {
        if self.0.line.is_none() {
            self.0.key = key.to_owned();
            self.0.line = Some(line);
        }
        self
    }
}

impl std::error::Error for DeserializeError {}

impl fmt::Display for DeserializeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl de::Error for DeserializeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(Problem::new("", message.to_string()))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format_args!("expected {}, found {}", plain(expected), kind(found)))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format_args!("out of range for {}", plain(expected)))
    }

    fn unknown_variant(written: &str, known: &'static [&'static str]) -> Self {
        let meant = nearest(written, known.iter().copied())
            .map(|name| format!("; did you mean \"{name}\"?"))
            .unwrap_or_default();
        Self::custom(format_args!("must be one of {}{meant}", known.join(", ")))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::custom(format_args!("\"{field}\" is missing"))
    }
}

/// Serde's name of an expected type, in plain words.
fn plain(expected: &dyn Expected) -> String {
    match expected.to_string().as_str() {
        "u16" => "a whole number up to 65535".into(),
        "u32" | "u64" | "usize" => "a whole number, 0 or more".into(),
        "f32" | "f64" => "a number".into(),
        "a boolean" => "true or false".into(),
        "a sequence" => "a list".into(),
        text if text.starts_with("struct ") => "keys with values".into(),
        text => text.into(),
    }
}

fn kind(found: Unexpected<'_>) -> &'static str {
    match found {
        Unexpected::Bool(_) => "true or false",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) => "a whole number",
        Unexpected::Float(value) if value.abs() > i64::MAX as f64 => "a number that is too large",
        Unexpected::Float(_) => "a number with a decimal point",
        Unexpected::Str(_) => "a string",
        Unexpected::Unit | Unexpected::Option => "nothing",
        Unexpected::Seq => "a list",
        Unexpected::Map => "keys with values",
        _ => "something else",
    }
}
