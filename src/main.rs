//! The program: parses the command line and calls one function of `cli`.

use std::process::ExitCode;

use clap::Parser;
use memgate::cli::Cli;

fn main() -> ExitCode {
    Cli::parse().run()
}
