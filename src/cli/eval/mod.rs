//! `memgate eval`: measures the quality of memory on labelled data, with the parts of `memgate
//! serve` on a temporary data folder. Only the clock is simulated, and no setting exists for
//! evaluations only.

mod data;
mod features;
pub(crate) mod harness;
mod locomo;
mod memorable;
mod on_disk;
mod parse;
mod placement;
mod replay;
mod scenarios;
mod shares;
mod signals;
mod updates;

use std::io::{self, ErrorKind, Write};

use anyhow::{Context, Result};

/// Arguments of `memgate eval`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Recall of evidence turns in long conversations (LoCoMo)
    Locomo(locomo::Args),
    /// Precision and recall of facts extracted from single messages
    Memorable(memorable::Args),
    /// Prompt-prefix reuse per context placement, in conversations of twenty turns
    Placement(placement::Args),
    /// Recall and precision in scenarios over several sessions
    Scenarios(scenarios::Args),
    /// Accuracy of the decision whether to search memory
    Signals(signals::Args),
    /// Accuracy of detecting statements that a new message supersedes
    Updates(updates::Args),
}

impl Args {
    pub(super) fn run(self) -> Result<()> {
        match self.what {
            What::Locomo(args) => args.run(),
            What::Memorable(args) => args.run(),
            What::Placement(args) => args.run(),
            What::Scenarios(args) => args.run(),
            What::Signals(args) => args.run(),
            What::Updates(args) => args.run(),
        }
    }
}

/// Writes to standard output. A reader that closes the pipe early (`| head`) is not a failure.
fn print(text: &str) -> Result<()> {
    match writeln!(io::stdout().lock(), "{text}") {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}
