//! The command line, one file a subcommand. It reads arguments, calls one thing and shows the
//! outcome; it must never do what the API could not do as well.
//!
//! Exit codes: 0 done, 1 failed, 2 called wrongly: arguments that cannot be read, or a value that
//! the API refuses. docs/cli.md is for users.

mod answer;
mod check_config;
mod check_health;
mod client;
mod config_file;
mod eval;
mod export;
mod export_file;
mod failure;
mod forget;
mod import;
mod jobs;
mod list;
mod memories;
mod options;
mod print;
mod reindex;
mod remember;
mod reply;
mod search;
mod serve;
mod sessions;
mod show;
mod show_ledger;
mod text;

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
    /// Tell what is wrong with a configuration.
    CheckConfig(check_config::Args),
    /// Tell whether memory works in a running memgate; for health checks.
    CheckHealth(check_health::Args),
    /// Show a user's memories, newest first.
    List(list::Args),
    /// Find the memories that matter for a query, best first.
    Search(search::Args),
    /// Store a memory as it is told.
    Remember(remember::Args),
    /// Forget one memory, or all of a user's or of a project's, for good.
    Forget(forget::Args),
    /// Write everything a user has, or everybody, to a file.
    Export(export::Args),
    /// Bring in what was exported; what is there already is passed over.
    Import(import::Args),
    /// Show what is still to be learnt and what failed for good, and have it tried again.
    Jobs(jobs::Args),
    /// Show a user's sessions, the one that began last first, or end one.
    Sessions(sessions::Args),
    /// Embed every memory with the configured model, and take that one's vectors into use.
    Reindex(reindex::Args),
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
            Command::CheckConfig(args) => return args.run(),
            Command::CheckHealth(args) => return args.run(),
            Command::List(args) => return args.run(),
            Command::Search(args) => return args.run(),
            Command::Remember(args) => return args.run(),
            Command::Forget(args) => return args.run(),
            Command::Export(args) => return args.run(),
            Command::Import(args) => return args.run(),
            Command::Jobs(args) => return args.run(),
            Command::Sessions(args) => return args.run(),
            Command::Reindex(args) => return args.run(),
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

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, error::ErrorKind};

    use super::*;

    /// What is wrong with a command line, if anything is.
    fn wrong(line: &str) -> Option<ErrorKind> {
        Cli::try_parse_from(line.split_whitespace()).err().map(|error| error.kind())
    }

    #[test]
    fn the_definition_holds() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_user_is_always_named() {
        for line in ["list", "search x", "remember x", "forget x", "forget --all", "sessions"] {
            let line = format!("memgate {line}");
            assert_eq!(wrong(&line), Some(ErrorKind::MissingRequiredArgument), "{line}");
            assert_eq!(wrong(&format!("{line} --user u")), None, "{line}");
        }
    }

    #[test]
    fn one_memory_is_forgotten_or_all_and_never_by_mistake() {
        for (line, kind) in [
            ("", ErrorKind::MissingRequiredArgument),
            ("--project p", ErrorKind::MissingRequiredArgument),
            ("mem_1 --all", ErrorKind::ArgumentConflict),
            ("mem_1 --project p", ErrorKind::ArgumentConflict),
            ("..", ErrorKind::ValueValidation),
        ] {
            assert_eq!(wrong(&format!("memgate forget --user u {line}")), Some(kind), "{line}");
        }
    }

    #[test]
    fn jobs_of_everybody_are_shown_and_one_is_retried_only_as_somebodys() {
        for good in [
            "",
            "--user u --state dead",
            "--user u --retry 7",
            "--user u --retry all",
            "--retry all",
        ] {
            assert_eq!(wrong(&format!("memgate jobs {good}")), None, "{good}");
        }
        for (line, kind) in [
            ("--tenant t", ErrorKind::MissingRequiredArgument),
            ("--retry all --state dead", ErrorKind::ArgumentConflict),
            ("--user u --retry x", ErrorKind::ValueValidation),
            ("--state done", ErrorKind::InvalidValue),
        ] {
            assert_eq!(wrong(&format!("memgate jobs {line}")), Some(kind), "{line}");
        }
    }

    #[test]
    fn an_export_is_of_one_or_of_everybody_and_goes_on_only_in_a_file() {
        for good in
            ["export", "export --user u --tenant t --out f --resume --no-vectors", "import -"]
        {
            assert_eq!(wrong(&format!("memgate {good}")), None, "{good}");
        }
        for bad in ["export --resume", "export --tenant t", "import", "import f --tenant t"] {
            let kind = Some(ErrorKind::MissingRequiredArgument);
            assert_eq!(wrong(&format!("memgate {bad}")), kind, "{bad}");
        }
    }

    #[test]
    fn what_is_no_number_no_status_and_no_address_is_refused() {
        for line in [
            "list --user u --limit many",
            "list --user u --limit -1",
            "search x --user u --threshold nan",
            "remember x --user u --importance inf",
            "list --user u --server localhost:8080",
        ] {
            assert_eq!(
                wrong(&format!("memgate {line}")),
                Some(ErrorKind::ValueValidation),
                "{line}"
            );
        }
        assert_eq!(wrong("memgate list --user u --status gone"), Some(ErrorKind::InvalidValue));
    }
}
