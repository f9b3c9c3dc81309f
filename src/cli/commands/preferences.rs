//! `memgate preferences`: lists, sets and unsets how a user wants to be called and answered.

use std::process::ExitCode;

use clap::{Subcommand, builder::PossibleValuesParser};

use crate::{
    api::{
        DeletedView, NewPreference, PreferenceScope, PreferenceView, PreferencesRequest,
        PreferencesView, SetPreferenceRequest, UnsetPreference, UnsetPreferenceRequest, table,
    },
    cli::{
        answer,
        options::{Common, Whose},
        output::text::one_line,
    },
    startup::Need,
};
use memgate_core::memory::PreferenceKey;

/// Arguments of `memgate preferences`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: PreferencesCommand,
}

#[derive(Debug, Subcommand)]
enum PreferencesCommand {
    /// List a user's preferences, the newest first.
    List(List),
    /// Set a preference; it supersedes the previous value of its key.
    Set(Set),
    /// Delete the preferences with a key.
    Unset(Unset),
}

#[derive(Debug, clap::Args)]
struct List {
    #[command(flatten)]
    of: Of,
}

#[derive(Debug, clap::Args)]
struct Set {
    /// Subject of the preference.
    #[arg(value_parser = key())]
    key: PreferenceKey,
    /// Value; the error for a wrong one lists those that the key can have.
    value: String,
    #[command(flatten)]
    of: Of,
}

#[derive(Debug, clap::Args)]
struct Unset {
    /// Subject of the preference.
    #[arg(value_parser = key())]
    key: PreferenceKey,
    #[command(flatten)]
    of: Of,
}

/// Whose preferences are meant.
#[derive(Debug, clap::Args)]
struct Of {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    whose: Whose,
    /// Project of the preference [default: none, in force in every project].
    #[arg(long, value_name = "ID")]
    project: Option<String>,
}

/// Parses a key.
fn key() -> impl clap::builder::TypedValueParser<Value = PreferenceKey> {
    use clap::builder::TypedValueParser as _;
    PossibleValuesParser::new(PreferenceKey::ALL.iter().map(|key| key.name()))
        .try_map(|name| name.parse::<PreferenceKey>())
}

impl Args {
    pub(crate) fn run(self) -> ExitCode {
        match self.command {
            PreferencesCommand::List(List { of }) => {
                let scope = PreferenceScope { project_id: of.project };
                let request = PreferencesRequest { whose: of.whose.into(), scope };
                answer::run::<table::Preferences>(of.common, Need::Stored, request, |found, _| {
                    listed(found)
                })
            }
            PreferencesCommand::Set(Set { key, value, of }) => {
                let preference = NewPreference { key, value, project_id: of.project };
                let request = SetPreferenceRequest { whose: of.whose.into(), preference };
                answer::run::<table::SetPreference>(of.common, Need::Stored, request, |set, _| {
                    line(set)
                })
            }
            PreferencesCommand::Unset(Unset { key, of }) => {
                let preference = UnsetPreference { key, project_id: of.project };
                let request = UnsetPreferenceRequest { whose: of.whose.into(), preference };
                let told = |done: &DeletedView, _| match done.deleted {
                    0 => "No such preference.".to_owned(),
                    _ => "Deleted.".to_owned(),
                };
                answer::run::<table::UnsetPreference>(of.common, Need::Stored, request, told)
            }
        }
    }
}

fn listed(found: &PreferencesView) -> String {
    if found.preferences.is_empty() {
        return "No preferences.".to_owned();
    }
    found.preferences.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn line(it: &PreferenceView) -> String {
    let project = it.project_id.as_ref().map(|project| format!("  in {}", one_line(project)));
    format!("{}: {}{}", it.key.name(), one_line(&it.value), project.unwrap_or_default())
}
