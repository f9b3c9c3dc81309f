//! `cargo xtask figures`: measures what README.md and docs/quality.md say of quality, writes docs/figures.json, and
//! makes their tables of it. A test fails when the models or the data have changed since.

mod plan;
mod render;
mod results;

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context, Result, ensure};

use self::{
    plan::{EVALUATIONS, Evaluation},
    results::{Measured, Models, Results},
};
use crate::{
    assets::{self, Kind, progress, repository},
    build::{self, Profile},
    document::Document,
    machine::Machine,
};

/// Names itself in the documents.
const COMMAND: &str = "cargo xtask figures";

/// Arguments of `cargo xtask figures`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Measure nothing; make the tables again from docs/figures.json.
    #[arg(long)]
    tables: bool,
}

impl Args {
    /// Runs the command.
    ///
    /// # Errors
    /// When an evaluation fails, or a document has no place for its table.
    pub(crate) fn run(self) -> Result<()> {
        let tables = documents()?;
        let results = if self.tables { Results::read()? } else { measured()? };
        if !self.tables {
            results.write()?;
        }
        if let Some(why) = results.outdated()? {
            progress::say(&format!("measure again: {why}"));
        }
        for (document, table) in tables {
            document.rewrite(&table(&results))?;
        }
        Ok(())
    }
}

/// Makes what a document shows of the results.
type Table = fn(&Results) -> String;

/// The documents, and what they show.
fn documents() -> Result<[(Document, Table); 2]> {
    let open = |file: &str| Document::open(&repository().join(file), COMMAND);
    Ok([(open("README.md")?, render::readme), (open("docs/quality.md")?, render::quality)])
}

fn measured() -> Result<Results> {
    let models = Models::shipped()?;
    assets::ensure(&[Kind::Runtime, Kind::Model])?;
    let memgate = build::binaries(Profile::Release)?.memgate;
    let machine = Machine::look()?;
    let mut evaluations = Vec::with_capacity(EVALUATIONS.len());
    for (index, evaluation) in EVALUATIONS.iter().enumerate() {
        progress::step(index + 1, EVALUATIONS.len(), &evaluation.command());
        evaluations.push(run(&memgate, evaluation, &models)?);
    }
    let Machine { processor, cores, date, commit, .. } = machine;
    let machine = format!("{processor}, {cores} cores");
    Ok(Results { date, commit, machine, models, evaluations })
}

/// Runs an evaluation with the configuration that is shipped.
fn run(memgate: &Path, evaluation: &Evaluation, models: &Models) -> Result<Measured> {
    let began = Instant::now();
    let output = Command::new(memgate)
        .args(["eval", evaluation.kind, evaluation.file, "--json"])
        .env_remove("MEMGATE_CONFIG")
        .current_dir(repository())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot run {}", memgate.display()))?;
    ensure!(output.status.success(), "{} failed", evaluation.command());
    let report = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("{}: not the JSON of a report", evaluation.command()))?;
    Measured::of(evaluation, &report, began.elapsed().as_secs(), models)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_are_those_of_the_models_and_data_in_the_repository() {
        let outdated = Results::read().unwrap().outdated().unwrap();
        assert_eq!(outdated, None, "measure again: cargo xtask figures");
    }

    #[test]
    fn the_tables_show_the_figures() {
        let results = Results::read().unwrap();
        for (document, table) in documents().unwrap() {
            let shown = document.figures().unwrap();
            assert_eq!(shown, table(&results).trim(), "cargo xtask figures --tables");
        }
    }

    #[test]
    fn an_older_model_is_noticed() {
        let mut results = Results::read().unwrap();
        results.models.weights_sha256.replace_range(..1, "x");
        assert_eq!(results.outdated().unwrap().as_deref(), Some("the models have changed"));
    }
}
