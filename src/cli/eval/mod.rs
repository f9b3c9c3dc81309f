//! `memgate eval`: how good memory is, measured on labelled data. The parts are those that
//! `memgate serve` joins, on a temporary data folder; nothing is simulated but the clock.
//!
//! It must never change what it measures: no setting exists for its sake.

mod data;
mod features;
mod frame;
mod labels;
mod locomo;
mod memorable;
mod on_disk;
mod parse;
mod placement;
mod replay;
mod scenarios;
mod score;
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
    /// Conversations of two people (LoCoMo): are the turns found that answer a question?
    Locomo(locomo::Args),
    /// Single messages: are facts kept of those that are worth keeping, and of no others?
    Memorable(memorable::Args),
    /// Conversations of twenty turns: how much of a prompt is the next one's beginning, by where the context stands?
    Placement(placement::Args),
    /// Whole stories over several sessions: is what was told recalled later, and nothing else?
    Scenarios(scenarios::Args),
    /// Single messages: is memory searched for those that it could help, and skipped for the rest?
    Signals(signals::Args),
    /// Messages beside what was told before them: is what holds no longer told from what still does?
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

/// Writes to standard output. A reader who has seen enough (`| head`) is no failure.
fn print(text: &str) -> Result<()> {
    match writeln!(io::stdout().lock(), "{text}") {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("standard output cannot be written"),
    }
}
