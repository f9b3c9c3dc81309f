//! Developer tasks: `cargo xtask COMMAND`.
//!
//! This file only lists the commands; each has its own file.

mod assets;
mod bench;
mod build;
mod cldr;
mod data;
mod document;
mod envoy_config;
mod figures;
mod machine;
mod milvus;
mod ports;
mod postgres;
mod process;
mod server;
mod signals;
mod test;
mod tls;
mod train;
mod up;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Developer tasks of memgate.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run Envoy and memgate in front of a model server, in the foreground; --demo plays a
    /// demonstration.
    Up(up::Args),
    /// Run everything a commit must pass; ends with counts.
    Test(test::Args),
    /// Measure memgate against a no-op ext_proc server behind the same Envoy filters.
    Bench(bench::Args),
    /// Measure the quality that README.md and docs/quality.md state, and write it there.
    Figures(figures::Args),
    /// Download Envoy, ONNX Runtime, the embedding model, Python tools, Milvus servers and
    /// PostgreSQL into .assets/.
    Assets(assets::command::Args),
    /// Run a Milvus server in the foreground, for tests and development.
    Milvus(milvus::Args),
    /// Run a PostgreSQL server with pgvector in the foreground, for tests and development.
    Postgres(postgres::Args),
    /// Train the models in models/, or check that they come out of training as they are committed.
    Train(train::Args),
    /// Write the words for times in lang/cldr/ from Unicode's locale data.
    Cldr(cldr::Args),
    /// Fetch data of others on which memgate is measured into .assets/data/.
    Data(data::Args),
    /// Write an Envoy configuration with other addresses and another model server.
    EnvoyConfig(envoy_config::command::Args),
    /// Run a program that is killed when its parent ends.
    #[command(name = process::LEASH, hide = true)]
    Leash(process::LeashArgs),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Up(args) => args.run(),
        Command::Test(args) => args.run(),
        Command::Bench(args) => args.run(),
        Command::Figures(args) => args.run(),
        Command::Assets(args) => args.run(),
        Command::Milvus(args) => args.run(),
        Command::Postgres(args) => args.run(),
        Command::Train(args) => args.run(),
        Command::Cldr(args) => args.run(),
        Command::Data(args) => args.run(),
        Command::EnvoyConfig(args) => args.run(),
        Command::Leash(args) => args.run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            assets::progress::say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
