//! `cargo xtask assets`: downloads assets and prints their paths.

use anyhow::Result;

use super::{Kind, ensure};

/// Arguments of `cargo xtask assets`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Download only these assets.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Kind::ALL)]
    only: Vec<Kind>,
}

impl Args {
    /// Runs the command: progress on standard error, one line `NAME PATH` per asset on standard
    /// output.
    ///
    /// # Errors
    /// Those of [`ensure`].
    #[expect(clippy::print_stdout, reason = "the paths are this command's output")]
    pub(crate) fn run(&self) -> Result<()> {
        let assets = ensure(&self.only)?;
        for kind in &self.only {
            let (name, path) = match kind {
                Kind::Envoy => ("envoy", assets.envoy()),
                Kind::Runtime => ("runtime", assets.runtime()),
                Kind::Model => ("model", assets.model()),
                Kind::Minilm => ("minilm", assets.minilm()),
                Kind::Python => ("python", assets.python()),
                Kind::Milvus => ("milvus", assets.milvus()),
                Kind::MilvusLite => ("milvus-lite", assets.milvus_lite()),
                Kind::Postgres => ("postgres", assets.postgres()),
                Kind::Browser => ("browser", assets.browser()),
                Kind::CargoTools => ("cargo-tools", assets.cargo_tools()),
                Kind::FakeTime => ("faketime", assets.fake_time()),
                Kind::Training => ("training", assets.training()),
            };
            println!("{name} {}", path.display());
        }
        Ok(())
    }
}
