//! Words errors about keys and values, with a suggestion for an unknown key.

use memgate_located::{Cause, Error, Errors, Expected, Found};

use crate::parse::{
    problem::{Place, Problem},
    suggest::{misplaced, nearest, renamed},
};

/// A section with more keys than this is not listed in an error; the top always is.
const FEW: usize = 8;

/// The problems, in the order in which they were met.
pub(crate) fn problems(errors: Errors, known_keys: &[String]) -> Vec<Problem> {
    let Errors { first, others } = errors;
    let problem = |Error { path, line, cause, .. }| {
        let cause = words(&path, cause, known_keys);
        Problem { key: path, place: line.map(Place::Line), cause }
    };
    std::iter::once(first).chain(others).map(problem).collect()
}

fn words(path: &str, cause: Cause, known_keys: &[String]) -> String {
    match cause {
        Cause::UnknownKey { name, known } => unknown(path, &name, known, known_keys),
        Cause::Missing(name) => format!("\"{name}\" is missing"),
        Cause::Repeated(name) => format!("\"{name}\" is a duplicate"),
        Cause::WrongType(expected, found) => {
            format!("expected {}, found {}", plain(expected), kind(found))
        }
        Cause::OutOfRange(expected, _) => format!("out of range for {}", plain(expected)),
        Cause::WrongForm(expected) => format!("must be {}", plain(expected)),
        Cause::NotFinite => "must be a finite number".to_owned(),
        Cause::NotOneOf { written, known } => {
            let meant = written.and_then(|written| nearest(&written, known.iter().copied()));
            let meant = meant.map(|name| format!("; did you mean \"{name}\"?"));
            format!("must be one of {}{}", known.join(", "), meant.unwrap_or_default())
        }
        Cause::NotOneMember(known) => format!("must be one of {}", known.join(", ")),
        Cause::BareName(name) | Cause::NotBareName(name) => format!("not valid for \"{name}\""),
        Cause::Other(message) => message,
    }
}

fn unknown(
    path: &str,
    name: &str,
    known: &'static [&'static str],
    known_keys: &[String],
) -> String {
    let section = path.rsplit_once('.').map_or("", |(section, _)| section);
    let suggestion = || {
        let sibling = nearest(name, known.iter().copied());
        sibling.or_else(|| misplaced(section, name, known_keys))
    };
    match renamed(path).or_else(suggestion) {
        Some(name) => format!("unknown key; did you mean \"{name}\"?"),
        None if section.is_empty() || (1..=FEW).contains(&known.len()) => {
            format!("unknown key; valid keys here: {}", known.join(", "))
        }
        None => "unknown key".to_owned(),
    }
}

fn plain(expected: Expected) -> String {
    match expected {
        Expected::Map => "keys with values".to_owned(),
        Expected::Other(words) => words,
    }
}

fn kind(found: Found) -> &'static str {
    match found {
        Found::Bool => "true or false",
        Found::Unsigned | Found::Signed => "a whole number",
        Found::Huge => "a number that is too large",
        Found::Float => "a number with a decimal point",
        Found::Text | Found::Spelt => "a string",
        Found::Null => "nothing",
        Found::List => "a list",
        Found::Map => "keys with values",
        Found::Other => "something else",
    }
}
