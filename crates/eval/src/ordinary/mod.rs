//! `memgate eval ordinary`: what is stored of ordinary conversations, and what later questions are shown of it.

mod alone;
mod features;
mod figures;
mod judged;
mod matching;
mod play;
mod report;
mod row;
mod show;
mod stored;

pub(crate) use self::{alone::is_quoted, stored::Class};

use std::{fs, path::PathBuf};

use anyhow::{Context, Result, bail};

use self::{
    figures::Figures,
    play::play,
    report::{Report, Rows},
    row::Story,
};
use crate::{
    data::{self, Digests},
    evaluation::{Evaluation, Services},
    helper::ScriptedHelper,
};
use memgate_config::MemoryConfig;

/// Arguments of `memgate eval ordinary`.
#[derive(Debug, clap::Args)]
pub struct Ordinary {
    /// Conversations: JSON Lines, a user each, with the facts to keep and later questions
    /// (docs/quality.md)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Measure only the rows whose id has an even or an odd number
    #[arg(long, value_enum, default_value = "all")]
    rows: Rows,
    /// Print every memory and every context of this row instead of figures
    #[arg(long, value_name = "ID", conflicts_with_all = ["rows", "json"])]
    show: Option<String>,
    /// Also write the evidence of every candidate to this file, for tools/calibrate.py
    #[arg(long, value_name = "FILE", conflicts_with = "show")]
    features: Option<PathBuf>,
    /// Extract with a helper model, too, that answers from the labels of the messages, as a good one would
    #[arg(long)]
    helper: bool,
}

impl Evaluation for Ordinary {
    const LEARNS: bool = true;
    type Rows = Vec<Story>;
    type Report = Report;

    fn read(&self) -> Result<(Vec<Story>, String)> {
        data::rows(&self.file)
    }

    async fn measure(
        &self,
        memory: &Services,
        stories: &Vec<Story>,
        digests: Digests,
    ) -> Result<Report> {
        if let Some(id) = &self.show {
            let story = stories.iter().find(|story| story.id == *id);
            let story = story.with_context(|| format!("no row has the id {id:?}"))?;
            let played = play(memory, story, true).await.with_context(|| id.clone())?;
            return Ok(Report::of_story(show::story(story, &played), digests));
        }
        let helper = match self.helper {
            true if stories.iter().all(|story| story.labels().is_empty()) => {
                bail!("--helper: no turn of the file has `keep`, from which it would answer")
            }
            true => Some(ScriptedHelper::start().await?),
            false => None,
        };
        let mut results = Vec::with_capacity(stories.len());
        let mut features = String::new();
        for story in stories.iter().filter(|story| self.rows.hold(story)) {
            let explain = self.features.is_some();
            if let Some(helper) = &helper {
                let labels = story.labels();
                helper.answer(move |request| labels.answer(request));
                memory.capture.extract_with(Some(helper.client.clone()));
            }
            let played = play(memory, story, explain).await.with_context(|| story.id.clone())?;
            features::append(&mut features, story, &played)?;
            results.push((story, Figures::of(story, &played)));
        }
        if let Some(file) = &self.features {
            fs::write(file, features).with_context(|| format!("{}", file.display()))?;
        }
        Ok(Report::of(self.rows, &results, digests))
    }

    fn text(report: &Report, _: &MemoryConfig) -> String {
        report.text()
    }
}

#[cfg(test)]
mod tests;
