//! `memgate check-health`: checks whether memory works in a running memgate. For container health
//! checks, since an image may contain no other program; it never opens the data folder.

use std::process::ExitCode;

use reqwest::Url;

use crate::cli::{
    answer::{block_on, report},
    backend::at_listen,
    client::Client,
    failure::Failure,
    options::{ConfigFile, server},
    output::print::print,
};
use memgate_config::Config;

/// Arguments of `memgate check-health`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    config: ConfigFile,
    /// URL of the memgate to check [default: the one at listen.http].
    #[arg(long, value_name = "URL", value_parser = server)]
    server: Option<Url>,
}

impl Args {
    pub(crate) fn run(self) -> ExitCode {
        let ready = block_on(self.ask());
        match ready.and_then(|server| print(format!("{server} is ready\n").as_bytes())) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => report(&failure, false),
        }
    }

    /// The URL of the memgate that is ready.
    async fn ask(self) -> Result<Url, Failure> {
        let (server, config) = match self.server {
            Some(server) => (server, None),
            None => {
                let config = Config::load_with(self.config.path().as_deref(), &|config| {
                    // Helper models are not used here, so their keys need not be set.
                    config.external_models.clear();
                })?;
                let server = at_listen(&config).ok_or_else(|| {
                    Failure::new("no_address", "listen.http has no fixed port; use --server")
                })?;
                (server, Some(config))
            }
        };
        Client::new(server.clone(), None, config.as_ref())?.ready().await?;
        Ok(server)
    }
}
