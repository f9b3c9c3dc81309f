//! `memgate eval refusals`: benign statements that are lost to caution, and secrets that reach the disk, with the code
//! that writes the journal.

mod report;
mod row;

use std::path::PathBuf;

use anyhow::Result;

use self::{report::Report, row::Row};
use crate::{
    data::{self, Digests},
    evaluation::{Evaluation, Services},
};
use memgate_capture::{OnDisk, on_disk};
use memgate_config::MemoryConfig;
use memgate_screening::Screener;

/// Arguments of `memgate eval refusals`.
#[derive(Debug, clap::Args)]
pub struct Refusals {
    /// Messages: JSON Lines (testdata/screening/README.md)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Also list the lost statements and the stored secrets
    #[arg(long)]
    show: bool,
}

impl Evaluation for Refusals {
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
        let screener = Screener::new(memory.config.screening);
        let left: Vec<OnDisk> = rows.iter().map(|row| on_disk(&row.text, screener)).collect();
        Ok(Report::of(rows, &left, self.show, digests))
    }

    fn text(report: &Report, _: &MemoryConfig) -> String {
        report.told()
    }
}
