//! `memgate check-health`: asks a running memgate whether memory works. It is what a container's
//! health check runs, since an image may hold no other program; it must never open the data folder.

use std::process::ExitCode;

use reqwest::Url;

use super::{
    answer::{block_on, report},
    client::Client,
    config_file::ConfigFile,
    failure::Failure,
    memories::at_listen,
    options::server,
    print::print,
};
use crate::config::Config;

/// Arguments of `memgate check-health`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigFile,
    /// The memgate to ask [default: the one at listen.http].
    #[arg(long, value_name = "URL", value_parser = server)]
    server: Option<Url>,
}

impl Args {
    pub(super) fn run(self) -> ExitCode {
        let ready = block_on(self.ask());
        match ready.and_then(|server| print(format!("{server} is ready\n").as_bytes())) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => report(&failure, false),
        }
    }

    /// Who said that it is ready.
    async fn ask(self) -> Result<Url, Failure> {
        let server = match self.server {
            Some(server) => server,
            None => {
                let config = Config::load_with(self.config.path().as_deref(), &|config| {
                    // Nothing is asked of them here.
                    config.external_models.clear();
                })?;
                at_listen(&config).ok_or_else(|| {
                    Failure::new("no_address", "listen.http has no fixed port; name a --server")
                })?
            }
        };
        Client::new(server.clone(), None)?.ready().await?;
        Ok(server)
    }
}
