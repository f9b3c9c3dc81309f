//! A server that runs in the foreground until a signal: Milvus, Milvus Lite or PostgreSQL. Tests,
//! `up` and developers all use these commands, so that starting and stopping is implemented once.
//! Several can run at the same time.
//!
//! It must not depend on the stored data.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use rustix::process::Signal;
use tempfile::TempDir;
use tokio::time::Instant;

use crate::assets::progress::say;
use crate::process::{self, Program};
use crate::signals::Signals;

/// Timeout for the first answer: it takes some seconds, more after a kill, and much more if all
/// cores are busy.
const READY_WITHIN: Duration = Duration::from_secs(120);
/// Interval between two readiness checks.
const ASK_EVERY: Duration = Duration::from_millis(50);
/// Timeout for a graceful stop. An empty Milvus takes 0.2 s; with a loaded collection it takes 20 s
/// and refuses calls meanwhile. Acknowledged writes survive a kill.
const PATIENCE: Duration = Duration::from_millis(500);
/// Number of log lines shown after a failure.
const LAST_LINES: usize = 20;
/// A server's log file, in its folder; truncated at each start.
pub(crate) const LOG: &str = "server.log";

/// A server that is not started yet; its configuration is in its folder.
pub(crate) trait Server {
    /// Its name in the ready line.
    const NAME: &'static str;
    /// The signal that ends it soon.
    const END: Signal = Signal::TERM;
    fn program(&self) -> Program;
    /// Port for clients.
    fn port(&self) -> u16;
    /// Whether it answers.
    async fn is_ready(&self) -> bool;
    /// Removes files outside its folder. Called after the process with this id has ended.
    fn tidy(&self, pid: u32) {
        let _ = pid;
    }
}

/// Runs `serve` in a data folder, or in a temporary one. Shows the end of the log on failure.
///
/// # Errors
/// Those of `serve`, or when the folder cannot be created.
pub(crate) fn run_in(
    name: &str,
    data: Option<&PathBuf>,
    serve: impl AsyncFnOnce(&Path) -> Result<()>,
) -> Result<()> {
    let temporary;
    let folder = match data {
        Some(data) => {
            let folder = std::path::absolute(data).context("the data folder cannot be resolved")?;
            std::fs::create_dir_all(&folder)
                .with_context(|| format!("cannot create {}", folder.display()))?;
            folder
        }
        None => {
            temporary = TempDir::with_prefix(format!("memgate-{name}-"))
                .context("cannot create a temporary folder")?;
            temporary.path().to_owned()
        }
    };
    // A single thread, because children are tied to the thread that starts them.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(serve(&folder));
    if outcome.is_err() {
        show_log(&folder);
    }
    outcome
}

/// Keeps the server running until a signal. Prints `ready NAME 127.0.0.1:PORT` when it answers.
///
/// # Errors
/// When it does not start, or ends unexpectedly.
pub(crate) async fn serve<S: Server>(server: S) -> Result<()> {
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
    process::end_by(&mut child, S::END, PATIENCE).await?;
    if let Some(pid) = pid {
        server.tidy(pid);
    }
    outcome
}

/// Waits until it is ready, prints the ready line, then waits forever.
#[expect(clippy::print_stdout, reason = "the caller waits for the ready line")]
async fn answer<S: Server>(server: &S, started: Instant) -> Result<()> {
    while !server.is_ready().await {
        if started.elapsed() >= READY_WITHIN {
            bail!("the server did not answer within {} s", READY_WITHIN.as_secs());
        }
        tokio::time::sleep(ASK_EVERY).await;
    }
    say(&format!("{} answers after {:.1} s", S::NAME, started.elapsed().as_secs_f32()));
    println!("ready {} 127.0.0.1:{}", S::NAME, server.port());
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
