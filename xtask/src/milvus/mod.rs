//! `cargo xtask milvus`: runs a Milvus server in the foreground.

mod lite;
mod standalone;

use std::path::PathBuf;

use anyhow::Result;

use crate::assets::{self, Kind};
use crate::server::{run_in, serve};

/// Arguments of `cargo xtask milvus`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run Milvus Lite instead: the API of newer servers, in Python.
    #[arg(long)]
    lite: bool,
    /// Port for clients; 0 picks a free one.
    #[arg(long, default_value_t = 19530)]
    port: u16,
    /// Folder of its data [default: a temporary folder].
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl Args {
    /// Runs the server until a signal. Prints `ready milvus 127.0.0.1:PORT` when it answers.
    ///
    /// # Errors
    /// When it does not start, or ends unexpectedly.
    pub(crate) fn run(self) -> Result<()> {
        crate::tls::provide()?;
        let Self { lite, port, data } = self;
        run_in("milvus", data.as_ref(), async |folder| {
            if lite {
                let assets = assets::ensure(&[Kind::MilvusLite])?;
                serve(lite::MilvusLite::prepare(&assets, folder, port)?).await
            } else {
                let assets = assets::ensure(&[Kind::Milvus])?;
                serve(standalone::Milvus::prepare(&assets, folder, port)?).await
            }
        })
    }
}
