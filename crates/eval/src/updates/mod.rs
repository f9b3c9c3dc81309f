//! `memgate eval updates`: does a new message supersede the outdated statements, and only those?

mod rows;

use std::{fs, io::Write, path::PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::json;

use crate::{
    data::{self, Digests},
    evaluation::{Evaluation, Services},
    table::Sheet,
    updates::rows::{Later, Row, messages},
};
use memgate_capture::{Judged, judged};
use memgate_config::MemoryConfig;
use memgate_models::{Models, Outdated, UpdateFeatures};

/// Arguments of `memgate eval updates`.
#[derive(Debug, clap::Args)]
pub struct Updates {
    /// Scenarios (testdata/scenarios/README.md), pairs of a sentence and a later message
    /// (testdata/reconcile), or labelled conversations (testdata/ordinary), as JSON Lines
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Also write the features of every pair to this file, for tools/train_updates.py
    #[arg(long, value_name = "FILE")]
    features: Option<PathBuf>,
}

impl Evaluation for Updates {
    const LEARNS: bool = false;
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
        let messages: Vec<Later> = rows.iter().enumerate().flat_map(messages).collect();
        let judged = judge(memory, &messages).await?;
        if let Some(file) = &self.features {
            write(file, &messages, &judged)?;
        }
        Ok(Report::of(&messages, &judged, digests))
    }

    fn text(report: &Report, _: &MemoryConfig) -> String {
        report.told()
    }
}

async fn judge(memory: &Services, messages: &[Later]) -> Result<Vec<Vec<Judged>>> {
    let embedder = memory.embedder.as_ref();
    let models = Models::for_embedder(embedder.space())?;
    let mut all = Vec::with_capacity(messages.len());
    for message in messages {
        let olds: Vec<String> = message.olds.iter().map(|(old, _)| old.clone()).collect();
        all.push(judged(embedder, &models.update, &message.message, &olds).await?);
    }
    Ok(all)
}

fn write(file: &std::path::Path, messages: &[Later], judged: &[Vec<Judged>]) -> Result<()> {
    let mut text = Vec::new();
    for (later, judged) in messages.iter().zip(judged) {
        for ((old, replaces), judged) in later.olds.iter().zip(judged) {
            // In their order, which an object would not keep.
            let values = UpdateFeatures::NAMES.iter().zip(judged.features.values());
            let features: Vec<(&&str, f32)> = values.collect();
            let line = json!({
                "group": later.group, "lang": later.lang, "old": old, "new": later.message,
                "replaces": replaces, "features": features, "nearest": judged.nearest,
            });
            writeln!(text, "{line}")?;
        }
    }
    fs::write(file, text).with_context(|| format!("{}", file.display()))
}

/// The result, as `--json` prints it.
#[derive(Debug, Serialize)]
pub struct Report {
    #[serde(flatten)]
    digests: Digests,
    /// Number of pairs of a sentence and a later message.
    pairs: usize,
    /// Outdated sentences that are superseded.
    found: usize,
    /// Outdated sentences that stay, marked.
    marked: usize,
    /// Outdated sentences that stay as they were.
    missed: usize,
    /// Valid sentences that are superseded.
    put_away_wrongly: usize,
    /// Valid sentences that are marked.
    marked_wrongly: usize,
}

impl Report {
    fn of(messages: &[Later], judged: &[Vec<Judged>], digests: Digests) -> Self {
        let pairs = messages.iter().zip(judged).flat_map(|(later, judged)| {
            let pairs = later.olds.iter().zip(judged);
            pairs.map(|((_, over), judged)| (*over, judged.outdated))
        });
        let pairs: Vec<(bool, Outdated)> = pairs.collect();
        let count = |of: (bool, Outdated)| pairs.iter().filter(|pair| **pair == of).count();
        Self {
            digests,
            pairs: pairs.len(),
            found: count((true, Outdated::Surely)),
            marked: count((true, Outdated::Perhaps)),
            missed: count((true, Outdated::No)),
            put_away_wrongly: count((false, Outdated::Surely)),
            marked_wrongly: count((false, Outdated::Perhaps)),
        }
    }

    fn told(&self) -> String {
        let mut sheet = Sheet::of(&self.digests);
        let numbers = [
            ("outdated and superseded", self.found),
            ("outdated and marked", self.marked),
            ("outdated and missed", self.missed),
            ("valid but superseded", self.put_away_wrongly),
            ("valid but marked", self.marked_wrongly),
        ];
        let row = |(name, number): (&str, usize)| [name.to_owned(), number.to_string()];
        sheet.table([&format!("{} pairs", self.pairs), "number"], numbers.map(row));
        sheet.end()
    }
}
