//! Parses a LoCoMo conversation.

use std::{collections::HashMap, path::PathBuf};

use anyhow::{Context, Result, ensure};
use jiff::{Timestamp, civil::DateTime, fmt::strtime, tz::TimeZone};
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::{
    data::hex,
    parse::{self, Object},
};

/// The evaluated categories: multi-hop, temporal, open-domain and single-hop. The fifth has
/// questions without an answer, so evidence means nothing there.
const CATEGORIES: std::ops::RangeInclusive<u8> = 1..=4;

/// The turns, in order, and the questions.
#[derive(Debug)]
pub struct Conversation {
    /// File name without extension.
    pub(super) name: String,
    pub(super) turns: Vec<Turn>,
    pub(super) questions: Vec<Question>,
}

/// One turn of one of the two speakers.
#[derive(Debug)]
pub(super) struct Turn {
    /// Its session, numbered from 1, and when that started.
    pub(super) session: u32,
    pub(super) date: Timestamp,
    /// `Speaker: text`; a shared picture is represented by its caption.
    pub(super) content: String,
}

/// A question and the indexes of its evidence turns.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) text: String,
    pub(super) category: u8,
    pub(super) evidence: Vec<usize>,
}

#[derive(Deserialize)]
struct Said {
    dia_id: String,
    speaker: String,
    text: String,
    blip_caption: Option<String>,
}

#[derive(Deserialize)]
struct Asked {
    question: String,
    #[serde(default)]
    evidence: Vec<String>,
    category: u8,
}

/// Reads conversations; also returns the SHA-256 of all files in the given order.
///
/// # Errors
/// When a file cannot be read or is not a conversation; the error names it.
pub(super) fn read(files: &[PathBuf]) -> Result<(Vec<Conversation>, String)> {
    let mut digest = Sha256::new();
    let mut conversations: Vec<Conversation> = Vec::with_capacity(files.len());
    for file in files {
        let context = || format!("{}", file.display());
        let text = parse::text(file)?;
        digest.update(text.as_bytes());
        let name = file.file_stem().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
        let known = conversations.iter().any(|other| other.name == name);
        ensure!(!known, "{}: duplicate conversation name", file.display());
        let value: Map<String, Value> = parse::object_of(&text, file, 0)?;
        conversations.push(Conversation::of(name, value.into()).with_context(context)?);
    }
    Ok((conversations, hex(digest.finalize().as_slice())))
}

impl Conversation {
    /// Parses a file's JSON.
    pub(super) fn of(name: String, mut value: Value) -> Result<Self> {
        let mut conversation = Self { name, turns: Vec::new(), questions: Vec::new() };
        let mut places = HashMap::new();
        for session in 1.. {
            let Some(said) = value.get_mut(format!("session_{session}")) else { break };
            let said: Vec<Object<Said>> =
                parse::part(said.take()).with_context(|| format!("session_{session}"))?;
            let field = format!("session_{session}_date_time");
            let date = value.get(&field).and_then(Value::as_str);
            let date = date.with_context(|| format!("{field} is missing"))?;
            let date = day(date).with_context(|| {
                format!("{field}: {date:?} is not a date like \"1:56 pm on 8 May, 2023\"")
            })?;
            for Object(Said { dia_id, speaker, text, blip_caption }) in said {
                let shown = blip_caption.map(|it| format!(" [shows {it}]")).unwrap_or_default();
                let twice = places.insert(dia_id.clone(), conversation.turns.len()).is_some();
                ensure!(
                    !twice,
                    "session_{session}: dia_id: {dia_id:?} is already used by another turn"
                );
                let content = format!("{speaker}: {text}{shown}");
                conversation.turns.push(Turn { session, date, content });
            }
        }
        ensure!(!conversation.turns.is_empty(), "session_1 is missing");
        let asked = value.get_mut("qa").context("questions (qa) are missing")?.take();
        for Object(asked) in parse::part::<Vec<Object<Asked>>>(asked).context("qa")? {
            // Some rows list several turns in one text, some an unknown turn.
            let names = asked.evidence.iter().flat_map(|it| it.split([';', ',', ' ']));
            let mut evidence: Vec<_> = names.filter_map(|it| places.get(it).copied()).collect();
            evidence.sort_unstable();
            evidence.dedup();
            if CATEGORIES.contains(&asked.category) && !evidence.is_empty() {
                let (text, category) = (asked.question, asked.category);
                conversation.questions.push(Question { text, category, evidence });
            }
        }
        let none = conversation.questions.is_empty();
        ensure!(!none, "qa: no question of category 1 to 4 has an existing evidence turn");
        Ok(conversation)
    }
}

