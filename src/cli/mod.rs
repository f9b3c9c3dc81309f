//! The command line, one file a subcommand. It reads arguments, calls one thing and shows the
//! outcome; it must never do what the API could not do as well.
//!
//! Exit codes: 0 done, 1 failed, 2 called wrongly.

mod config_file;
mod eval;
mod serve;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Long-term memory for any OpenAI-compatible gateway, behind Envoy.
#[derive(Debug, Parser)]
#[command(name = "memgate", version)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve Envoy and the REST API until SIGINT or SIGTERM; SIGHUP reads the configuration again.
    Serve(serve::Args),
    /// Measure the quality of memory on labelled data.
    Eval(eval::Args),
}

impl Cli {
    /// Runs the command; says on standard error why it failed.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let outcome = match self.command {
            Command::Serve(args) => args.run(),
            Command::Eval(args) => args.run(),
        };
        match outcome {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                complain(&error);
                ExitCode::FAILURE
            }
        }
    }
}

#[expect(clippy::print_stderr, reason = "the command line's own words")]
fn complain(error: &anyhow::Error) {
    eprintln!("error: {error:#}");
}
