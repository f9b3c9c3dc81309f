//! Child processes that never outlive xtask. Each runs in its own process group (so that Ctrl-C
//! reaches only xtask, which stops them in order), is stopped by a signal with a timeout, and is
//! stopped by the kernel if xtask is killed.

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal};
use tokio::process::{Child, Command};

/// Name of the hidden command that children start as.
pub(crate) const LEASH: &str = "leash";

/// Arguments of the hidden command: ties this process to its parent, then executes `command`.
///
/// It is a separate process because the parent-death signal must be requested by the child, and
/// safe Rust cannot do that between fork and exec.
#[derive(clap::Args)]
pub(crate) struct LeashArgs {
    /// Use SIGKILL when the parent ends, for programs that ignore SIGTERM.
    #[arg(long)]
    kill: bool,
    /// Process id of the parent.
    parent: i32,
    /// The program and its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    command: Vec<std::ffi::OsString>,
}

impl LeashArgs {
    /// Executes the command; returns only on failure.
    ///
    /// # Errors
    /// When the parent has already ended, or the program cannot be started.
    pub(crate) fn run(&self) -> Result<()> {
        let signal = if self.kill { Signal::KILL } else { Signal::TERM };
        rustix::process::set_parent_process_death_signal(Some(signal))
            .context("cannot request a signal for the parent's end")?;
        // The parent may have ended before the request.
        if rustix::process::getppid() != Pid::from_raw(self.parent) {
            bail!("the parent process has ended");
        }
        let Some((program, arguments)) = self.command.split_first() else {
            bail!("no program given");
        };
        let error = std::process::Command::new(program).args(arguments).exec();
        Err(error).with_context(|| format!("cannot start {}", program.display()))
    }
}

/// A program to start.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub path: PathBuf,
    pub arguments: Vec<std::ffi::OsString>,
    /// Working directory.
    pub folder: PathBuf,
}

impl Program {
    /// The command that starts it, tied to this process. The parent-death signal follows the
    /// *thread* that spawns, so spawn from one that lives as long as xtask.
    pub(crate) fn command(&self) -> Command {
        self.leashed(&[])
    }

    /// As [`Program::command`], with SIGKILL, for programs that ignore SIGTERM.
    pub(crate) fn stubborn_command(&self) -> Command {
        self.leashed(&["--kill"])
    }

    fn leashed(&self, options: &[&str]) -> Command {
        // This path still works if cargo has replaced our executable.
        let mut command = Command::new("/proc/self/exe");
        command
            .arg0("xtask")
            .arg(LEASH)
            .args(options)
            .arg(std::process::id().to_string())
            .arg("--")
            .arg(&self.path)
            .args(&self.arguments)
            .current_dir(&self.folder)
            .process_group(0)
            .stdin(std::process::Stdio::null())
            .kill_on_drop(true);
        command
    }
}

/// Asks the child's process group to end, and kills it after `patience`.
pub(crate) async fn end(child: &mut Child, patience: Duration) -> Result<ExitStatus> {
    end_by(child, Signal::TERM, patience).await
}

/// As [`end`], by another signal.
pub(crate) async fn end_by(
    child: &mut Child,
    signal: Signal,
    patience: Duration,
) -> Result<ExitStatus> {
    signal_group(child, signal);
    if let Ok(ended) = tokio::time::timeout(patience, child.wait()).await {
        return ended.context("cannot wait for a child");
    }
    signal_group(child, Signal::KILL);
    child.wait().await.context("cannot wait for a child")
}

fn signal_group(child: &Child, signal: Signal) {
    let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    if let Some(pid) = pid {
        // An error means that it has just ended.
        let _ = rustix::process::kill_process_group(pid, signal);
    }
}
