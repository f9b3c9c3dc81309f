//! `memgate reindex`: re-embeds all memories with the configured model.

use std::{path::PathBuf, process::ExitCode};

use crate::{
    cli::{
        answer::{block_on, report},
        failure::Failure,
        options::ConfigFile,
        output::{print::print, progress::Progress},
    },
    startup::{ReindexError, Reindexed, reindex},
};
use memgate_config::Config;

/// Arguments of `memgate reindex`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    config: ConfigFile,
    /// Data folder (data_dir).
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl Args {
    pub(crate) fn run(self) -> ExitCode {
        // This fails only when a provider is already installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        match block_on(self.reindex()).and_then(|done| print(told(&done).as_bytes())) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => report(&failure, false),
        }
    }

    async fn reindex(self) -> Result<Reindexed, Failure> {
        let Self { config, data } = self;
        let config = Config::load_with(config.path().as_deref(), &move |config| {
            if let Some(data) = &data {
                config.data_dir.clone_from(data);
            }
        })?;
        let progress = Progress::of_memories();
        Ok(reindex(config, |embedded| progress.set(embedded as u64)).await?)
    }
}

impl From<ReindexError> for Failure {
    fn from(error: ReindexError) -> Self {
        match error {
            ReindexError::Start(error) => error.into(),
            ReindexError::Broken { .. } => Self::new("not_reindexed", error.to_string()),
        }
    }
}

fn told(done: &Reindexed) -> String {
    let Reindexed { embedded, passed_over, space } = done;
    let mut told = format!("Embedded {embedded} memories; {space} is now in use.\n");
    if *passed_over > 0 {
        told += &format!("{passed_over} could not be embedded and are found by words alone.\n");
    }
    told
}
