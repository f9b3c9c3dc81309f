//! Parses labelled data; errors have file, line, column and field.

use std::{fmt, fs, path::Path};

use anyhow::{Context, Result, anyhow};
use jiff::Timestamp;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error, MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::Value;

/// Reads a file as text, without a byte order mark.
///
/// # Errors
/// When it cannot be read; the error names it.
pub(super) fn text(file: &Path) -> Result<String> {
    let mut text = fs::read_to_string(file).with_context(|| format!("{}", file.display()))?;
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    Ok(text)
}

/// Parses an object that follows `before` lines of a file.
///
/// # Errors
/// When it is not a valid object: `file:line:column: field: cause`.
pub(super) fn object_of<T: DeserializeOwned>(text: &str, file: &Path, before: usize) -> Result<T> {
    let mut json = serde_json::Deserializer::from_str(text);
    let read = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let field = field(error.path());
        (field, error.into_inner())
    });
    let read = read.and_then(|Object(read)| match json.end() {
        Ok(()) => Ok(read),
        Err(error) => Err((String::new(), error)),
    });
    read.map_err(|(field, error)| {
        let (line, column) = (error.line(), error.column());
        let told = error.to_string();
        // The parser's line number refers to the text, not to the file.
        let cause = told.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&told);
        let (line, column) = (before + line.max(1), column.max(1));
        anyhow!("{}:{line}:{column}: {field}{cause}", file.display())
    })
}

/// Deserializes a part of a parsed value.
///
/// # Errors
/// When it does not match; the error names the field.
pub(super) fn part<T: DeserializeOwned>(value: Value) -> Result<T> {
    serde_path_to_error::deserialize(value)
        .map_err(|error| anyhow!("{}{}", field(error.path()), error.inner()))
}

fn field(path: &serde_path_to_error::Path) -> String {
    if path.iter().next().is_none() { String::new() } else { format!("{path}: ") }
}

/// An object with named fields. Without this type, serde would also accept a list of values.
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Fields<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = Object<T>;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }
        from.deserialize_map(Fields(std::marker::PhantomData))
    }
}

/// Deserializes a field that is an object.
pub(super) fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<T, D::Error> {
    Object::deserialize(from).map(|Object(read)| read)
}

/// Deserializes a field that is a list of objects.
pub(super) fn objects<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    let all: Vec<Object<T>> = Vec::deserialize(from)?;
    Ok(all.into_iter().map(|Object(read)| read).collect())
}

/// Deserializes a field that is a time.
pub(super) fn time<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
    let text = String::deserialize(from)?;
    text.parse()
        .map_err(|_| D::Error::custom(format!("{text:?} is not a time like 2026-05-01T10:00:00Z")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Row {
        id: String,
        #[serde(default, deserialize_with = "objects")]
        said: Vec<Said>,
        #[serde(default, deserialize_with = "maybe")]
        ask: Option<Said>,
    }

    #[derive(Debug, Deserialize)]
    struct Said {
        #[serde(deserialize_with = "time")]
        date: Timestamp,
    }

    fn maybe<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Said>, D::Error> {
        object(from).map(Some)
    }

    /// The error message for a text after two lines.
    fn wrong(text: &str) -> String {
        let read: Result<Row> = object_of(text, Path::new("g.jsonl"), 2);
        read.map(|row| (row.id, row.said.len(), row.ask.map(|it| it.date))).unwrap_err().to_string()
    }

    #[test]
    fn errors_have_line_column_and_field() {
        assert_eq!(wrong("nonsense"), "g.jsonl:3:2: expected ident");
        assert_eq!(wrong("{}"), "g.jsonl:3:2: missing field `id`");
        assert_eq!(wrong(r#"{"id": "a"} {}"#), "g.jsonl:3:13: trailing characters");
        let told = wrong("{\"id\": \"a\",\n\"said\": [{\"date\": 7}]}");
        assert!(told.starts_with("g.jsonl:4:19: said[0].date: invalid type: "), "{told}");
        let told = part::<Row>(json!({"id": 7})).unwrap_err().to_string();
        assert!(told.starts_with("id: invalid type: "), "{told}");
    }

    #[test]
    fn an_invalid_time_is_reported_with_the_expected_format() {
        let told = wrong(r#"{"id": "a", "ask": {"date": "1 May 2026"}}"#);
        assert!(
            told.ends_with(r#"ask.date: "1 May 2026" is not a time like 2026-05-01T10:00:00Z"#),
            "{told}"
        );
    }

    #[test]
    fn refuses_lists_in_place_of_objects() {
        for list in [
            r#"["a", []]"#,
            r#"{"id": "a", "said": [["2026-05-01T10:00:00Z"]]}"#,
            r#"{"id": "a", "ask": ["2026-05-01T10:00:00Z"]}"#,
        ] {
            let told = wrong(list);
            assert!(told.contains("invalid type: sequence, expected an object"), "{told}");
            assert!(!told.contains(":0:"), "{told}");
        }
        let date = r#"{"date": "2026-05-01T10:00:00Z"}"#;
        let good = format!(r#"{{"id": "a", "said": [{date}], "ask": {date}}}"#);
        assert!(object_of::<Row>(&good, Path::new("g"), 0).is_ok());
    }
}
