//! An error with its place in the source. The caller writes the message.

use std::fmt;

use serde::de::{self, Unexpected};

use crate::path::Path;

/// A value that does not fit its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// For example `filter.and[0].tag`; empty for the whole tree.
    pub path: String,
    /// Line number, starting at 1, if the source has lines.
    pub line: Option<u64>,
    /// The cause.
    pub cause: Cause,
    placed: bool,
}

/// All errors that were found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errors {
    /// The first one.
    pub first: Error,
    /// The others.
    pub others: Vec<Error>,
}

impl Errors {
    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Error> {
        std::iter::once(&self.first).chain(&self.others)
    }
}

/// Cause of an error in a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The key at this path is unknown; these are known beside it.
    UnknownKey {
        /// Its name, unshortened.
        name: String,
        /// The known ones.
        known: &'static [&'static str],
    },
    /// This member is required at this path, and absent.
    Missing(&'static str),
    /// This member appears twice at this path.
    Repeated(&'static str),
    /// A value of another type.
    WrongType(Expected, Found),
    /// The right type, but out of its range.
    OutOfRange(Expected, Found),
    /// The right type, but not of the required form.
    WrongForm(Expected),
    /// A number that is infinite, or not a number.
    NotFinite,
    /// Not one of the names of an enum.
    NotOneOf {
        /// The string that was found instead, if it is one.
        written: Option<String>,
        /// The names.
        known: &'static [&'static str],
    },
    /// An enum variant must be an object with exactly one member, one of these.
    NotOneMember(&'static [&'static str]),
    /// The variant of this name needs a value: `{"name": …}`.
    BareName(String),
    /// The variant of this name has no value: it must be a string.
    NotBareName(String),
    /// A message of the type itself.
    Other(String),
}

/// A type that is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Members.
    Map,
    /// Another type, in words.
    Other(String),
}

/// The kind of a value that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// True or false.
    Bool,
    /// A whole number, 0 or more.
    Unsigned,
    /// A negative whole number.
    Signed,
    /// A number with a decimal point.
    Float,
    /// A number beyond the range of whole numbers.
    Huge,
    /// A string.
    Text,
    /// A string from a source that has only strings.
    Spelt,
    /// Nothing.
    Null,
    /// A list.
    List,
    /// Members.
    Map,
    /// Something else.
    Other,
}

impl Error {
    pub(crate) fn new(cause: Cause) -> Self {
        Self { path: String::new(), line: None, cause, placed: false }
    }

    /// The innermost place counts.
    pub(crate) fn at(self, path: Path<'_>, line: Option<u64>) -> Self {
        if self.placed {
            return self;
        }
        Self { path: path.to_string(), line, placed: true, ..self }
    }
}

impl From<Cause> for Error {
    fn from(cause: Cause) -> Self {
        Self::new(cause)
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.path, self.cause)
    }
}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Cause::Other(message.to_string()).into()
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Cause::WrongType(expected.into(), found.into()).into()
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Cause::OutOfRange(expected.into(), found.into()).into()
    }

    fn invalid_length(_: usize, expected: &dyn de::Expected) -> Self {
        Cause::WrongForm(expected.into()).into()
    }

    fn unknown_variant(written: &str, known: &'static [&'static str]) -> Self {
        Cause::NotOneOf { written: Some(written.to_owned()), known }.into()
    }

    fn missing_field(name: &'static str) -> Self {
        Cause::Missing(name).into()
    }

    fn duplicate_field(name: &'static str) -> Self {
        Cause::Repeated(name).into()
    }
}

/// Serde's name of an expected type, in plain words.
impl From<&dyn de::Expected> for Expected {
    fn from(expected: &dyn de::Expected) -> Self {
        let words = match expected.to_string().as_str() {
            "u16" => "a whole number up to 65535",
            "u32" | "u64" | "usize" => "a whole number, 0 or more",
            "f32" | "f64" => "a number",
            "a boolean" => "true or false",
            "a sequence" => "a list",
            "a timestamp string" => "a time like 2026-05-01T10:00:00Z",
            "a map" => return Self::Map,
            text if text.starts_with("struct ") => return Self::Map,
            text => return Self::Other(text.into()),
        };
        Self::Other(words.into())
    }
}

impl From<Unexpected<'_>> for Found {
    fn from(found: Unexpected<'_>) -> Self {
        match found {
            Unexpected::Bool(_) => Self::Bool,
            Unexpected::Unsigned(_) => Self::Unsigned,
            Unexpected::Signed(_) => Self::Signed,
            Unexpected::Float(value) if value.abs() > i64::MAX as f64 => Self::Huge,
            Unexpected::Float(_) => Self::Float,
            Unexpected::Str(_) => Self::Text,
            Unexpected::Unit | Unexpected::Option => Self::Null,
            Unexpected::Seq => Self::List,
            Unexpected::Map => Self::Map,
            _ => Self::Other,
        }
    }
}
