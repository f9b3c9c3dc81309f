//! `cargo xtask bench`: memgate's overhead behind a real Envoy, compared with a no-op server behind
//! the same filters.
//!
//! Everything runs at the same time and is measured in turn, round after round, so that other load
//! affects all of it alike. Compare only numbers of one run.

mod figures;
mod load;
mod plan;
mod proc;
mod report;
mod request;
mod rounds;
mod samples;
mod seed;
mod servers;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use self::plan::Plan;
use self::seed::Programs;
use self::servers::Servers;
use crate::assets::progress::say;
use crate::assets::{self, Kind, repository};
use crate::build::{self, Profile};
use crate::document::Document;
use crate::machine::{self, Machine};
use crate::signals::until_signal;

/// Names itself in the document.
const COMMAND: &str = "cargo xtask bench --out";

/// Arguments of `cargo xtask bench`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Use fewer users, rounds and requests: tests that the benchmark works.
    #[arg(long)]
    quick: bool,
    /// Replace the results in this file, between its two markers.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Cargo profile of memgate.
    #[arg(long, value_enum, default_value_t = Profile::Release)]
    profile: Profile,
}

impl Args {
    /// Runs the command.
    ///
    /// # Errors
    /// One sentence: what is missing or failed; also when a request failed during the measurement.
    pub(crate) fn run(self) -> Result<()> {
        crate::tls::provide()?;
        let document = self.out.as_deref().map(|file| Document::open(file, COMMAND)).transpose()?;
        let assets = assets::ensure(&[Kind::Envoy, Kind::Runtime, Kind::Model])?;
        let programs = Programs {
            binaries: build::binaries(self.profile)?,
            noop: build::example(self.profile, "noop_ext_proc")?,
            seeder: build::example(self.profile, "seed_memories")?,
            assets,
        };
        let plan = if self.quick { Plan::quick() } else { Plan::full() };

        // A single thread, because children are tied to the thread that starts them.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (text, failed) = runtime.block_on(until_signal(measure(&programs, &plan)))?;
        show(&text);
        if let Some(document) = document {
            document.rewrite(&text)?;
        }
        if failed > 0 {
            bail!("{failed} requests failed");
        }
        Ok(())
    }
}

/// The results as Markdown, and the number of failed requests.
async fn measure(programs: &Programs, plan: &Plan) -> Result<(String, usize)> {
    // On the project's disk, because a temporary folder may be in memory.
    let target = repository().join("target");
    std::fs::create_dir_all(&target).context("cannot create target/")?;
    let folder = tempfile::Builder::new()
        .prefix("bench-")
        .tempdir_in(target)
        .context("cannot create a folder in target/")?;
    let mut before = Machine::look()?;
    for store in plan.stores() {
        seed::fill(programs, folder.path(), store).await?;
    }
    let servers = Servers::start(programs, plan, folder.path()).await?;
    say("ready");
    before.load_average = machine::load_average()?;
    let outcome = rounds::run(plan, &servers).await;
    let memory = servers.memory();
    servers.end().await;
    let results = outcome?;
    let failed = results.failed();
    Ok((report::render(plan, &before, &results, &memory?)?, failed))
}

#[expect(clippy::print_stdout, reason = "the results are this command's output")]
fn show(text: &str) {
    println!("{text}");
}
