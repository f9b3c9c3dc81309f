//! `memgate eval signals`: accuracy of the decision whether to search, with the code that serves
//! requests.

mod report;
mod row;

use std::path::PathBuf;

use anyhow::Result;
use tokio::time::Instant;

use self::{report::Report, row::Row};
use crate::{
    data::{self, Digests},
    evaluation::{Evaluation, Services},
    replay::PATIENCE,
};
use memgate_config::MemoryConfig;
use memgate_models::Models;
use memgate_recall::{Decided, Recall, signals::Earlier};

/// Arguments of `memgate eval signals`.
#[derive(Debug, clap::Args)]
pub struct Signals {
    /// Messages: JSON Lines (testdata/signals/README.md)
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Evaluation for Signals {
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
        let models = Models::for_embedder(memory.embedder.space())?;
        let decided = decided(&memory.recall, rows).await;
        Ok(Report::of(rows, &decided, digests, models.weights_sha256().to_owned()))
    }

    fn text(report: &Report, _: &MemoryConfig) -> String {
        report.told()
    }
}

/// The decision for each message, with the configured embedding model.
async fn decided(recall: &Recall, rows: &[Row]) -> Vec<Decided> {
    let mut decided = Vec::with_capacity(rows.len());
    for row in rows {
        let message = row.message(&Earlier::SILENT);
        decided.push(recall.decide(&message, Instant::now() + PATIENCE).await);
    }
    decided
}
