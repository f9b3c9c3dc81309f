//! `memgate eval forgetting`: does a request to forget take what it means, and only that? Each user tells a few things and
//! then sends one message more, which asks to forget some of them or only looks as if it did.

mod report;

use std::path::PathBuf;

use anyhow::{Context, Result};
use jiff::{SignedDuration, Timestamp};

use self::report::{Outcome, Report};
use crate::{
    conversations::{Conversations, Message},
    data::{self, Digests},
    evaluation::{Evaluation, Services},
    replay::{Turn, learn, stored},
};
use memgate_config::MemoryConfig;
use memgate_core::memory::Owner;

/// Simulated time between two sessions.
const BETWEEN_SESSIONS: SignedDuration = SignedDuration::from_hours(24);

/// Arguments of `memgate eval forgetting`.
#[derive(Debug, clap::Args)]
pub struct Forgetting {
    /// Requests to forget and near misses: JSON Lines (testdata/forgetting/README.md)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Also list what was forgotten wrongly, and what was not
    #[arg(long)]
    show: bool,
}

impl Evaluation for Forgetting {
    const LEARNS: bool = true;
    type Rows = Vec<Conversations>;
    type Report = Report;

    fn read(&self) -> Result<(Vec<Conversations>, String)> {
        data::rows(&self.file)
    }

    async fn measure(
        &self,
        memory: &Services,
        stories: &Vec<Conversations>,
        digests: Digests,
    ) -> Result<Report> {
        let mut outcomes = Vec::with_capacity(stories.len());
        for story in stories {
            outcomes.push(play(memory, story).await.with_context(|| story.id.clone())?);
        }
        Ok(Report::of(&outcomes, self.show, digests))
    }

    fn text(report: &Report, _: &MemoryConfig) -> String {
        report.told()
    }
}

/// Tells everything, and compares what is held before and after the last session.
async fn play<'a>(memory: &Services, story: &'a Conversations) -> Result<Outcome<'a>> {
    let owner = Owner::of_user(&story.id)?;
    let began = memory.clock.now();
    let (last, told) = story.sessions.split_last().context("sessions: none")?;
    for (number, session) in (0..).zip(told) {
        let date = began + BETWEEN_SESSIONS * number;
        tell(memory, &owner, story, &session.turns, date).await?;
    }
    let parts = told.iter().flat_map(|session| &session.turns).flat_map(|turn| &turn.keep);
    let parts: Vec<&str> = parts.map(String::as_str).collect();
    let before = held(memory, &owner, &parts).await?;
    let date = began + BETWEEN_SESSIONS * i32::try_from(told.len())?;
    tell(memory, &owner, story, &last.turns, date).await?;
    let after = held(memory, &owner, &parts).await?;
    let forgets = last.turns.iter().flat_map(|turn| &turn.forgets).map(String::as_str).collect();
    let gone = before.into_iter().filter(|part| !after.contains(part)).collect();
    let asked = last.turns.last().map(|turn| turn.user.as_str()).unwrap_or_default();
    Ok(Outcome { lang: &story.lang, id: &story.id, asked, forgets, gone })
}

async fn tell(
    memory: &Services,
    owner: &Owner,
    story: &Conversations,
    turns: &[Message],
    date: Timestamp,
) -> Result<()> {
    let turn = |user: &String| Turn { user: user.clone(), assistant: "All right.".to_owned() };
    let turns: Vec<Turn> = turns.iter().map(|message| turn(&message.user)).collect();
    learn(memory, owner, &format!("{}-{date}", story.id), date, &turns).await
}

/// The parts that any memory in use still says.
async fn held<'a>(memory: &Services, owner: &Owner, parts: &[&'a str]) -> Result<Vec<&'a str>> {
    let memories = stored(memory, owner).await?;
    let texts: Vec<String> = memories
        .iter()
        .filter(|memory| memory.status.is_in_use())
        .flat_map(|memory| memory.sides().chain(memory.raw.as_deref()).map(str::to_lowercase))
        .collect();
    let says = |part: &&str| texts.iter().any(|text| text.contains(&part.to_lowercase()));
    Ok(parts.iter().copied().filter(says).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::test_support::services;

    #[tokio::test]
    async fn what_a_request_takes_is_told_from_what_stays() {
        let folder = tempfile::tempdir().unwrap();
        let memory = services(folder.path());
        let turn = |user: &str| json!({"user": user, "keep": [user]});
        let story: Conversations =
            serde_json::from_value(json!({"id": "r-1", "lang": "en", "sessions": [
                {"turns": [turn("My dog is called Zanzibar."), turn("I live in Leeds.")]},
                {"turns": [{"user": "Please forget that my dog is called Zanzibar.", "keep": [],
                    "forgets": ["My dog is called Zanzibar."]}]},
            ]}))
            .unwrap();
        let outcome = play(&memory, &story).await.unwrap();
        assert_eq!(outcome.gone, ["My dog is called Zanzibar."]);
        assert_eq!(outcome.forgets, outcome.gone);
        memory.capture.shutdown(crate::replay::PATIENCE).await;
    }
}
