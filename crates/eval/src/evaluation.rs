//! The frame of all evaluations: the parts of memory that they measure, and their steps.

use std::{path::PathBuf, sync::Arc};

use anyhow::Result;
use serde::Serialize;

use crate::data::Digests;
use memgate_capture::Capture;
use memgate_config::MemoryConfig;
use memgate_core::{
    clock::{Clock, SettableTime},
    memory::MemoryStore,
};
use memgate_embed::Embedder;
use memgate_recall::Recall;

/// The parts of an empty memory that an evaluation fills and measures.
pub struct Services {
    /// Finds memories.
    pub recall: Recall,
    /// Learns from turns.
    pub capture: Arc<Capture>,
    /// The store of both.
    pub store: Arc<dyn MemoryStore>,
    /// The embedder of both.
    pub embedder: Arc<dyn Embedder>,
    /// The settings of a request.
    pub config: MemoryConfig,
    /// The data folder.
    pub folder: PathBuf,
    /// The clock of all these parts.
    pub clock: Clock,
    /// Sets the clock to the date of what is replayed.
    pub time: SettableTime,
}

/// An evaluation: a subcommand of `memgate eval`, with its arguments.
pub trait Evaluation {
    /// Whether it learns from turns: then the journal's jobs must run.
    const LEARNS: bool;
    /// The labelled data.
    type Rows;
    /// The result, as `--json` prints it.
    type Report: Serialize;

    /// Reads the data. Returns it with the SHA-256 of its files.
    ///
    /// # Errors
    /// When a file cannot be read or is invalid; the error names file and line.
    fn read(&self) -> Result<(Self::Rows, String)>;

    /// Measures.
    ///
    /// # Errors
    /// When a part of memory fails.
    fn measure(
        &self,
        memory: &Services,
        rows: &Self::Rows,
        digests: Digests,
    ) -> impl Future<Output = Result<Self::Report>>;

    /// The result as text.
    fn text(report: &Self::Report, config: &MemoryConfig) -> String;

    /// Rows that were not measured, with the reasons. With one or more the command fails after it has printed the
    /// result.
    fn unmeasured(_: &Self::Report) -> &[String] {
        &[]
    }
}
