//! Runs a command of a step, shows its output line by line, and reads its counts and flaky tests.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::counts::Counts;
use super::flaky::{Flaky, FlakyReader};

/// Result of a step, or of one of its commands.
#[derive(Debug)]
pub(super) struct Report {
    pub passed: bool,
    pub counts: Counts,
    pub flaky: Vec<Flaky>,
}

impl Report {
    /// A step without tests.
    pub(super) fn of(passed: bool) -> Self {
        Self { passed, counts: Counts::default(), flaky: Vec::new() }
    }

    /// This report and `other` together.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.passed &= other.passed;
        self.counts = [self.counts, other.counts].into_iter().sum();
        self.flaky.extend(other.flaky);
        self
    }
}

/// Runs a command, prints its output line by line, and reports what it says of tests.
///
/// # Errors
/// When the command cannot be run.
#[expect(clippy::print_stdout, reason = "the runners' own output is what a reader wants")]
pub(super) fn show(command: &mut Command) -> Result<Report> {
    let program = command.get_program().to_string_lossy().into_owned();
    // Both streams, in the order of their lines: nextest counts on stderr, pytest on stdout.
    let (output, input) = std::io::pipe().context("cannot make a pipe")?;
    command.stdin(Stdio::null()).stdout(input.try_clone()?).stderr(input);
    let mut child = command.spawn().with_context(|| format!("cannot run {program}"))?;
    // The command holds the pipe's other end, which would keep it open.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (mut counts, mut flaky) = (Vec::new(), FlakyReader::default());
    for line in BufReader::new(output).split(b'\n') {
        let line = line.with_context(|| format!("cannot read the output of {program}"))?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        counts.extend(Counts::in_line(&line));
        flaky.line(&line);
    }
    let status = child.wait().with_context(|| format!("cannot wait for {program}"))?;
    let counts = counts.into_iter().sum();
    Ok(Report { passed: status.success(), counts, flaky: flaky.finish() })
}
