//! Learns a question's chats as memgate does, asks the question, and looks for the evidence in the context.

use std::collections::HashSet;

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};

use super::question::{Question, Session, Speaker};
use crate::{
    evaluation::Services,
    replay::{self, Asked, Turn, learn_all, selection, stored},
};
use memgate_core::memory::{Memory, Owner};
use memgate_recall::tokens;
use memgate_text::index::meaning_set;

/// The share of the answer's words, as far as the evidence has them, that a line must hold.
const ANSWERS: f64 = 0.5;

/// The context of a question, compared with its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    /// Whether a stored memory holds the answer.
    pub(super) is_stored: bool,
    /// Whether memory was searched.
    pub(super) searched: bool,
    /// Whether a line holds the answer.
    pub(super) answered: bool,
    /// Whether lines come from all sessions with evidence.
    pub(super) all_sessions: bool,
    /// Number of lines.
    pub(super) lines: usize,
    /// Tokens of the context.
    pub(super) tokens: usize,
}

/// A turn with evidence.
struct Evidence {
    said_at: Timestamp,
    /// The answer's words in it.
    words: HashSet<String>,
}

/// Learns a question's chats and asks it.
///
/// # Errors
/// When a part of memory fails or times out.
pub(super) async fn ask(memory: &Services, question: &Question) -> Result<Shown> {
    let owner = Owner::of_user(&question.id)?;
    let chats = question.sessions.iter();
    let chats: Vec<replay::Session> =
        chats.map(|chat| replay::Session { date: chat.date, turns: turns(chat) }).collect();
    learn_all(memory, &owner, &question.id, &chats).await?;
    let memories = stored(memory, &owner).await?;
    let asked = Asked {
        owner: &owner,
        at: question.date,
        before: &[],
        user: &question.text,
        selection: selection(&memory.config),
        ranked: false,
    };
    let recalled = asked.recall(memory).await?;
    let context = &recalled.context;
    let shown: Vec<&Memory> = context
        .shown
        .iter()
        .filter_map(|id| memories.iter().find(|memory| memory.id == *id))
        .collect();
    let answer = meaning_set(&question.answer);
    let evidence: Vec<Vec<Evidence>> =
        question.evident().map(|session| evidence(session, &answer)).collect();
    let all = || evidence.iter().flatten();
    Ok(Shown {
        is_stored: memories.iter().any(|memory| all().any(|it| it.answers(memory))),
        searched: recalled.skipped.is_none(),
        answered: shown.iter().any(|memory| all().any(|it| it.answers(memory))),
        all_sessions: evidence
            .iter()
            .all(|session| shown.iter().any(|memory| session.iter().any(|it| it.is_of(memory)))),
        lines: shown.len(),
        tokens: if shown.is_empty() { 0 } else { tokens(&context.text) },
    })
}

/// The turns of a chat: each message of the user with what the assistant replied.
fn turns(session: &Session) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for message in &session.messages {
        match (message.role, turns.last_mut()) {
            (Speaker::User, _) => {
                turns.push(Turn { user: message.content.clone(), assistant: String::new() });
            }
            (Speaker::Assistant, Some(turn)) => turn.assistant.push_str(&message.content),
            // Nobody asked for it.
            (Speaker::Assistant, None) => {}
        }
    }
    turns
}

/// The turns with evidence in a chat, at the times at which [`learn_all`] replays them.
fn evidence(session: &Session, answer: &HashSet<String>) -> Vec<Evidence> {
    let (mut found, mut turn) = (Vec::new(), -1);
    for message in &session.messages {
        turn += i32::from(message.role == Speaker::User);
        if message.is_evidence {
            let said_at = session.date + replay::BETWEEN_TURNS * turn.max(0);
            let words = meaning_set(&message.content).intersection(answer).cloned().collect();
            found.push(Evidence { said_at, words });
        }
    }
    found
}

impl Evidence {
    /// Whether a memory was made of this turn.
    fn is_of(&self, memory: &Memory) -> bool {
        let near = |time: Timestamp| {
            time.duration_since(self.said_at).abs() < SignedDuration::from_secs(1)
        };
        let provenance = &memory.provenance;
        provenance
            .said_at
            .into_iter()
            .chain(provenance.again.iter().filter_map(|it| it.said_at))
            .any(near)
    }

    /// Whether a memory was made of this turn and holds the answer's words that the turn has.
    #[expect(clippy::cast_precision_loss, reason = "counts of words")]
    fn answers(&self, memory: &Memory) -> bool {
        if !self.is_of(memory) {
            return false;
        }
        let has = meaning_set(&memory.text());
        let found = self.words.iter().filter(|word| has.contains(*word)).count();
        self.words.is_empty() || found as f64 >= ANSWERS * self.words.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{longmemeval::question::tests::example, replay::PATIENCE, test_support::services};

    #[tokio::test]
    async fn what_is_shown_is_held_against_the_turns_with_evidence() {
        let folder = tempfile::tempdir().unwrap();
        let memory = services(folder.path());
        let file = folder.path().join("q.json");
        std::fs::write(&file, example("q1").to_string()).unwrap();
        let all = super::super::question::Half::All;
        let (questions, _) = super::super::question::read(&[file], all, None).unwrap();
        let shown = ask(&memory, &questions[0]).await.unwrap();
        assert!(shown.is_stored && shown.searched && shown.answered && shown.all_sessions);
        assert!(shown.lines >= 1 && shown.tokens > 10);
        let mut other = questions[0].clone();
        (other.id, other.answer) = ("q2".into(), "a red one".into());
        other.sessions[1].messages[0].content = "I own guitars, one of them is red.".into();
        other.sessions[1].messages[0].is_evidence = false;
        other.sessions[0].messages[0].is_evidence = true;
        let shown = ask(&memory, &other).await.unwrap();
        assert!(shown.is_stored, "the balcony is stored, and has none of the answer's words");
        memory.capture.shutdown(PATIENCE).await;
    }
}
