//! The Milvus servers that the tests of a run share: started once, told to the tests by environment variables, and
//! ended with the run, also when this process is killed.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal};

use crate::assets::repository;
use crate::process::Program;

/// What `cargo xtask milvus` says before the address when the server answers.
const READY: &str = "ready milvus ";

/// Which server.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Milvus,
    Lite,
}

/// Those that run.
#[derive(Default)]
pub struct Servers(Vec<Running>);

struct Running {
    kind: Kind,
    address: String,
    process: Child,
}

impl Servers {
    /// Starts one on a free port and waits until it answers.
    ///
    /// # Errors
    /// When it does not start; it says why on stderr.
    pub fn start(&mut self, kind: Kind) -> Result<()> {
        let mut arguments = vec!["milvus".into(), "--port".into(), "0".into()];
        if let Kind::Lite = kind {
            arguments.push("--lite".into());
        }
        // Our own file by this name, because cargo may put a newer one in its place.
        let program = Program { path: "/proc/self/exe".into(), arguments, folder: repository() };
        let mut process = program
            .command()
            .into_std()
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a Milvus server")?;
        let stdout = process.stdout.take();
        // Kept at once, so that it is ended whatever happens.
        self.0.push(Running { kind, address: String::new(), process });
        let ready =
            stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines()).find_map(|line| {
                line.ok().and_then(|line| line.strip_prefix(READY).map(str::to_owned))
            });
        match (ready, self.0.last_mut()) {
            (Some(address), Some(running)) => running.address = address,
            _ => {
                self.0.pop();
                return Err(anyhow::anyhow!("the server ended before it was ready"));
            }
        }
        Ok(())
    }

    /// Tells a test runner where they are.
    pub fn tell(&self, runner: &mut Command) {
        for running in &self.0 {
            let variable = match running.kind {
                Kind::Milvus => "MEMGATE_TEST_MILVUS",
                Kind::Lite => "MEMGATE_TEST_MILVUS_LITE",
            };
            runner.env(variable, &running.address);
        }
    }

    /// Ends all.
    pub fn end(&mut self) {
        self.0.clear();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(pid) = Pid::from_raw(self.process.id().cast_signed()) {
            // An error means that it has ended by itself.
            let _ = rustix::process::kill_process(pid, Signal::TERM);
        }
        drop(self.process.wait());
    }
}
