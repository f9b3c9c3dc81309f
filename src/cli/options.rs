//! The options that the commands on memories share.

use std::path::PathBuf;

use clap::Args;
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use reqwest::Url;

use super::config_file::ConfigFile;

/// Where memories are, and how they are shown.
#[derive(Debug, Args)]
pub(super) struct Common {
    #[command(flatten)]
    pub(super) config: ConfigFile,
    /// The folder memories are kept in (data_dir).
    #[arg(long, value_name = "DIR", conflicts_with = "server")]
    pub(super) data: Option<PathBuf>,
    /// The memgate to ask [default: the one that has the data folder, else the one at listen.http].
    #[arg(long, value_name = "URL", value_parser = server)]
    pub(super) server: Option<Url>,
    /// Print what the REST API answers.
    #[arg(long)]
    pub(super) json: bool,
}

/// Whose memories are meant.
#[derive(Debug, Args)]
pub(super) struct Whose {
    /// The user.
    #[arg(long, value_name = "ID")]
    pub(super) user: String,
    /// The user's tenant [default: default].
    #[arg(long, value_name = "ID")]
    pub(super) tenant: Option<String>,
}

/// A server's address; it may have a path, for a memgate behind a proxy.
pub(super) fn server(text: &str) -> Result<Url, &'static str> {
    let plain = |url: &Url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
    };
    Url::parse(text).ok().filter(plain).ok_or("must be like http://127.0.0.1:8080")
}

/// How many.
pub(super) fn count(text: &str) -> Result<usize, &'static str> {
    text.parse().map_err(|_| "must be a whole number")
}

/// A number as JSON can hold it.
pub(super) fn number(text: &str) -> Result<f32, &'static str> {
    text.parse().ok().filter(|number: &f32| number.is_finite()).ok_or("must be a number")
}

/// A time, or the beginning of a day.
pub(super) fn time(text: &str) -> Result<Timestamp, &'static str> {
    let day = || text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok();
    let time = text.parse().ok().or_else(|| Some(day()?.timestamp()));
    time.ok_or("must be like 2026-05-01 or 2026-05-01T10:00:00Z")
}

/// The id of a memory, as far as it can stand in a path.
pub(super) fn memory_id(text: &str) -> Result<String, &'static str> {
    match text {
        // A URL swallows these, and what is left of the path means all memories.
        "" | "." | ".." => Err("no memory has this id"),
        _ => Ok(text.to_owned()),
    }
}

/// The id of a session, as far as it can stand in a path.
pub(super) fn session_id(text: &str) -> Result<String, &'static str> {
    match text {
        "" | "." | ".." => Err("no session has this id"),
        _ => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_day_or_a_moment() {
        assert_eq!(time("2026-05-01"), time("2026-05-01T00:00:00Z"));
        assert_eq!(time("2026-05-01T02:00:00+02:00"), time("2026-05-01"));
        assert!(time("May").is_err() && time("2026-05-01").is_ok());
    }

    #[test]
    fn a_server_is_an_http_address_and_nothing_else() {
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
    fn an_id_that_would_vanish_from_a_path_is_refused() {
        for bad in ["", ".", ".."] {
            assert!(memory_id(bad).is_err(), "{bad}");
        }
        assert_eq!(memory_id("mem_1").as_deref(), Ok("mem_1"));
    }
}
