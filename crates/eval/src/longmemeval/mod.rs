//! `memgate eval longmemeval`: recall in long histories of chats with an assistant. There is no judge model: a question
//! is answered if the evidence is shown.

mod chats;
mod messages;
mod question;
mod report;

use std::{collections::HashSet, path::PathBuf};

use anyhow::{Context, Result};

use self::{
    question::{Half, Question},
    report::{Outcome, Report},
};
use crate::{
    data::Digests,
    evaluation::{Evaluation, Services},
    parse,
};
use memgate_config::MemoryConfig;

/// Arguments of `memgate eval longmemeval`.
#[derive(Debug, clap::Args)]
pub struct LongMemEval {
    /// Questions: JSON files of LongMemEval, one question each, or folders of them
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Measure only the questions of one half
    #[arg(long, value_enum, default_value = "odd")]
    half: Half,
    /// Measure only the questions whose ids stand in this file, one a line
    #[arg(long, value_name = "FILE")]
    ids: Option<PathBuf>,
    /// How the history becomes memory
    #[arg(long, value_enum, default_value = "chats")]
    store: Store,
}

/// How a history becomes memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Store {
    /// Each message is one memory
    Messages,
    /// As in a running memgate: chats are learned from, facts replace facts
    Chats,
}

impl Evaluation for LongMemEval {
    const LEARNS: bool = true;
    type Rows = Vec<Question>;
    type Report = Report;

    fn read(&self) -> Result<(Vec<Question>, String)> {
        let ids = match &self.ids {
            Some(file) => {
                let text = parse::text(file)?;
                Some(text.split_whitespace().map(str::to_owned).collect::<HashSet<_>>())
            }
            None => None,
        };
        question::read(&self.files, self.half, ids.as_ref())
    }

    async fn measure(
        &self,
        memory: &Services,
        questions: &Vec<Question>,
        digests: Digests,
    ) -> Result<Report> {
        let mut outcomes = Vec::with_capacity(questions.len());
        for question in questions {
            // Each question has the memory of a separate user.
            let outcome = match self.store {
                Store::Messages => messages::ask(memory, question).await.map(Outcome::Ranked),
                Store::Chats => chats::ask(memory, question).await.map(Outcome::Shown),
            };
            outcomes.push((question, outcome.with_context(|| question.id.clone())?));
        }
        Ok(Report::of(&outcomes, digests))
    }

    fn text(report: &Report, _: &MemoryConfig) -> String {
        report.text()
    }
}
