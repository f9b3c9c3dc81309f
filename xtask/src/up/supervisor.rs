//! Keeps programs running: starts each again when it ends by itself, later each time, and says so. Until the whole
//! is ready, an end is an error instead: what cannot start will not start by being tried again.
//!
//! It must not know what the programs are.

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

/// The wait before the first new start; it doubles each time.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// A program that ran for so long is well again: the next wait is the first one.
const WELL_AFTER: Duration = Duration::from_secs(60);

/// How long the last lines of an ended program are waited for: another may hold its pipe open.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Where a program's output goes.
#[derive(Clone, Debug)]
pub enum Output {
    /// To stderr, each line with the program's name before it.
    Terminal,
    /// To `NAME.log` in this folder.
    Folder(PathBuf),
}

/// A program to keep running.
#[derive(Clone, Debug)]
pub struct Service {
    pub name: &'static str,
    pub program: Program,
    /// How long it may take to end when asked; then it is made to.
    pub patience: Duration,
}

/// The programs that run.
pub struct Supervisor {
    output: Output,
    /// Cancelled once everything is ready; from then on an end is followed by a new start.
    ready: CancellationToken,
    running: Vec<Running>,
    failures: (mpsc::Sender<anyhow::Error>, mpsc::Receiver<anyhow::Error>),
}

struct Running {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Supervisor {
    pub fn new(output: Output) -> Self {
        Self {
            output,
            ready: CancellationToken::new(),
            running: Vec::new(),
            // Each service fails at most once before the whole is ready; the first failure is what is shown.
            failures: mpsc::channel(1),
        }
    }

    /// Starts a program and keeps it running. They are ended in the opposite order.
    pub fn start(&mut self, service: Service) {
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

    /// Waits until a program fails; never ends while all is well.
    pub async fn failure(&mut self) -> anyhow::Error {
        match self.failures.1.recv().await {
            Some(error) => error,
            // We hold a sender ourselves, so the channel is never closed.
            None => std::future::pending().await,
        }
    }

    /// From now on, what ends is started again.
    pub fn all_is_ready(&self) {
        self.ready.cancel();
    }

    /// Ends all programs, the last started first.
    pub async fn end(mut self) {
        while let Some(running) = self.running.pop() {
            running.stop.cancel();
            // A keeper that panicked has dropped its child, which kills it.
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
            // What it said last must stand before what we say of its end.
            drop(tokio::time::timeout(LAST_LINES, shown.join_all()).await);
            let Some(ended) = ended else { return Ok(()) };
            if !self.ready.is_cancelled() {
                return Err(anyhow!(
                    "{name} ended before it was ready ({ended}); its last lines say why"
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

    /// Starts the program; the tasks show what it says until it ends.
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

/// Shows what a program writes until it ends.
async fn show_lines(name: &'static str, from: impl AsyncRead + Unpin) {
    let mut lines = BufReader::new(from).lines();
    // A line that is no UTF-8 ends the showing, not the program.
    while let Ok(Some(line)) = lines.next_line().await {
        say(&format!("{name:>8} | {line}"));
    }
}

fn restart_line(name: &str, ended: ExitStatus, wait: Duration) -> String {
    format!("{name} ended by itself ({ended}); starting it again in {} s", wait.as_secs_f32())
}

fn next_wait(wait: Duration) -> Duration {
    (wait * 2).min(LONGEST_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let waits: Vec<f32> =
            std::iter::successors(Some(FIRST_WAIT), |wait| Some(next_wait(*wait)))
                .take(8)
                .map(|wait| wait.as_secs_f32())
                .collect();
        assert_eq!(waits, [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]);
    }
}
