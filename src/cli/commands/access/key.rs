//! `memgate key`: creates, lists and revokes API keys.

use std::process::ExitCode;

use clap::{Subcommand, builder::PossibleValuesParser};
use jiff::Timestamp;

use crate::{
    api::{
        CreateKeyRequest, CreatedKeyView, KeyView, KeysView, NoMembers, WithId,
        table::{CreateKey, Keys, RevokeKey},
    },
    cli::{
        answer,
        options::{Common, time},
    },
    startup::Need,
};
use memgate_access::Scope;

/// Arguments of `memgate key`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: KeyCommand,
}

#[derive(Debug, Subcommand)]
enum KeyCommand {
    /// Create an API key and print it; it cannot be shown again.
    Create(Create),
    /// List the API keys, without their secrets.
    List(List),
    /// Revoke an API key at once.
    Revoke(Revoke),
}

#[derive(Debug, clap::Args)]
struct Create {
    /// Name of the key; to rotate a key, create a second one of the same name.
    #[arg(long)]
    name: String,
    /// Scope of the key; may be repeated.
    #[arg(long, required = true, value_delimiter = ',',
          value_parser = PossibleValuesParser::new(Scope::ALL.map(Scope::name)))]
    scope: Vec<String>,
    /// Limit the key to this user's memories.
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// Limit the key to what an agent or the organisation knows: `agent:ID` or `organisation`.
    #[arg(long, conflicts_with = "user")]
    space: Option<String>,
    /// Limit the key to this tenant [default with --user or --space: default].
    #[arg(long, value_name = "ID")]
    tenant: Option<String>,
    /// Day or time when the key stops being valid [default: never].
    #[arg(long, value_name = "TIME", value_parser = time)]
    expires: Option<Timestamp>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, clap::Args)]
struct List {
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, clap::Args)]
struct Revoke {
    /// Id of the key; `memgate key list` prints it.
    id: i64,
    #[command(flatten)]
    common: Common,
}

impl Args {
    pub(crate) fn run(self) -> ExitCode {
        match self.command {
            KeyCommand::Create(Create { name, scope, user, space, tenant, expires, common }) => {
                let request = CreateKeyRequest {
                    name,
                    scopes: scope,
                    user_id: user,
                    space,
                    tenant_id: tenant,
                    expires_at: expires,
                };
                answer::run::<CreateKey>(common, Need::Stored, request, |made, _| created(made))
            }
            KeyCommand::List(List { common }) => {
                answer::run::<Keys>(common, Need::Stored, NoMembers {}, |found, _| listed(found))
            }
            KeyCommand::Revoke(Revoke { id, common }) => {
                let revoke = WithId { id: id.to_string(), request: NoMembers {} };
                let revoked = format!("Revoked key {id}.");
                answer::run::<RevokeKey>(common, Need::Stored, revoke, |_, _| revoked)
            }
        }
    }
}

fn created(made: &CreatedKeyView) -> String {
    format!("{}\n{}", made.key, line(&made.properties))
}

fn listed(found: &KeysView) -> String {
    if found.keys.is_empty() {
        return "No keys.".to_owned();
    }
    found.keys.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn line(key: &KeyView) -> String {
    let whose = match (&key.tenant_id, &key.user_id, &key.space) {
        (_, Some(user), _) => format!("user {}", user.escape_debug()),
        (_, None, Some(space)) => format!("space {}", space.escape_debug()),
        (Some(tenant), None, None) => format!("tenant {}", tenant.escape_debug()),
        (None, None, None) => "all users".to_owned(),
    };
    let until = key.expires_at.map(|end| format!(", expires {end}")).unwrap_or_default();
    let (id, name, scopes, since) = (key.id, &key.name, key.scopes.join(","), key.created_at);
    format!("{id}  {name}  {scopes}  {whose}, created {since:.0}{until}")
}
