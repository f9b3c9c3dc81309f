//! `cargo xtask milvus`: runs a Milvus server in the foreground. Tests, `up` and developers all use
//! this command, so that starting and stopping is implemented once. Several can run at the same
//! time.
//!
//! It must not depend on the stored data.

mod lite;
mod standalone;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use tempfile::TempDir;
use tokio::time::Instant;

use crate::assets::progress::say;
use crate::assets::{self, Kind};
use crate::process::{self, Program};
use crate::signals::Signals;

/// Timeout for the first answer: it takes some seconds, more after a kill, and much more if all
/// cores are busy.
const READY_WITHIN: Duration = Duration::from_secs(120);
/// Interval between two readiness checks.
const ASK_EVERY: Duration = Duration::from_millis(50);
/// Timeout for a graceful stop. An empty server takes 0.2 s; with a loaded collection it takes 20 s
/// and refuses calls meanwhile. Acknowledged writes survive a kill.
const PATIENCE: Duration = Duration::from_millis(500);
/// Number of log lines shown after a failure.
const LAST_LINES: usize = 20;
/// Its log file, in its folder; truncated at each start.
const LOG: &str = "milvus.log";

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

/// A server that is not started yet; its configuration is in its folder.
trait Server {
    fn program(&self) -> Program;
    /// Port for clients.
    fn port(&self) -> u16;
    /// Whether it answers.
    async fn is_ready(&self) -> bool;
    /// Removes files outside its folder. Called after the process with this id has ended.
    fn tidy(&self, pid: u32);
}

impl Args {
    /// Runs the server until a signal. Prints `ready milvus 127.0.0.1:PORT` when it answers.
    ///
    /// # Errors
    /// When it does not start, or ends unexpectedly.
    pub(crate) fn run(self) -> Result<()> {
        crate::tls::provide()?;
        match &self.data {
            Some(data) => {
                let folder =
                    std::path::absolute(data).context("the data folder cannot be resolved")?;
                std::fs::create_dir_all(&folder)
                    .with_context(|| format!("cannot create {}", folder.display()))?;
                self.run_in(&folder)
            }
            None => {
                let folder = TempDir::with_prefix("memgate-milvus-")
                    .context("cannot create a temporary folder")?;
                self.run_in(folder.path())
            }
        }
    }

    fn run_in(&self, folder: &Path) -> Result<()> {
        // A single thread, because children are tied to the thread that starts them.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let outcome = if self.lite {
            let assets = assets::ensure(&[Kind::MilvusLite])?;
            runtime.block_on(serve(lite::MilvusLite::prepare(&assets, folder, self.port)?))
        } else {
            let assets = assets::ensure(&[Kind::Milvus])?;
            runtime.block_on(serve(standalone::Milvus::prepare(&assets, folder, self.port)?))
        };
        if outcome.is_err() {
            show_log(folder);
        }
        outcome
    }
}

/// Keeps the server running until a signal.
async fn serve(server: impl Server) -> Result<()> {
    let mut end = Signals::new()?;
    let started = Instant::now();
    let mut child =
        server.program().stubborn_command().spawn().context("cannot start the server")?;
    let pid = child.id();
    let outcome = tokio::select! {
        ended = child.wait() => Err(anyhow!("the server ended unexpectedly ({})", ended?)),
        outcome = answer(&server, started) => outcome,
        () = end.next() => Ok(()),
    };
    process::end(&mut child, PATIENCE).await?;
    if let Some(pid) = pid {
        server.tidy(pid);
    }
    outcome
}

/// Waits until it is ready, prints the ready line, then waits forever.
#[expect(clippy::print_stdout, reason = "the ready line is for whoever started us")]
async fn answer(server: &impl Server, started: Instant) -> Result<()> {
    while !server.is_ready().await {
        if started.elapsed() >= READY_WITHIN {
            bail!("the server did not answer within {} s", READY_WITHIN.as_secs());
        }
        tokio::time::sleep(ASK_EVERY).await;
    }
    say(&format!("Milvus answers after {:.1} s", started.elapsed().as_secs_f32()));
    println!("ready milvus 127.0.0.1:{}", server.port());
    std::future::pending().await
}

/// Shown now, because the folder may be about to be removed.
fn show_log(folder: &Path) {
    let log = std::fs::read(folder.join(LOG)).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    let lines: Vec<&str> = log.lines().collect();
    for line in &lines[lines.len().saturating_sub(LAST_LINES)..] {
        say(line);
    }
}
