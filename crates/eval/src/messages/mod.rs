//! `memgate eval messages`: what becomes of each part of labelled messages: whose words are kept, which wishes stand, what is
//! kept out.

mod report;
mod row;

use std::path::PathBuf;

use anyhow::{Context, Result};
use tokio::time::Instant;

use self::{
    report::{Played, Report},
    row::Row,
};
use crate::{
    data::{self, Digests},
    evaluation::{Evaluation, Services},
    replay::{self, PATIENCE},
};
use memgate_config::MemoryConfig;
use memgate_core::memory::Owner;
use memgate_recall::{Decision, Message, Skip, signals::Earlier};

#[cfg(test)]
mod tests;

/// Arguments of `memgate eval messages`.
#[derive(Debug, clap::Args)]
pub struct Messages {
    /// Messages: JSON Lines (testdata/messages/README.md)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Also list the parts that were judged wrongly
    #[arg(long)]
    show: bool,
}

impl Evaluation for Messages {
    const LEARNS: bool = true;
    type Rows = Vec<Row>;
    type Report = Report;

    fn read(&self) -> Result<(Vec<Row>, String)> {
        data::rows(&self.file)
    }

    async fn measure(
        &self,
        memory: &Services,
        rows: &Vec<Row>,
        digests: Digests,
    ) -> Result<Report> {
        let mut report = Report::of(digests, self.show);
        for row in rows {
            let played = play(memory, row).await.with_context(|| row.id.clone())?;
            report.add(row, &played);
        }
        Ok(report)
    }

    fn text(report: &Report, _: &MemoryConfig) -> String {
        report.told()
    }
}

/// Plays the turns of a row in the memory of a user of its own.
async fn play(memory: &Services, row: &Row) -> Result<Played> {
    let owner = Owner::of_user(&row.id).context("the id is not a valid user id")?;
    let mut prompts = Vec::with_capacity(row.turns.len());
    for turn in &row.turns {
        let text = turn.text();
        let message = Message { text: &text, signals: &Earlier::SILENT, tools_offered: false };
        let decided = memory.recall.decide(&message, Instant::now() + PATIENCE).await;
        prompts.push(decided.decision == Decision::Skip(Skip::Housekeeping));
    }
    let now = memory.clock.now();
    replay::learn(memory, &owner, "session", now, &row.played()).await?;
    Ok(Played { memories: replay::in_use(memory, &owner).await?, prompts })
}
