//! `memgate eval signals`: accuracy of the decision whether to search, with the code that serves
//! requests.

mod report;
mod row;

use std::path::PathBuf;

use anyhow::Result;
use tokio::time::Instant;

use self::{report::Report, row::Row};
use crate::{
    cli::eval::{
        data::{self, Digests},
        harness::{EvalArgs, with_memory},
        replay::PATIENCE,
    },
    startup::Need,
};
use memgate_models::Models;
use memgate_recall::{Decided, Recall, signals::Earlier};

/// Arguments of `memgate eval signals`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Messages: JSON Lines (testdata/signals/README.md)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    frame: EvalArgs,
}

impl Args {
    pub(super) fn run(self) -> Result<()> {
        let (rows, data_sha256) = data::rows::<Row>(&self.file)?;
        let config = self.frame.config()?;
        let digests = Digests::of(data_sha256, &config)?;
        let (decided, models) = with_memory(&config, Need::Model, async |memory| {
            let models = Models::for_embedder(memory.embedder.space())?;
            Ok((decided(&memory.recall, &rows).await, models))
        })?;
        let weights = models.weights_sha256().to_owned();
        self.frame.show(&Report::of(&rows, &decided, digests, weights), Report::told)
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
