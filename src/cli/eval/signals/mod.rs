//! `memgate eval signals`: each message decided as a request's would be, by the same code.

mod report;
mod row;

use std::path::PathBuf;

use anyhow::Result;
use tokio::time::Instant;

use self::{report::Report, row::Row};
use super::{
    data::{self, Digests},
    frame::{Frame, with_memory},
    replay::PATIENCE,
};
use crate::{
    recall::{Decided, Recall},
    signals::Earlier,
    startup::Need,
};

/// Arguments of `memgate eval signals`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The messages: one JSON object a line (testdata/signals/README.md).
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    frame: Frame,
}

impl Args {
    pub(super) fn run(self) -> Result<()> {
        let (rows, data_sha256) = data::rows::<Row>(&self.file)?;
        let config = self.frame.config()?;
        let digests = Digests::of(data_sha256, &config)?;
        let decided = with_memory(&config, Need::Model, async |memory| {
            Ok(decided(&memory.recall, &rows).await)
        })?;
        self.frame.show(&Report::of(&rows, &decided, digests), Report::told)
    }
}

/// What is decided of each message, with the configured embedding model.
async fn decided(recall: &Recall, rows: &[Row]) -> Vec<Decided> {
    let mut decided = Vec::with_capacity(rows.len());
    for row in rows {
        let message = row.message(&Earlier::SILENT);
        decided.push(recall.decide(&message, Instant::now() + PATIENCE).await);
    }
    decided
}
