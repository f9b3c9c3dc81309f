//! One line of an export file.

use base64::{Engine, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use memgate_core::memory::{Embedding, Memory, Owner, Whole};

/// Version of the format. Other versions are refused.
pub const FORMAT: u32 = 2;

/// A line of an export file.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// Start of an export.
    Header(Header),
    /// A memory.
    Memory(Box<Whole>),
    /// A cursor: the export can be resumed after it, in the same store.
    Mark(String),
    /// End of a complete export.
    End,
}

/// The header of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`] of the program that wrote it.
    pub format: u32,
    /// Owner of the memories that follow; absent for all users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// Whether vectors are included.
    pub vectors: bool,
    /// When the export was started.
    pub exported_at: Timestamp,
}

/// Why a line could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cause}")]
pub struct LineError {
    /// The member that is wrong, if it is known.
    pub field: Option<String>,
    /// The cause.
    pub cause: String,
}

/// A line as JSON: one of `export`, `memory`, `mark` and `end`; `history` and `vectors` belong to a
/// memory.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Form {
    #[serde(skip_serializing_if = "Option::is_none")]
    export: Option<Header>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<Box<Memory>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    history: Vec<Memory>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    vectors: Vec<Vector>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mark: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    end: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    space: String,
    part: u16,
    /// Base64 of 32-bit floats, little-endian.
    values: String,
}

impl Line {
    /// Parses a line.
    ///
    /// # Errors
    /// [`LineError`] with the member and the cause.
    pub fn read(bytes: &[u8]) -> Result<Self, LineError> {
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let form: Form =
            serde_path_to_error::deserialize(&mut json).map_err(|error| unread(&error))?;
        json.end().map_err(|error| LineError { field: None, cause: said(&error) })?;
        let bare = form.history.is_empty() && form.vectors.is_empty();
        match form {
            Form { export: Some(header), memory: None, mark: None, end: false, .. } if bare => {
                header.checked().map(Self::Header)
            }
            Form {
                export: None,
                memory: Some(memory),
                history,
                vectors,
                mark: None,
                end: false,
            } => {
                let vectors = vectors.into_iter().enumerate().map(|(n, vector)| vector.values(n));
                let vectors = vectors.collect::<Result<_, _>>()?;
                Ok(Self::Memory(Box::new(Whole { memory: *memory, history, vectors })))
            }
            Form { export: None, memory: None, mark: Some(mark), end: false, .. } if bare => {
                Ok(Self::Mark(mark))
            }
            Form { export: None, memory: None, mark: None, end: true, .. } if bare => Ok(Self::End),
            _ => {
                let cause = "must have exactly one of export, memory, mark and end; history and vectors \
                             only with memory";
                Err(LineError { field: None, cause: cause.to_owned() })
            }
        }
    }

    /// Writes the line and its line break.
    ///
    /// # Errors
    /// Only those of the JSON writer, which do not occur here.
    pub fn write(self, to: &mut Vec<u8>) -> serde_json::Result<()> {
        let form = match self {
            Self::Header(header) => Form { export: Some(header), ..Form::default() },
            Self::Memory(whole) => {
                let Whole { memory, history, vectors } = *whole;
                let vectors = vectors.iter().map(Vector::of).collect();
                Form { memory: Some(Box::new(memory)), history, vectors, ..Form::default() }
            }
            Self::Mark(mark) => Form { mark: Some(mark), ..Form::default() },
            Self::End => Form { end: true, ..Form::default() },
        };
        serde_json::to_writer(&mut *to, &form)?;
        to.push(b'\n');
        Ok(())
    }
}

impl Header {
    fn checked(self) -> Result<Self, LineError> {
        if self.format == FORMAT {
            return Ok(self);
        }
        let cause =
            format!("must be {FORMAT}, not {}: export again with this version", self.format);
        Err(LineError { field: Some("export.format".into()), cause })
    }
}

impl Vector {
    fn of(embedding: &Embedding) -> Self {
        let bytes: Vec<u8> =
            embedding.values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let values = STANDARD.encode(bytes);
        Self { space: embedding.space.to_string(), part: embedding.part, values }
    }

