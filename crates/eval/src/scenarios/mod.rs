//! `memgate eval scenarios`: recall and precision in scenarios over several sessions.

mod features;
mod labels;
mod score;

pub(crate) use features::evidence;

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::{
    count::{between, percent},
    data::{self, Digests},
    evaluation::{Evaluation, Services},
    replay::{Recalled, Scenario, ask, tell},
    scenarios::score::{Outcome, Report, Shares},
    table::Sheet,
};
use memgate_config::{ExtractionMode, MemoryConfig};
use memgate_core::memory::Owner;

/// Arguments of `memgate eval scenarios`.
#[derive(Debug, clap::Args)]
pub struct Scenarios {
    /// Scenarios: JSON Lines (testdata/scenarios/README.md)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Store all scenarios in one user's memory before asking: a larger memory, most of it
    /// irrelevant to each question
    #[arg(long)]
    together: bool,
    /// Also write the evidence of every candidate to this file, for tools/calibrate.py
    #[arg(long, value_name = "FILE")]
    features: Option<PathBuf>,
}

impl Evaluation for Scenarios {
    const LEARNS: bool = true;
    type Rows = Vec<Scenario>;
    type Report = Report;

    fn read(&self) -> Result<(Vec<Scenario>, String)> {
        data::rows(&self.file)
    }

    async fn measure(
        &self,
        memory: &Services,
        scenarios: &Vec<Scenario>,
        digests: Digests,
    ) -> Result<Report> {
        let recalled = replay(memory, scenarios, self.together).await?;
        let results: Vec<(&Scenario, Recalled)> = scenarios.iter().zip(recalled).collect();
        if let Some(file) = &self.features {
            features::write(file, &results)?;
        }
        let outcomes: Vec<(&Scenario, Outcome)> =
            results.iter().map(|(s, recalled)| (*s, Outcome::of(s, recalled))).collect();
        Ok(Report::of(&outcomes, digests))
    }

    fn text(report: &Report, config: &MemoryConfig) -> String {
        told(report, config)
    }
}

/// Replays the scenarios on one memory, each as a separate user or all as one.
async fn replay(
    memory: &Services,
    scenarios: &[Scenario],
    together: bool,
) -> Result<Vec<Recalled>> {
    let owner = |scenario: &Scenario| {
        let user = if together { "everybody" } else { scenario.id.as_str() };
        Owner::of_user(user).with_context(|| scenario.id.clone())
    };
    for scenario in scenarios {
        let told = tell(memory, &owner(scenario)?, scenario).await;
        told.with_context(|| scenario.id.clone())?;
    }
    let mut recalled = Vec::with_capacity(scenarios.len());
    for scenario in scenarios {
        let answer = ask(memory, &owner(scenario)?, scenario).await;
        recalled.push(answer.with_context(|| scenario.id.clone())?);
    }
    Ok(recalled)
}

/// The result as text.
fn told(report: &Report, memory: &MemoryConfig) -> String {
    let mut sheet = Sheet::of(&report.digests);
    let models = memory.embedding.models().into_iter().map(|it| it.config);
    let models: Vec<_> = models.map(|it| format!("{} {:?}", it.model, it.precision)).collect();
    sheet.line(format_args!(
        "{}; limit {}, threshold {}, memories: {}",
        models.join(" + "),
        memory.default_retrieval_limit,
        memory.default_similarity_threshold,
        made_of(&memory.extraction.modes),
    ));
    let row = |(name, shares): (&str, &Shares)| {
        let Shares { scenarios, recall, precision, shown } = *shares;
        let figures = [percent(recall), percent(precision), format!("{shown:.1}")];
        let [recall, precision, shown] = figures;
        [name.to_owned(), scenarios.to_string(), recall, precision, shown]
    };
    let groups = report.by_kind.iter().chain(&report.by_lang);
    let groups = groups.map(|(name, shares)| (name.as_str(), shares));
    sheet.table(
        ["", "scenarios", "recall", "precision", "shown"],
        [("all", &report.all)].into_iter().chain(groups).map(row),
    );
    let shares = [
        ("recall", report.all.recall, report.recall_interval),
        ("negatives clean", report.negatives_clean, report.negatives_clean_interval),
        ("outdated shown", report.outdated_shown, None),
        ("updates right", report.updates_right, None),
    ];
    let row = |(name, share, interval): (&str, _, _)| {
        [name.to_owned(), percent(share), between(interval)]
    };
    sheet.table(["", "share", "95% interval"], shares.map(row));
    sheet.errors(&report.errors);
    sheet.end()
}

/// Names the content of one memory.
fn made_of(modes: &[ExtractionMode]) -> String {
    let names = modes.iter().map(|mode| match mode {
        ExtractionMode::Turns => "whole turns",
        ExtractionMode::Local => "the user's statements",
        ExtractionMode::Llm => "facts of the extraction model, if one is configured",
    });
    names.collect::<Vec<_>>().join(", ")
}
