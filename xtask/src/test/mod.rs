//! `cargo xtask test`: everything a commit must pass, step by step, with times and total counts. A
//! failing step does not stop the others.

mod counts;
mod servers;
mod steps;

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use self::counts::Counts;
use self::servers::Servers;
use self::steps::Step;
use crate::assets::progress;

/// Arguments of `cargo xtask test`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Also run the long suites.
    #[arg(long)]
    long: bool,
}

/// Result of a step.
struct Outcome {
    name: &'static str,
    passed: bool,
    counts: Counts,
    took: Duration,
}

impl Args {
    /// Runs the command.
    ///
    /// # Errors
    /// When a step failed.
    pub(crate) fn run(self) -> Result<()> {
        let steps = Step::all(self.long);
        let mut outcomes = Vec::new();
        let mut servers = Servers::default();
        for (index, step) in steps.iter().enumerate() {
            progress::step(index + 1, steps.len(), step.name);
            let started = Instant::now();
            let (passed, counts) = match step.run(&mut servers) {
                Ok(outcome) => outcome,
                Err(error) => {
                    progress::say(&format!("error: {error:#}"));
                    (false, Counts::default())
                }
            };
            outcomes.push(Outcome { name: step.name, passed, counts, took: started.elapsed() });
        }
        summary(&outcomes);
        if outcomes.iter().all(|outcome| outcome.passed) {
            Ok(())
        } else {
            bail!("some steps failed");
        }
    }
}

#[expect(clippy::print_stdout, reason = "the counts are this command's output")]
fn summary(outcomes: &[Outcome]) {
    println!();
    for outcome in outcomes {
        let verdict = if outcome.passed { "ok" } else { "FAILED" };
        let took = outcome.took.as_secs_f32();
        println!("{:<16} {verdict:<7} {took:>7.1} s  {}", outcome.name, outcome.counts);
    }
    let total: Counts = outcomes.iter().map(|outcome| outcome.counts).sum();
    let took: f32 = outcomes.iter().map(|outcome| outcome.took.as_secs_f32()).sum();
    let failed = outcomes.iter().filter(|outcome| !outcome.passed).count();
    println!(
        "total: {} passed, {} failed, {} skipped; {} of {} steps ok in {took:.0} s",
        total.passed,
        total.failed,
        total.skipped,
        outcomes.len() - failed,
        outcomes.len(),
    );
}
