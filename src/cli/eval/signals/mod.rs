//! `memgate eval signals`: each message decided as a request's would be, by the same code.

mod report;

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Deserialize;
use tokio::time::{Duration, Instant};

use self::report::{Digests, Report};
use super::data;
use crate::{
    cli::config_file::ConfigFile,
    config::Config,
    recall::{Decided, Message},
    signals::{Earlier, weights_sha256},
    startup::{Need, Offline},
};

/// Nothing here measures time: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// Arguments of `memgate eval signals`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The messages: one JSON object a line (testdata/signals/README.md).
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    config: ConfigFile,
    /// Print JSON.
    #[arg(long)]
    json: bool,
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
        let (rows, data) = data::rows::<Row>(&self.file)?;
        let config = Config::load_with(self.config.path().as_deref(), &|_| {})?;
        let model = data::model_digest(&config)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .context("cannot start the async runtime")?;
        let decided = runtime.block_on(decided(config, &rows))?;
        let digests = Digests {
            data_sha256: data,
            model_sha256: model,
            weights_sha256: weights_sha256().to_owned(),
        };
        let report = Report::of(&rows, &decided, digests);
        if self.json {
            return super::print(&serde_json::to_string(&report)?);
        }
        super::print(&report.told())
    }
}

/// What is decided of each message, with the configured embedding model.
async fn decided(mut config: Config, rows: &[Row]) -> Result<Vec<Decided>> {
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    config.data_dir = folder.path().to_owned();
    let offline = Offline::open(config, Need::Model).await?;
    let recall = &offline.operations().recall;
    let mut decided = Vec::with_capacity(rows.len());
    for row in rows {
        let message = row.message(&Earlier::SILENT);
        decided.push(recall.decide(&message, Instant::now() + PATIENCE).await);
    }
    offline.close().await;
    Ok(decided)
}

impl Row {
    fn message<'a>(&'a self, earlier: &'a Earlier) -> Message<'a> {
        Message { text: &self.text, earlier, tools_offered: self.tools_offered }
    }
}