/// `1:56 pm on 8 May, 2023`.
fn day(text: &str) -> Option<Timestamp> {
    let parsed: DateTime =
        strtime::parse("%I:%M %P on %d %B, %Y", text).ok()?.to_datetime().ok()?;
    Some(parsed.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    /// Two sessions and three questions, one of them without existing evidence.
    pub(crate) fn example() -> Conversation {
        let said = |id: &str, speaker: &str, text: &str| json!({"dia_id": id, "speaker": speaker, "text": text});
        let asked = |question: &str, category: u8, evidence: &[&str]| json!({"question": question, "category": category, "evidence": evidence, "answer": "?"});
        Conversation::of(
            "example".into(),
            json!({
                "speaker_a": "Ana", "speaker_b": "Ben",
                "session_1_date_time": "1:56 pm on 8 May, 2023",
                "session_1": [
                    said("D1:1", "Ana", "Hello Ben, did you see the harbour festival?"),
                    {"dia_id": "D1:2", "speaker": "Ben", "text": "Yes, look!", "blip_caption": "a red boat"},
                ],
                "session_2_date_time": "12:09 am on 13 September, 2023",
                "session_2": [
                    said("D2:1", "Ben", "My sister Clara bought a violin."),
                    said("D2:2", "Ana", "I grow tomatoes on the roof."),
                ],
                "qa": [
                    asked("Did my sister Clara buy a violin?", 4, &["D2:1"]),
                    asked("What do Ana and Ben like?", 1, &["D1:2; D2:2", "D2:2"]),
                    asked("What does Ana fear?", 5, &["D1:1"]),
                    asked("Where is Clara?", 3, &["D9:9"]),
                ],
            }),
        )
        .unwrap()
    }

    #[test]
    fn turns_keep_their_speakers_and_pictures_and_questions_their_evidence() {
        let read = example();
        let contents: Vec<_> = read.turns.iter().map(|turn| turn.content.as_str()).collect();
        assert_eq!(contents[1], "Ben: Yes, look! [shows a red boat]");
        assert_eq!((contents.len(), read.turns[2].session), (4, 2));
        assert_eq!(read.turns[0].date.to_string(), "2023-05-08T13:56:00Z");
        assert_eq!(read.turns[2].date.to_string(), "2023-09-13T00:09:00Z");
        let evidence: Vec<_> = read.questions.iter().map(|it| it.evidence.clone()).collect();
        assert_eq!(evidence, [vec![2], vec![1, 3]]);
    }

    #[test]
    fn reports_an_invalid_conversation() {
        let said = |id: &str| json!({"dia_id": id, "speaker": "Ana", "text": "hi"});
        let cause = |value| format!("{:#}", Conversation::of("x".into(), value).unwrap_err());
        let of = |date: &str, said: Value, qa: Value| {
            cause(json!({"session_1": said, "session_1_date_time": date, "qa": qa}))
        };
        let date = "1:56 pm on 8 May, 2023";
        assert!(cause(json!({"qa": []})).contains("session_1"));
        let told = cause(json!({"session_1": [], "qa": []}));
        assert_eq!(told, "session_1_date_time is missing");
        let told = of("8 May 2023", json!([said("D1:1")]), json!([]));
        let wanted =
            r#"session_1_date_time: "8 May 2023" is not a date like "1:56 pm on 8 May, 2023""#;
        assert_eq!(told, wanted);
        let told = of(date, json!([said("D1:1"), ["D1:2", "Ben", "hi", null]]), json!([]));
        assert_eq!(told, "session_1: [1]: invalid type: sequence, expected an object");
        let told = of(date, json!([said("D1:1"), said("D1:1")]), json!([]));
        assert_eq!(told, r#"session_1: dia_id: "D1:1" is already used by another turn"#);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bad.json");
        std::fs::write(&file, "{\n\"qa\": x}").unwrap();
        let told = format!("{:#}", read(&[file]).unwrap_err());
        assert!(told.ends_with("bad.json:2:7: qa: expected value"), "{told}");
    }

    #[test]
    fn refuses_a_conversation_without_questions() {
        let of = |qa: Value| {
            let said = json!([{"dia_id": "D1:1", "speaker": "Ana", "text": "hi"}]);
            let date = "1:56 pm on 8 May, 2023";
            let value = json!({"session_1": said, "session_1_date_time": date, "qa": qa});
            Conversation::of("x".into(), value).map_err(|error| error.to_string())
        };
        let asked = |category: u8, turn: &str| json!([{"question": "?", "category": category, "evidence": [turn]}]);
        for nothing in [json!([]), asked(5, "D1:1"), asked(4, "D9:9")] {
            assert!(of(nothing).unwrap_err().starts_with("qa: no question"));
        }
        assert_eq!(of(asked(4, "D1:1")).unwrap().questions.len(), 1);
    }
}
