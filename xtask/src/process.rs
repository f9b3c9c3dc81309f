//! Processes that must not outlive us: each runs in a group of its own (so that Ctrl-C in a terminal reaches only
//! xtask, which ends them in order), is ended by signal with a limit on its patience, and is ended by the kernel
//! if xtask itself is killed.

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal};
use tokio::process::{Child, Command};

/// The hidden command that a child begins as.
pub const LEASH: &str = "leash";

/// Arguments of the hidden command: tie this process to its parent, then become `command`.
///
/// It is a process of its own because asking the kernel for the signal must happen in the child, and doing so
/// between fork and exec is not possible in safe Rust.
#[derive(clap::Args)]
pub struct LeashArgs {
    /// End it with SIGKILL when its parent is gone: for a program that does not heed SIGTERM.
    #[arg(long)]
    kill: bool,
    /// The process that must be alive.
    parent: i32,
    /// The program and its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    command: Vec<std::ffi::OsString>,
}

impl LeashArgs {
    /// Becomes the command; returns only on failure.
    ///
    /// # Errors
    /// When the parent is gone already, or the program cannot be started.
    pub fn run(&self) -> Result<()> {
        let signal = if self.kill { Signal::KILL } else { Signal::TERM };
        rustix::process::set_parent_process_death_signal(Some(signal))
            .context("cannot ask for a signal when the parent ends")?;
        // It may have ended before we asked.
        if rustix::process::getppid() != Pid::from_raw(self.parent) {
            bail!("the parent process is gone");
        }
        let Some((program, arguments)) = self.command.split_first() else {
            bail!("no program was given");
        };
        let error = std::process::Command::new(program).args(arguments).exec();
        Err(error).with_context(|| format!("cannot start {}", program.display()))
    }
}

/// How to start a program.
#[derive(Clone, Debug)]
pub struct Program {
    pub path: PathBuf,
    pub arguments: Vec<std::ffi::OsString>,
    /// The folder it runs in.
    pub folder: PathBuf,
}

impl Program {
    /// The command that starts it, tied to this process. The parent-death signal follows the *thread* that spawns,
    /// so spawn from one that lives as long as xtask.
    pub fn command(&self) -> Command {
        self.leashed(&[])
    }

    /// The same for a program that does not heed SIGTERM: it is killed when this process is gone.
    pub fn stubborn_command(&self) -> Command {
        self.leashed(&["--kill"])
    }

    fn leashed(&self, options: &[&str]) -> Command {
        // Our own file by this name, because cargo may have put a newer one in its place.
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

/// Asks the child's group to end, waits at most `patience`, then makes it.
pub async fn end(child: &mut Child, patience: Duration) -> Result<ExitStatus> {
    signal_group(child, Signal::TERM);
    if let Ok(ended) = tokio::time::timeout(patience, child.wait()).await {
        return ended.context("cannot wait for a child");
    }
    signal_group(child, Signal::KILL);
    child.wait().await.context("cannot wait for a child")
}

fn signal_group(child: &Child, signal: Signal) {
    let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    if let Some(pid) = pid {
        // An error means that it has ended just now, which is what we want.
        let _ = rustix::process::kill_process_group(pid, signal);
    }
}
