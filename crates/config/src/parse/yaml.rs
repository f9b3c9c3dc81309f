//! Parses YAML into a tree of values with line numbers.

use memgate_located::{Key, Node, Value};
use serde::Deserialize;
use serde_saphyr::{Error, NonFiniteFloatPolicy, Spanned, options};

use crate::parse::problem::{Place, Problem};

/// Parses one YAML document; `None` if it is empty.
pub(crate) fn parse(text: &str) -> Result<Option<Node>, Problem> {
    let options = options! {
        strict_booleans: true,
        with_snippet: false,
        // Non-finite numbers are refused later, where the key is known.
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
    };
    match serde_saphyr::from_str_with_options::<Option<Spanned<Raw>>>(text, options) {
        Ok(root) => Ok(root.map(node)),
        Err(error) => Err(syntax(&error)),
    }
}

fn syntax(error: &Error) -> Problem {
    let place = error.location().map(|location| Place::Line(location.line()));
    let text = error.without_snippet().to_string();
    // The parser appends its own position to the message; ours is printed before it.
    let cause = text.split(" at line ").next().unwrap_or(&text);
    if cause.contains("DuplicateKeyPolicy") {
        let cause = "not valid YAML: a key is repeated in its section";
        return Problem { place, ..Problem::new("", cause) };
    }
    Problem { place, ..Problem::new("", format!("not valid YAML: {cause}")) }
}

/// A value as the parser returns it.
#[derive(Deserialize)]
#[serde(transparent)]
struct Raw(Value<Spanned<String>, Spanned<Raw>>);

fn node(raw: Spanned<Raw>) -> Node {
    let value = match raw.value.0.map(key, node) {
        Value::Null => Value::Empty,
        // No key accepts more than an `i64` holds; the error is reported where the key is known.
        Value::Unsigned(value) if i64::try_from(value).is_err() => Value::Float(value as f64),
        value => value,
    };
    Node { line: Some(raw.referenced.line()), value }
}

fn key(raw: Spanned<String>) -> Key {
    Key { line: Some(raw.referenced.line()), name: raw.value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_knows_its_line() {
        let node = parse("a: 1\nb:\n  - c: x\n  - c: y\n    d: [1,\n 2]\n").unwrap().unwrap();
        assert_eq!(node.line_of("a"), Some(1));
        assert_eq!(node.line_of("b[0].c"), Some(3));
        assert_eq!(node.line_of("b[1].d"), Some(5));
        assert_eq!(node.line_of("b[1].missing"), Some(4));
    }

    #[test]
    fn a_file_with_only_comments_is_empty() {
        assert!(parse("# nothing here\n").unwrap().is_none());
        assert!(parse("").unwrap().is_none());
    }

    #[test]
    fn refuses_invalid_yaml_and_duplicate_keys_with_their_line() {
        let problem = parse("a: 1\nb: [1\nc: 2\n").unwrap_err();
        assert!(problem.place.is_some(), "{problem}");
        let problem = parse("a: 1\nb: 2\na: 3\n").unwrap_err();
        assert_eq!(problem.cause, "not valid YAML: a key is repeated in its section");
        assert_eq!(problem.place, Some(Place::Line(3)), "{problem}");
    }
}
