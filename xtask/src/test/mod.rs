//! `cargo xtask test`: everything a commit must pass, step by step, with times, flaky tests and total counts. A
//! failing step does not stop the others.

mod counts;
mod flaky;
mod runner;
mod servers;
mod steps;
mod stress;

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use self::counts::Counts;
use self::runner::Report;
use self::servers::Servers;
use self::steps::Step;
use crate::assets::progress;

/// Arguments of `cargo xtask test`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Also run the long suites.
    #[arg(long)]
    long: bool,
    /// Instead of all steps, repeat the tests on a loaded machine and at other dates (an hour).
    #[arg(long, conflicts_with = "long")]
    stress: bool,
}

/// Result of a step.
struct Outcome {
    name: String,
    report: Report,
    took: Duration,
}

impl Args {
    /// Runs the command.
    ///
    /// # Errors
    /// When a step failed.
    pub(crate) fn run(self) -> Result<()> {
        let steps = if self.stress { stress::steps() } else { Step::all(self.long) };
        let mut outcomes = Vec::new();
        let mut servers = Servers::default();
        for (index, step) in steps.iter().enumerate() {
            progress::step(index + 1, steps.len(), &step.name);
            let started = Instant::now();
            let report = step.run(&mut servers).unwrap_or_else(|error| {
                progress::say(&format!("error: {error:#}"));
                Report::of(false)
            });
            outcomes.push(Outcome { name: step.name.clone(), report, took: started.elapsed() });
        }
        summary(&outcomes);
        if outcomes.iter().all(|outcome| outcome.report.passed) {
            Ok(())
        } else {
            bail!("some steps failed");
        }
    }
}

/// Prints a line for each step, the flaky tests, and as the last line the total counts.
#[expect(clippy::print_stdout, reason = "the counts are this command's output")]
fn summary(outcomes: &[Outcome]) {
    println!();
    for flaky in outcomes.iter().flat_map(|outcome| &outcome.report.flaky) {
        println!("{flaky}");
    }
    for outcome in outcomes {
        let verdict = if outcome.report.passed { "ok" } else { "FAILED" };
        let took = outcome.took.as_secs_f32();
        println!("{:<24} {verdict:<7} {took:>7.1} s  {}", outcome.name, outcome.report.counts);
    }
    let total: Counts = outcomes.iter().map(|outcome| outcome.report.counts).sum();
    let flaky: usize = outcomes.iter().map(|outcome| outcome.report.flaky.len()).sum();
    let took: f32 = outcomes.iter().map(|outcome| outcome.took.as_secs_f32()).sum();
    let passed = outcomes.iter().filter(|outcome| outcome.report.passed).count();
    println!("{passed} of {} steps ok in {took:.0} s; {flaky} flaky tests", outcomes.len());
    println!("{} passed, {} failed, {} skipped", total.passed, total.failed, total.skipped);
}
