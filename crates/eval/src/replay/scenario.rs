//! A scenario: sessions of one user, then a question with the labels of its answer.

use anyhow::Result;
use jiff::Timestamp;
use serde::Deserialize;

use super::{
    ask::{Asked, Recalled, selection},
    body::{Session, Turn},
    learn::{BETWEEN_TURNS, learn, learn_all},
};
use crate::{evaluation::Services, parse};
use memgate_core::memory::Owner;

/// A row of a scenarios file.
#[derive(Clone, Debug, Deserialize)]
pub struct Scenario {
    pub(crate) id: String,
    pub(crate) lang: String,
    pub(crate) kind: String,
    #[serde(deserialize_with = "parse::objects")]
    sessions: Vec<Session>,
    #[serde(deserialize_with = "parse::object")]
    ask: Question,
    /// Needed items; at least one alternative of each must be presented.
    pub(crate) must_recall: Vec<Vec<String>>,
    /// Texts that must not be presented.
    pub(crate) must_not_recall: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct Question {
    #[serde(deserialize_with = "parse::time")]
    date: Timestamp,
    #[serde(deserialize_with = "parse::objects")]
    turns: Vec<Turn>,
    user: String,
}

impl Scenario {
    /// The user's messages, session by session.
    pub(crate) fn told(&self) -> Vec<Vec<&str>> {
        let turns = self.sessions.iter().map(|session| session.turns.iter());
        turns.map(|turns| turns.map(|turn| turn.user.as_str()).collect()).collect()
    }

    /// Whether a message contains the needed value and an older sentence the outdated one.
    pub(crate) fn is_over(&self, old: &str, message: &str) -> bool {
        let (old, message) = (old.to_lowercase(), message.to_lowercase());
        self.kind == "update"
            && self.must_not_recall.iter().any(|words| old.contains(words))
            && self.must_recall.iter().flatten().any(|words| message.contains(words))
    }

    /// The scenario with its question after other turns of a conversation.
    pub(crate) fn within(&self, before: &[Turn]) -> Self {
        let ask = Question { turns: before.to_owned(), ..self.ask.clone() };
        Self { ask, ..self.clone() }
    }

    /// The question with a reply of the scenario, as it has none of its own.
    pub(crate) fn as_turn(&self) -> Turn {
        let first = self.sessions.iter().flat_map(|session| &session.turns).next();
        let assistant = first.map(|turn| turn.assistant.clone()).unwrap_or_default();
        Turn { user: self.ask.user.clone(), assistant }
    }
}

/// Learns a scenario's sessions as a user's memory, and the turns before its question.
///
/// # Errors
/// When a part of memory fails or times out.
pub(crate) async fn tell(memory: &Services, owner: &Owner, scenario: &Scenario) -> Result<()> {
    learn_all(memory, owner, &scenario.id, &scenario.sessions).await?;
    let Question { date, turns, .. } = &scenario.ask;
    let began = *date - BETWEEN_TURNS * i32::try_from(turns.len())?;
    learn(memory, owner, &format!("{}-ask", scenario.id), began, turns).await
}

/// Asks a scenario's question.
///
/// # Errors
/// When a part of memory fails.
pub(crate) async fn ask(memory: &Services, owner: &Owner, scenario: &Scenario) -> Result<Recalled> {
    let Question { date, turns, user } = &scenario.ask;
    let selection = selection(&memory.config);
    let asked = Asked { owner, at: *date, before: turns, user, selection, ranked: true };
    let mut recalled = asked.recall(memory).await?;
    if recalled.skipped.is_some() {
        recalled.ranked.clear();
    }
    Ok(recalled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::{PATIENCE, lines};
    use crate::test_support::{scenario, services};

    #[tokio::test]
    async fn a_scenario_is_learned_at_its_own_dates() {
        let folder = tempfile::tempdir().unwrap();
        let memory = services(folder.path());
        let scenario = scenario("My dog Rex got his rabies vaccination when?");
        let owner = Owner::of_user("u").unwrap();
        tell(&memory, &owner, &scenario).await.unwrap();
        let recalled = ask(&memory, &owner, &scenario).await.unwrap();
        assert_eq!(recalled.skipped, None);
        let shown = recalled.context.shown.len();
        assert_eq!(shown, 1, "greetings and bare questions are no memories");
        assert!(lines(&recalled.context).starts_with("- [2026-02-09] my dog rex"));
        assert_eq!(recalled.ranked.len(), 1);
        memory.capture.shutdown(PATIENCE).await;
    }

    #[tokio::test]
    async fn a_skipped_question_is_not_searched() {
        let folder = tempfile::tempdir().unwrap();
        let memory = services(folder.path());
        let owner = Owner::of_user("u").unwrap();
        let recalled = ask(&memory, &owner, &scenario("hello!")).await.unwrap();
        assert!(recalled.skipped.is_some() && recalled.ranked.is_empty());
        assert!(recalled.context.text.is_empty());
        memory.capture.shutdown(PATIENCE).await;
    }
}
