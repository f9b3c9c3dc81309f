//! The servers of stores shared by the tests of a run: started once, passed to tests by environment
//! variables, and stopped with the run, even if this process is killed.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal};

use crate::assets::repository;
use crate::process::Program;

/// Kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Milvus,
    Lite,
    Postgres,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Milvus, Self::Lite, Self::Postgres];

    /// The tests that need it, by their names in `memgate-store`.
    fn tests(self) -> &'static str {
        match self {
            Self::Milvus => "^milvus::tests::(real|traps)::",
            Self::Lite => "^milvus::tests::lite::",
            Self::Postgres => "^postgres::tests::",
        }
    }

    /// The command that runs it.
    fn command(self) -> &'static str {
        match self {
            Self::Milvus | Self::Lite => "milvus",
            Self::Postgres => "postgres",
        }
    }
}

/// The running servers.
#[derive(Default)]
pub(super) struct Servers(Vec<Running>);

struct Running {
    kind: Kind,
    address: String,
    process: Child,
}

impl Servers {
    /// Starts a server on a free port and waits until it answers.
    ///
    /// # Errors
    /// When it does not start; the reason is on standard error.
    pub(super) fn start(&mut self, kind: Kind) -> Result<()> {
        let mut arguments = vec![kind.command().into(), "--port".into(), "0".into()];
        if let Kind::Lite = kind {
            arguments.push("--lite".into());
        }
        // This path still works if cargo has replaced our executable.
        let program = Program { path: "/proc/self/exe".into(), arguments, folder: repository() };
        let mut process = program
            .command()
            .into_std()
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a server")?;
        let stdout = process.stdout.take();
        // Stored at once, so that it is stopped whatever happens.
        self.0.push(Running { kind, address: String::new(), process });
        // The ready line ends with the address.
        let prefix = format!("ready {} ", kind.command());
        let ready =
            stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines()).find_map(|line| {
                line.ok().and_then(|line| line.strip_prefix(&prefix).map(str::to_owned))
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

    /// nextest's filter for those of `tests` whose server runs; nextest counts the others as skipped.
    pub(super) fn among(&self, tests: &str) -> String {
        let runs = |kind: &Kind| self.0.iter().any(|running| running.kind == *kind);
        without(Kind::ALL.into_iter().filter(|kind| !runs(kind)), tests)
    }

    /// Sets the environment variables for a test runner.
    pub(super) fn tell(&self, runner: &mut Command) {
        for running in &self.0 {
            let variable = match running.kind {
                Kind::Milvus => "MEMGATE_TEST_MILVUS",
                Kind::Lite => "MEMGATE_TEST_MILVUS_LITE",
                Kind::Postgres => "MEMGATE_TEST_POSTGRES",
            };
            runner.env(variable, &running.address);
        }
    }

    /// Stops all servers.
    pub(super) fn end(&mut self) {
        self.0.clear();
    }
}

/// nextest's filter for those of `tests` that need none of these servers.
fn without(missing: impl Iterator<Item = Kind>, tests: &str) -> String {
    missing.fold(format!("({tests})"), |filter, kind| {
        format!("{filter} - (package(memgate-store) & test(/{}/))", kind.tests())
    })
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(pid) = Pid::from_raw(self.process.id().cast_signed()) {
            // An error means that it has already ended.
            let _ = rustix::process::kill_process(pid, Signal::TERM);
        }
        drop(self.process.wait());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_whose_server_does_not_run_are_left_out() {
        assert_eq!(without([].into_iter(), "all()"), "(all())");
        assert_eq!(
            without([Kind::Lite].into_iter(), "test(a) | test(b)"),
            "(test(a) | test(b)) - (package(memgate-store) & test(/^milvus::tests::lite::/))"
        );
        for kind in Kind::ALL {
            assert!(Servers::default().among("all()").contains(kind.tests()), "{kind:?}");
        }
    }
}
