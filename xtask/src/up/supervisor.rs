//! Keeps programs running: restarts a program that ends, with increasing delays and a message.
//! Until everything is ready, an end is an error instead, because a restart would not help.
//!
//! It must not depend on the programs.

use std::fs::File;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::Child;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::assets::progress::say;
use crate::process::{self, Program};

/// Delay before the first restart; doubles each time.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// Maximum delay.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// After running for this long, a program starts again with the first delay.
const WELL_AFTER: Duration = Duration::from_secs(60);

/// Timeout for the last output of an ended program: another process may hold its pipe open.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Destination of a program's output.
#[derive(Clone, Debug)]
pub(super) enum Output {
    /// Standard error, each line prefixed with the program's name.
    Terminal,
    /// `NAME.log` in this folder.
    Folder(PathBuf),
}

/// A program to keep running.
#[derive(Clone, Debug)]
pub(super) struct Service {
    pub name: &'static str,
    pub program: Program,
    /// Timeout for a graceful stop; then it is killed.
    pub patience: Duration,
}

/// The running programs.
pub(super) struct Supervisor {
    output: Output,
    /// Cancelled once everything is ready; from then on programs are restarted.
    ready: CancellationToken,
    running: Vec<Running>,
    failures: (mpsc::Sender<anyhow::Error>, mpsc::Receiver<anyhow::Error>),
}

struct Running {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Supervisor {
    pub(super) fn new(output: Output) -> Self {
        Self {
            output,
            ready: CancellationToken::new(),
            running: Vec::new(),
            // Each service fails at most once before everything is ready; the first failure is
            // shown.
            failures: mpsc::channel(1),
        }
    }

    /// Starts a program and keeps it running. Programs are stopped in reverse order.
    pub(super) fn start(&mut self, service: Service) {
        let stop = CancellationToken::new();
        let keeper = Keeper {
            service,
            output: self.output.clone(),
            ready: self.ready.clone(),
            stop: stop.clone(),
        };
        let failures = self.failures.0.clone();
        let task = tokio::spawn(async move {
            if let Err(error) = keeper.run().await {
                drop(failures.try_send(error));
            }
        });
        self.running.push(Running { stop, task });
    }

    /// Waits until a program fails.
    pub(super) async fn failure(&mut self) -> anyhow::Error {
        match self.failures.1.recv().await {
            Some(error) => error,
            // `self` holds a sender, so the channel is never closed.
            None => std::future::pending().await,
        }
    }

    /// From now on, programs that end are restarted.
    pub(super) fn all_is_ready(&self) {
        self.ready.cancel();
    }

    /// Stops all programs, the last started first.
    pub(super) async fn end(mut self) {
        while let Some(running) = self.running.pop() {
            running.stop.cancel();
            // If a keeper panicked, it has dropped its child, which kills it.
            drop(running.task.await);
        }
    }
}

/// Keeps one program running.
struct Keeper {
    service: Service,
    output: Output,
    ready: CancellationToken,
    stop: CancellationToken,
}

impl Keeper {
    async fn run(self) -> Result<()> {
        let name = self.service.name;
        let mut wait = FIRST_WAIT;
        loop {
            let (mut child, shown) = self.spawn()?;
            let started = Instant::now();
            let ended = tokio::select! {
                ended = child.wait() => {
                    Some(ended.with_context(|| format!("cannot wait for {name}"))?)
                }
                () = self.stop.cancelled() => {
                    process::end(&mut child, self.service.patience).await?;
                    None
                }
            };
            // Its last output must come before the message about its end.
            drop(tokio::time::timeout(LAST_LINES, shown.join_all()).await);
            let Some(ended) = ended else { return Ok(()) };
            if !self.ready.is_cancelled() {
                return Err(anyhow!(
                    "{name} ended before it was ready ({ended}); see its last lines"
                ));
            }
            if started.elapsed() >= WELL_AFTER {
                wait = FIRST_WAIT;
            }
            say(&restart_line(name, ended, wait));
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.stop.cancelled() => return Ok(()),
            }
            wait = next_wait(wait);
        }
    }

    /// Starts the program; the tasks show its output until it ends.
    fn spawn(&self) -> Result<(Child, JoinSet<()>)> {
        let name = self.service.name;
        let mut command = self.service.program.command();
        match &self.output {
            Output::Terminal => command.stdout(Stdio::piped()).stderr(Stdio::piped()),
            Output::Folder(folder) => {
                let path = folder.join(format!("{name}.log"));
                let file = File::options()
                    .create(true)
                    .append(true)
                    .open(&path)
                    .with_context(|| format!("cannot write {}", path.display()))?;
                command.stdout(file.try_clone()?).stderr(file)
            }
        };
        let mut child = command.spawn().with_context(|| format!("cannot start {name}"))?;
        let mut shown = JoinSet::new();
        if let Some(stdout) = child.stdout.take() {
            shown.spawn(show_lines(name, stdout));
        }
        if let Some(stderr) = child.stderr.take() {
            shown.spawn(show_lines(name, stderr));
        }
        Ok((child, shown))
    }
}

/// Shows a program's output until it ends.
async fn show_lines(name: &'static str, from: impl AsyncRead + Unpin) {
    let mut lines = BufReader::new(from).lines();
    // A line that is not UTF-8 ends the output, not the program.
    while let Ok(Some(line)) = lines.next_line().await {
        say(&format!("{name:>8} | {line}"));
    }
}

fn restart_line(name: &str, ended: ExitStatus, wait: Duration) -> String {
    format!("{name} ended unexpectedly ({ended}); restarting it in {} s", wait.as_secs_f32())
}

fn next_wait(wait: Duration) -> Duration {
    (wait * 2).min(LONGEST_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_maximum() {
        let waits: Vec<f32> =
            std::iter::successors(Some(FIRST_WAIT), |wait| Some(next_wait(*wait)))
                .take(8)
                .map(|wait| wait.as_secs_f32())
                .collect();
        assert_eq!(waits, [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]);
    }
}
