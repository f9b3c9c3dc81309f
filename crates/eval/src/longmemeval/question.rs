//! Reads LongMemEval's questions: each with its own history of chats with an assistant.

use std::{collections::HashSet, fs, path::PathBuf};

use anyhow::{Context, Result, ensure};
use jiff::{Timestamp, civil::DateTime, fmt::strtime, tz::TimeZone};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{data::hex, parse};

/// The ending of the id of a question that nothing in its history answers.
const UNANSWERABLE: &str = "_abs";

/// A question and the chats before it.
#[derive(Clone, Debug)]
pub struct Question {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) text: String,
    pub(super) answer: String,
    pub(super) date: Timestamp,
    /// Oldest first.
    pub(super) sessions: Vec<Session>,
}

/// One chat.
#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) date: Timestamp,
    pub(super) messages: Vec<Message>,
}

/// One message of a chat.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Message {
    pub(super) role: Speaker,
    pub(super) content: String,
    /// Whether the answer, or a part of it, stands in this message.
    #[serde(default, rename = "has_answer")]
    pub(super) is_evidence: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Speaker {
    User,
    Assistant,
}

#[derive(Deserialize)]
struct Row {
    question_id: String,
    question_type: String,
    question: String,
    question_date: String,
    answer: Value,
    haystack_dates: Vec<String>,
    haystack_session_ids: Vec<String>,
    haystack_sessions: Vec<Vec<Message>>,
}

/// The questions that are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Half {
    /// Whose id's SHA-256 ends in an even byte: their labels may be trained on.
    Even,
    /// The others: only measured.
    Odd,
    All,
}

impl Half {
    fn holds(self, id: &str) -> bool {
        let is_even = Sha256::digest(id.as_bytes()).last().is_some_and(|byte| byte % 2 == 0);
        match self {
            Self::Even => is_even,
            Self::Odd => !is_even,
            Self::All => true,
        }
    }
}

/// Reads the questions of one half, of which `ids` names some; also returns the SHA-256 of their files in the given
/// order.
///
/// # Errors
/// When a file cannot be read or is no question, or none is left; the error names the file.
pub(super) fn read(
    files: &[PathBuf],
    half: Half,
    ids: Option<&HashSet<String>>,
) -> Result<(Vec<Question>, String)> {
    let (mut digest, mut questions) = (Sha256::new(), Vec::new());
    for file in &in_folders(files)? {
        let text = parse::text(file)?;
        let row: Row = parse::object_of(&text, file, 0)?;
        let named = ids.is_none_or(|ids| ids.contains(&row.question_id));
        if half.holds(&row.question_id) && named {
            digest.update(text.as_bytes());
            questions.push(Question::of(row).with_context(|| format!("{}", file.display()))?);
        }
    }
    ensure!(!questions.is_empty(), "no question is left to measure");
    Ok((questions, hex(digest.finalize().as_slice())))
}

/// The files, and for a folder the JSON files in it, in the order of their names.
fn in_folders(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let context = || format!("{}", path.display());
            let entries = fs::read_dir(path).with_context(context)?;
            let mut inside = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
            inside.retain(|file| file.extension().is_some_and(|ending| ending == "json"));
            inside.sort();
            files.extend(inside);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

impl Question {
    fn of(row: Row) -> Result<Self> {
        let lengths = [row.haystack_dates.len(), row.haystack_session_ids.len()];
        ensure!(
            lengths == [row.haystack_sessions.len(); 2],
            "haystack_dates, haystack_session_ids and haystack_sessions differ in length"
        );
        let chats = row.haystack_session_ids.into_iter().zip(row.haystack_sessions);
        let sessions = row.haystack_dates.iter().zip(chats).map(|(date, (id, messages))| {
            Ok(Session { id, date: time(date).context("haystack_dates")?, messages })
        });
        let mut sessions = sessions.collect::<Result<Vec<_>>>()?;
        sessions.sort_by_key(|session| session.date);
        let answer = match row.answer {
            Value::String(text) => text,
            other => other.to_string(),
        };
        Ok(Self {
            date: time(&row.question_date).context("question_date")?,
            id: row.question_id,
            kind: row.question_type,
            text: row.question,
            answer,
            sessions,
        })
    }

    /// Whether the history holds the answer.
    pub(super) fn is_answerable(&self) -> bool {
        !self.id.ends_with(UNANSWERABLE)
    }

    /// The sessions with evidence.
    pub(super) fn evident(&self) -> impl Iterator<Item = &Session> {
        let has = |session: &&Session| session.messages.iter().any(|it| it.is_evidence);
        self.sessions.iter().filter(has)
    }
}

/// A time like `2023/05/30 (Tue) 23:42`, in UTC.
fn time(text: &str) -> Result<Timestamp> {
    let context = || format!("{text:?} is not a time like \"2023/05/30 (Tue) 23:42\"");
    let time = strtime::parse("%Y/%m/%d (%a) %H:%M", text).and_then(|it| it.to_datetime());
    let time: DateTime = time.with_context(context)?;
    Ok(time.to_zoned(TimeZone::UTC).with_context(context)?.timestamp())
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    /// A question about what the user said, with an unrelated chat.
    pub(in super::super) fn example(id: &str) -> Value {
        json!({
            "question_id": id, "question_type": "single-session-user", "answer": 5,
            "question": "How many guitars do I own?", "question_date": "2023/05/30 (Tue) 23:42",
            "haystack_dates": ["2023/05/20 (Sat) 02:57", "2023/05/10 (Wed) 20:19"],
            "haystack_session_ids": ["b", "a"], "answer_session_ids": ["b"],
            "haystack_sessions": [
                [{"role": "user", "content": "I own 5 guitars, my pride is a red one.", "has_answer": true},
                 {"role": "assistant", "content": "That is a fine collection."}],
                [{"role": "user", "content": "My flat has a balcony to the south."},
                 {"role": "assistant", "content": "Then tomatoes will like it."}],
            ],
        })
    }

    #[test]
    fn a_question_is_read_with_its_chats_oldest_first() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("q.json");
        fs::write(&file, example("q1").to_string()).unwrap();
        let (questions, sha256) = read(std::slice::from_ref(&file), Half::All, None).unwrap();
        let one = &questions[0];
        assert_eq!((one.answer.as_str(), sha256.len()), ("5", 64));
        let ids: Vec<_> = one.sessions.iter().map(|session| session.id.as_str()).collect();
        assert_eq!(ids, ["a", "b"]);
        assert_eq!(one.evident().count(), 1);
        assert!(one.is_answerable());
        // The SHA-256 of "q1" ends in 0xcb.
        assert!(read(std::slice::from_ref(&file), Half::Even, None).is_err());
        assert!(read(&[file], Half::All, Some(&HashSet::new())).is_err());
        let inside = read(&[folder.path().to_owned()], Half::All, None).unwrap();
        assert_eq!((inside.0.len(), inside.1), (1, sha256));
    }

    #[test]
    fn a_wrong_date_is_named() {
        let mut value = example("q1");
        value["question_date"] = "yesterday".into();
        let error = Question::of(serde_json::from_value(value).unwrap()).unwrap_err();
        assert!(format!("{error:#}").starts_with("question_date: \"yesterday\" is not a time"));
    }
}
