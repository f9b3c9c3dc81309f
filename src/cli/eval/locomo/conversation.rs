//! A conversation of LoCoMo as it stands in its file.

use std::{collections::HashMap, fs, path::PathBuf};

use anyhow::{Context, Result, ensure};
use jiff::{Timestamp, civil::DateTime, fmt::strtime, tz::TimeZone};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::cli::eval::data::hex;

/// The categories that count: multi-hop, temporal, open-domain and single-hop. Of the fifth,
/// questions about what was never said, evidence shows nothing.
const CATEGORIES: std::ops::RangeInclusive<u8> = 1..=4;

/// What was said, in order, and what is asked of it.
#[derive(Debug)]
pub(super) struct Conversation {
    /// The file's name without its ending.
    pub(super) name: String,
    pub(super) turns: Vec<Turn>,
    pub(super) questions: Vec<Question>,
}

/// One turn of one of the two.
#[derive(Debug)]
pub(super) struct Turn {
    /// The session it was said in, numbered from 1, and when that began.
    pub(super) session: u32,
    pub(super) date: Timestamp,
    /// `Speaker: text`; a picture that was shown is told by its caption.
    pub(super) content: String,
}

/// A question and the places of the turns that answer it.
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

/// The conversations of these files and the SHA-256 of all they hold, in the order given.
///
/// # Errors
/// When a file cannot be read or is no conversation; it is named.
pub(super) fn read(files: &[PathBuf]) -> Result<(Vec<Conversation>, String)> {
    let mut digest = Sha256::new();
    let mut conversations: Vec<Conversation> = Vec::with_capacity(files.len());
    for file in files {
        let context = || format!("{}", file.display());
        let text = fs::read_to_string(file).with_context(context)?;
        digest.update(text.as_bytes());
        let name = file.file_stem().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
        let known = conversations.iter().any(|other| other.name == name);
        ensure!(!known, "{}: a conversation of this name was given already", file.display());
        let value = serde_json::from_str(&text).with_context(context)?;
        conversations.push(Conversation::of(name, value).with_context(context)?);
    }
    Ok((conversations, hex(digest.finalize().as_slice())))
}

impl Conversation {
    /// From a file's JSON.
    pub(super) fn of(name: String, mut value: Value) -> Result<Self> {
        let mut conversation = Self { name, turns: Vec::new(), questions: Vec::new() };
        let mut places = HashMap::new();
        for session in 1.. {
            let Some(said) = value.get_mut(format!("session_{session}")) else { break };
            let said: Vec<Said> = serde_json::from_value(said.take())
                .with_context(|| format!("session_{session}"))?;
            let date = format!("session_{session}_date_time");
            let date = value.get(&date).and_then(Value::as_str).with_context(|| date.clone())?;
            let date = day(date).with_context(|| format!("session_{session}: {date}"))?;
            for Said { dia_id, speaker, text, blip_caption } in said {
                let shown = blip_caption.map(|it| format!(" [shows {it}]")).unwrap_or_default();
                places.insert(dia_id, conversation.turns.len());
                let content = format!("{speaker}: {text}{shown}");
                conversation.turns.push(Turn { session, date, content });
            }
        }
        ensure!(!conversation.turns.is_empty(), "there is no session_1");
        let asked = value.get_mut("qa").context("there are no questions (qa)")?.take();
        for asked in serde_json::from_value::<Vec<Asked>>(asked).context("qa")? {
            // Some rows name several turns in one text, some name none that there is.
            let names = asked.evidence.iter().flat_map(|it| it.split([';', ',', ' ']));
            let mut evidence: Vec<_> = names.filter_map(|it| places.get(it).copied()).collect();
            evidence.sort_unstable();
            evidence.dedup();
            if CATEGORIES.contains(&asked.category) && !evidence.is_empty() {
                let (text, category) = (asked.question, asked.category);
                conversation.questions.push(Question { text, category, evidence });
            }
        }
        Ok(conversation)
    }
}

/// `1:56 pm on 8 May, 2023`.
fn day(text: &str) -> Result<Timestamp> {
    let parsed: DateTime = strtime::parse("%I:%M %P on %d %B, %Y", text)?.to_datetime()?;
    Ok(parsed.to_zoned(TimeZone::UTC)?.timestamp())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    /// Two sessions and three questions, one of which has no evidence that is there.
    pub(in crate::cli::eval::locomo) fn example() -> Conversation {
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
    fn what_is_no_conversation_is_named() {
        let cause = |value| Conversation::of("x".into(), value).unwrap_err().to_string();
        assert!(cause(json!({"qa": []})).contains("session_1"));
        assert!(cause(json!({"session_1": [], "qa": []})).contains("session_1_date_time"));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bad.json");
        fs::write(&file, "{").unwrap();
        assert!(format!("{:#}", read(&[file]).unwrap_err()).contains("bad.json"));
    }
}
