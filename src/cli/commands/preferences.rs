//! `memgate preferences`: lists, sets and unsets how a user wants to be called and answered, and adds wishes about every answer.

use std::process::ExitCode;

use clap::{Subcommand, builder::PossibleValuesParser};

use crate::{
    api::{
        DeletedView, NewPreference, PreferenceScope, PreferenceView, PreferencesRequest,
        PreferencesView, SetPreferenceRequest, SetPreferenceView, UnsetPreference,
        UnsetPreferenceRequest, WishView, table,
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
    /// List a user's preferences and wishes, the newest first.
    List(List),
    /// Set a preference; it supersedes the previous value of its key.
    Set(Set),
    /// Add a wish about every answer; `memgate forget` deletes it.
    Wish(Wish),
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
struct Wish {
    /// What the user wants of every answer, in one sentence of at most 200 characters.
    #[arg(value_name = "WISH")]
    wish: String,
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
                let scope = PreferenceScope { project_id: of.project, wishes: true };
                let request = PreferencesRequest { whose: of.whose.into(), scope };
                answer::run::<table::Preferences>(of.common, Need::Stored, request, |found, _| {
                    listed(found)
                })
            }
            PreferencesCommand::Set(Set { key, value, of }) => {
                let (key, value) = (Some(key), Some(value));
                of.set(Need::Stored, NewPreference { key, value, ..NewPreference::default() })
            }
            PreferencesCommand::Wish(Wish { wish, of }) => {
                of.set(Need::Model, NewPreference { wish: Some(wish), ..NewPreference::default() })
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

impl Of {
    /// Sets a preference or a wish.
    fn set(self, need: Need, new: NewPreference) -> ExitCode {
        let preference = NewPreference { project_id: self.project, ..new };
        let request = SetPreferenceRequest { whose: self.whose.into(), preference };
        answer::run::<table::SetPreference>(self.common, need, request, |set, _| match set {
            SetPreferenceView::Preference(preference) => line(preference),
            SetPreferenceView::Wish(wish) => wish_line(wish),
        })
    }
}

fn listed(found: &PreferencesView) -> String {
    let wishes = found.wishes.iter().flatten().map(wish_line);
    match found.preferences.iter().map(line).chain(wishes).collect::<Vec<_>>() {
        none if none.is_empty() => "No preferences.".to_owned(),
        lines => lines.join("\n"),
    }
}

fn line(it: &PreferenceView) -> String {
    format!("{}: {}{}", it.key.name(), one_line(&it.value), project(it.project_id.as_deref()))
}

fn wish_line(it: &WishView) -> String {
    let (words, id) = (one_line(&it.content), one_line(&it.id));
    format!("wish: {words}{}  ({id})", project(it.project_id.as_deref()))
}

fn project(id: Option<&str>) -> String {
    id.map(|id| format!("  in {}", one_line(id))).unwrap_or_default()
}
