//! Options shared by the commands on memories.

use std::path::PathBuf;

use clap::Args;
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use reqwest::Url;

use crate::{api, cli::config_file::ConfigFile};
use memgate_core::memory::Filter;
use memgate_located::{Node, read};

/// How memories are accessed and shown.
#[derive(Debug, Args)]
pub(super) struct Common {
    #[command(flatten)]
    pub(super) config: ConfigFile,
    /// Data folder (data_dir).
    #[arg(long, value_name = "DIR", conflicts_with = "server")]
    pub(super) data: Option<PathBuf>,
    /// URL of a running memgate [default: the one that uses the data folder, else the one at listen.http].
    #[arg(long, value_name = "URL", value_parser = server)]
    pub(super) server: Option<Url>,
    /// Print the response of the REST API as JSON.
    #[arg(long)]
    pub(super) json: bool,
}

/// The owner of the memories.
#[derive(Debug, Args)]
pub(super) struct Whose {
    /// Id of the user.
    #[arg(long, value_name = "ID", required_unless_present = "space", conflicts_with = "space")]
    pub(super) user: Option<String>,
    /// In place of a user what is known to the organisation, or to an agent: `organisation` or `agent:ID`.
    #[arg(long, value_name = "SPACE")]
    pub(super) space: Option<String>,
    /// Tenant of the user [default: default].
    #[arg(long, value_name = "ID")]
    pub(super) tenant: Option<String>,
}

impl From<Whose> for api::Whose {
    fn from(Whose { user, space, tenant }: Whose) -> Self {
        Self { user_id: user, space, tenant_id: tenant }
    }
}

/// The owner of the memories, or everyone.
#[derive(Debug, Args)]
pub(super) struct WhoseIfGiven {
    /// Only those of this user [default: those of all users, for operators].
    #[arg(long, value_name = "ID", group = "owner")]
    user: Option<String>,
    /// Only what is known to the organisation, or to an agent: `organisation` or `agent:ID`.
    #[arg(long, value_name = "SPACE", group = "owner")]
    space: Option<String>,
    /// Tenant of the user or space [default: default].
    #[arg(long, value_name = "ID", requires = "owner")]
    tenant: Option<String>,
}

impl WhoseIfGiven {
    /// Whether an owner is named.
    pub(super) fn is_given(&self) -> bool {
        self.user.is_some() || self.space.is_some()
    }

    /// Whose; none where it is everyone's.
    pub(super) fn given(self) -> Option<api::Whose> {
        let is_given = self.is_given();
        let Self { user: user_id, space, tenant: tenant_id } = self;
        is_given.then_some(api::Whose { user_id, space, tenant_id })
    }
}

/// Parses a server's URL; it may have a path, for a memgate behind a proxy.
pub(super) fn server(text: &str) -> Result<Url, &'static str> {
    let plain = |url: &Url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
    };
    Url::parse(text).ok().filter(plain).ok_or("must be a URL like http://127.0.0.1:8080")
}

/// Parses a count.
pub(super) fn count(text: &str) -> Result<usize, &'static str> {
    text.parse().map_err(|_| "must be a whole number")
}

/// Parses a finite number.
pub(super) fn number(text: &str) -> Result<f32, &'static str> {
    text.parse().ok().filter(|number: &f32| number.is_finite()).ok_or("must be a number")
}

/// Parses a time, or a day, which means its start in UTC.
pub(super) fn time(text: &str) -> Result<Timestamp, &'static str> {
    let day = || text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok();
    let time = text.parse().ok().or_else(|| Some(day()?.timestamp()));
    time.ok_or("must be a day like 2026-05-01 or a time like 2026-05-01T10:00:00Z")
}

/// Parses a filter (docs/filters.md).
pub(super) fn filter(text: &str) -> Result<Filter, String> {
    let node: Node =
        serde_json::from_str(text).map_err(|error| format!("must be JSON: {error}"))?;
    read(&node).map_err(|errors| api::ApiError::from(errors).message)
}

/// Checks the id of a memory, which becomes part of a path.
pub(super) fn memory_id(text: &str) -> Result<String, &'static str> {
    match text {
        // These vanish from a URL, and the rest of the path would mean all memories.
        "" | "." | ".." => Err("is not the id of a memory"),
        _ => Ok(text.to_owned()),
    }
}

/// Checks the id of a session, which becomes part of a path.
pub(super) fn session_id(text: &str) -> Result<String, &'static str> {
    match text {
        "" | "." | ".." => Err("is not the id of a session"),
        _ => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_days_and_times() {
        assert_eq!(time("2026-05-01"), time("2026-05-01T00:00:00Z"));
        assert_eq!(time("2026-05-01T02:00:00+02:00"), time("2026-05-01"));
        assert!(time("May").is_err() && time("2026-05-01").is_ok());
    }

    #[test]
    fn accepts_only_http_urls_as_servers() {
        for good in ["http://127.0.0.1:8080", "https://memory.example/prefix", "http://[::1]:1/"] {
            assert!(server(good).is_ok(), "{good}");
        }
        for bad in
            ["", "127.0.0.1:80", "localhost:80", "ftp://x", "http://", "http://k@x", "http://x?a"]
        {
            assert!(server(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn refuses_ids_that_vanish_from_a_path() {
        for bad in ["", ".", ".."] {
            assert!(memory_id(bad).is_err(), "{bad}");
        }
        assert_eq!(memory_id("mem_1").as_deref(), Ok("mem_1"));
    }
}
