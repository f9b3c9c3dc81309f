//! `cargo xtask assets`: fetch, and say where things are.

use anyhow::Result;

use super::{Kind, ensure};

/// Arguments of `cargo xtask assets`.
#[derive(clap::Args)]
pub struct Args {
    /// Only these parts.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Kind::ALL)]
    only: Vec<Kind>,
}

impl Args {
    /// Runs the command: progress on stderr, one line `NAME PATH` a part on stdout.
    ///
    /// # Errors
    /// Those of [`ensure`].
    #[expect(clippy::print_stdout, reason = "the paths are this command's answer")]
    pub fn run(&self) -> Result<()> {
        let assets = ensure(&self.only)?;
        for kind in &self.only {
            let (name, path) = match kind {
                Kind::Envoy => ("envoy", assets.envoy()),
                Kind::Runtime => ("runtime", assets.runtime()),
                Kind::Model => ("model", assets.model()),
                Kind::Python => ("python", assets.python()),
                Kind::Milvus => ("milvus", assets.milvus()),
                Kind::MilvusLite => ("milvus-lite", assets.milvus_lite()),
                Kind::Training => ("training", assets.training()),
            };
            println!("{name} {}", path.display());
        }
        Ok(())
    }
}
