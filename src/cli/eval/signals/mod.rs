//! `memgate eval signals`: each message decided as a request's would be, by the same code.

mod report;

use std::path::PathBuf;

use anyhow::Result;
use serde::Deserialize;
use tokio::time::Instant;

use self::report::Report;
use super::{
    data::{self, Digests, Labelled, no_language, none_of},
    frame::{Frame, with_memory},
    replay::PATIENCE,
};
use crate::{
    models::Models,
    recall::{Decided, Message, Recall},
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

/// A row.
#[derive(Clone, Debug, Deserialize)]
struct Row {
    id: String,
    #[serde(default)]
    lang: String,
    text: String,
    #[serde(default)]
    tools_offered: bool,
    #[serde(default)]
    signal: String,
    personal: bool,
    search: bool,
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

/// What is decided of each message, with the configured embedding model.
async fn decided(recall: &Recall, rows: &[Row]) -> Vec<Decided> {
    let mut decided = Vec::with_capacity(rows.len());
    for row in rows {
        let message = row.message(&Earlier::SILENT);
        decided.push(recall.decide(&message, Instant::now() + PATIENCE).await);
    }
    decided
}

impl Labelled for Row {
    fn id(&self) -> Option<&str> {
        Some(&self.id)
    }

    fn wrong(&self) -> Option<String> {
        let signals = ["fact", "tool", "greeting", "none"];
        let told = |label: &str| !label.is_empty();
        let lang = told(&self.lang).then(|| no_language(&self.lang)).flatten();
        lang.or_else(|| none_of("signal", &self.signal, &signals).filter(|_| told(&self.signal)))
    }
}

impl Row {
    fn message<'a>(&'a self, earlier: &'a Earlier) -> Message<'a> {
        Message { text: &self.text, earlier, tools_offered: self.tools_offered }
    }
}