    /// The vector at index `n` of its line.
    fn values(self, n: usize) -> Result<Embedding, LineError> {
        let wrong = || LineError {
            field: Some(format!("vectors[{n}].values")),
            cause: "must be base64 of 32-bit floats, little-endian".to_owned(),
        };
        let bytes = STANDARD.decode(&self.values).map_err(|_| wrong())?;
        let (values, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(wrong());
        }
        let values = values.iter().map(|&value| f32::from_le_bytes(value)).collect();
        Ok(Embedding { space: self.space.into(), part: self.part, values })
    }
}

fn unread(error: &serde_path_to_error::Error<serde_json::Error>) -> LineError {
    let path = error.path().to_string();
    // For text that is not JSON the member does not matter.
    let known = error.inner().is_data() && path != ".";
    LineError { field: known.then_some(path), cause: said(error.inner()) }
}

/// The parser's message without its line number, which would always be 1.
fn said(error: &serde_json::Error) -> String {
    let text = error.to_string().replace('`', "\"");
    let text = match text.rsplit_once(" at line ") {
        Some((text, _)) => {
            // The list of all members of a memory would be too long.
            let unknown = text.starts_with("unknown field");
            let told = text.split(", expected").next().filter(|_| unknown);
            let text = told.unwrap_or(text);
            format!("{text} (column {})", error.column())
        }
        None => text,
    };
    if error.is_data() { text } else { format!("is not JSON: {text}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use memgate_core::memory::{
        MemoryId, MemoryKind, MemoryType, Occurrence, Provenance, Relation, Source, Status,
        Visibility,
    };
    use memgate_text::entity::{EntityRelation, Mention};

    fn plain() -> Memory {
        let kind = MemoryType::new(MemoryType::SEMANTIC);
        let now = "2026-03-01T12:00:00.000001Z".parse().unwrap();
        let owner = Owner::new("t/1", "alice").unwrap();
        Memory::new(
            MemoryId::from_outside("m"),
            owner,
            kind,
            "x\n\u{0}\u{2028}é",
            Source::ExternalData,
            now,
        )
    }

    fn full() -> Memory {
        let time = Some("-000100-01-01T00:00:00.123456Z".parse().unwrap());
        Memory {
            sub_type: Some(String::new()),
            kind: MemoryKind::Turn,
            reply: Some("their words".into()),
            raw: Some("my words".into()),
            structured: Some(json!(null)),
            project_id: Some("p".into()),
            agent_id: Some("a".into()),
            session_id: Some("s".into()),
            visibility: Visibility::Shared { users: vec!["bob".into()], roles: vec![] },
            status: Status::Quarantined,
            importance: 0.1,
            confidence: Some(f32::MIN_POSITIVE),
            tags: vec![String::new(), "ü".into()],
            metadata: json!({"": [1, null, {"x": -7}], "n": u64::MAX}).as_object().unwrap().clone(),
            version: 7,
            access_count: 1 << 60,
            last_accessed_at: time,
            decay_score: Some(0.7),
            event_time: time,
            valid_from: time,
            valid_until: time,
            expires_at: time,
            document_id: Some("d".into()),
            chunk: Some(0),
            relations: vec![Relation { kind: "k".into(), target: MemoryId::from_outside("o") }],
            mentions: vec![Mention { name: "Ana".into(), kind: None }],
            entity_relations: vec![EntityRelation {
                subject: "Ana".into(),
                predicate: "knows".into(),
                object: "Bo".into(),
            }],
            provenance: Provenance {
                turn: Some("t".into()),
                extractor: Some("llm".into()),
                extractor_version: Some("1".into()),
                said_at: Some("2026-03-01T12:00:00.123456789Z".parse().unwrap()),
                again: vec![Occurrence {
                    turn: "u".into(),
                    session: None,
                    extractor: None,
                    said_at: None,
                }],
            },
            ..plain()
        }
    }

    fn text(line: Line) -> String {
        let mut bytes = Vec::new();
        line.write(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    fn refused(line: &str) -> (Option<String>, String) {
        let LineError { field, cause } = Line::read(line.as_bytes()).unwrap_err();
        (field, cause)
    }

    #[test]
    fn every_line_round_trips_as_one_line() {
        let values = [0.1, -0.0, f32::MIN_POSITIVE, 1.0 / 3.0];
        let vectors = [("a", 0), ("a", 1), ("b", 0)].map(|(space, part)| Embedding {
            space: space.into(),
            part,
            values: values.into(),
        });
        let whole =
            Whole { memory: full(), history: vec![plain(), full()], vectors: vectors.into() };
        let bare = Whole { memory: plain(), history: vec![], vectors: vec![] };
        let header = Header {
            format: FORMAT,
            owner: Some(plain().owner),
            vectors: true,
            exported_at: plain().created_at,
        };
        for line in [
            Line::Header(Header { owner: None, ..header.clone() }),
            Line::Header(header),
            Line::Memory(Box::new(whole)),
            Line::Memory(Box::new(bare)),
            Line::Mark("a/b/\" \\".into()),
            Line::End,
        ] {
            let text = text(line.clone());
            assert_eq!(text.find('\n'), Some(text.len() - 1));
            assert_eq!(Line::read(text.as_bytes()).unwrap(), line, "{text}");
        }
    }

    #[test]
    fn absent_values_are_omitted() {
        let whole = Whole { memory: plain(), history: vec![], vectors: vec![] };
        let value: serde_json::Value =
            serde_json::from_str(&text(Line::Memory(Box::new(whole)))).unwrap();
        let mut members: Vec<_> = value["memory"].as_object().unwrap().keys().collect();
        members.sort();
        assert_eq!(
            members,
            [
                "access_count",
                "content",
                "created_at",
                "id",
                "importance",
                "kind",
                "owner",
                "source",
                "status",
                "type",
                "updated_at",
                "version",
                "visibility"
            ]
        );
    }

    #[test]
    fn an_invalid_line_names_the_member_and_the_cause() {
        let memory = serde_json::to_value(full()).unwrap();
        let with = |path: &str, value: serde_json::Value| {
            let mut line = json!({"memory": memory, "history": [memory]});
            *line.pointer_mut(path).unwrap() = value;
            line.to_string()
        };
        for (line, field, cause) in [
            (
                with("/memory/importance", json!("high")),
                "memory.importance",
                "invalid type: string",
            ),
            (with("/memory/status", json!("gone")), "memory.status", "unknown variant \"gone\""),
            (with("/memory/owner/user", json!("")), "memory.owner", "user: must not be empty"),
            (with("/history/0/version", json!(-1)), "history[0].version", "invalid value"),
            (with("/memory/created_at", json!("today")), "memory.created_at", "failed to parse"),
            (
                with("/memory/owner", json!({"tenant": "t"})),
                "memory.owner",
                "one of user, agent, session and organisation is required",
            ),
            (
                with("/memory/provenance", json!({"x": 1})),
                "memory.provenance.x",
                "unknown field \"x\"",
            ),
        ] {
            let (named, told) = refused(&line);
            assert_eq!(named.as_deref(), Some(field), "{told}");
            assert!(told.starts_with(cause), "{told}");
        }
        let vector = |values: &str| {
            let vectors = json!([{"space": "s", "part": 0, "values": values}]);
            json!({"memory": memory, "vectors": vectors}).to_string()
        };
        for values in ["?", "AAA=", "AAAAAAA="] {
            assert_eq!(refused(&vector(values)).0.as_deref(), Some("vectors[0].values"));
        }
        assert_eq!(refused("{\"memory\":").1, "is not JSON: EOF while parsing a value (column 10)");
        assert_eq!(refused("{\"end\":true} x").1, "is not JSON: trailing characters (column 14)");
        for line in [
            "{}",
            "{\"end\":false}",
            "{\"end\":true,\"mark\":\"x\"}",
            "{\"end\":true,\"history\":[{}]}",
        ] {
            assert!(Line::read(line.as_bytes()).is_err(), "{line}");
        }
        for format in [1, 3] {
            let at = "2026-03-01T12:00:00Z";
            let header =
                json!({"export": {"format": format, "vectors": true, "exported_at": at, "new": 1}});
            let (field, cause) = refused(&header.to_string());
            assert_eq!(field.as_deref(), Some("export.format"));
            assert_eq!(cause, format!("must be 2, not {format}: export again with this version"));
        }
    }
}
