//! The command line, one file per subcommand. Each parses arguments, calls one operation of the API
//! and prints the result.
//!
//! Exit codes: 0 success, 1 failure, 2 usage: invalid arguments, or a value that the API refuses.
//! docs/cli.md is for users.

mod answer;
mod backend;
mod client;
mod commands;
mod eval;
mod failure;
mod options;
mod output;

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
    /// Serve Envoy and the REST API until SIGINT or SIGTERM; SIGHUP reloads the configuration.
    Serve(commands::serve::Args),
    /// Check a configuration file.
    CheckConfig(commands::check::config::Args),
    /// Check whether memory works in a running memgate; for health checks.
    CheckHealth(commands::check::health::Args),
    /// List a user's memories, newest first.
    List(commands::list::Args),
    /// Search for memories that are relevant to a query, best first.
    Search(commands::search::Args),
    /// Store a memory.
    Remember(commands::remember::Args),
    /// List, set or unset how a user wants to be called and answered.
    Preferences(commands::preferences::Args),
    /// Delete one memory, or all memories of a user or project.
    Forget(commands::forget::Args),
    /// Export the memories of one user or of all users.
    Export(commands::export::Args),
    /// Import an export; memories that already exist are skipped.
    Import(commands::import::Args),
    /// List pending and dead jobs, or retry dead ones.
    Jobs(commands::jobs::Args),
    /// List a user's sessions, the latest first, or end one.
    Sessions(commands::sessions::Args),
    /// Create, list and revoke API keys.
    Key(commands::access::key::Args),
    /// List who changed what, the latest first.
    Audit(commands::access::audit::Args),
    /// Show why memories were shown for a request, or why a text was not remembered.
    Why(commands::why::Args),
    /// Re-embed all memories with the configured model and switch to the new vectors.
    Reindex(commands::reindex::Args),
    /// Measure the quality of memory on labelled data.
    Eval(eval::Args),
}

impl Cli {
    /// Runs the command; errors go to standard error.
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
            Command::Preferences(args) => return args.run(),
            Command::Forget(args) => return args.run(),
            Command::Export(args) => return args.run(),
            Command::Import(args) => return args.run(),
            Command::Jobs(args) => return args.run(),
            Command::Sessions(args) => return args.run(),
            Command::Key(args) => return args.run(),
            Command::Audit(args) => return args.run(),
            Command::Why(args) => return args.run(),
            Command::Reindex(args) => return args.run(),
        };
        match outcome {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                print_error(&error);
                ExitCode::FAILURE
            }
        }
    }
}

#[expect(clippy::print_stderr, reason = "output of the command line")]
fn print_error(error: &anyhow::Error) {
    eprintln!("error: {error:#}");
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, error::ErrorKind};

    use super::*;

    /// The usage error of a command line, if it has one.
    fn wrong(line: &str) -> Option<ErrorKind> {
        Cli::try_parse_from(line.split_whitespace()).err().map(|error| error.kind())
    }

    #[test]
    fn the_clap_definition_is_valid() {
        Cli::command().debug_assert();
    }

    #[test]
    fn commands_on_one_user_require_the_user() {
        for line in ["list", "search x", "remember x", "forget x", "forget --all", "sessions"] {
            let line = format!("memgate {line}");
            assert_eq!(wrong(&line), Some(ErrorKind::MissingRequiredArgument), "{line}");
            assert_eq!(wrong(&format!("{line} --user u")), None, "{line}");
        }
    }

    #[test]
    fn preferences_have_known_keys() {
        for good in ["list", "set name Sam", "set format bullets --project p", "unset name"] {
            assert_eq!(wrong(&format!("memgate preferences {good} --user u")), None, "{good}");
        }
        for (line, kind) in [
            ("list", ErrorKind::MissingRequiredArgument),
            ("set name --user u", ErrorKind::MissingRequiredArgument),
            ("set colour red --user u", ErrorKind::InvalidValue),
            ("unset colour --user u", ErrorKind::InvalidValue),
        ] {
            assert_eq!(wrong(&format!("memgate preferences {line}")), Some(kind), "{line}");
        }
    }

    #[test]
    fn why_is_about_a_request_or_about_a_text_of_a_user() {
        for good in ["r1", "r1 --learned --json", "x --user u", "x --user u --query y --tenant t"] {
            assert_eq!(wrong(&format!("memgate why {good}")), None, "{good}");
        }
        for (line, kind) in [
            ("", ErrorKind::MissingRequiredArgument),
            ("r1 --query y", ErrorKind::MissingRequiredArgument),
            ("x --user u --learned", ErrorKind::ArgumentConflict),
            ("x --user u --query y --request r", ErrorKind::ArgumentConflict),
        ] {
            assert_eq!(wrong(&format!("memgate why {line}")), Some(kind), "{line}");
        }
    }

    #[test]
    fn forget_requires_an_id_or_all() {
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
    fn jobs_of_all_users_can_be_listed_and_a_single_retry_needs_a_user() {
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
    fn exports_cover_one_or_all_users_and_resume_only_in_a_file() {
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
    fn refuses_invalid_numbers_statuses_and_addresses() {
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
