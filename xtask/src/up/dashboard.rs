//! The link to the dashboard. In development it signs in: its key is made before memgate starts, which owns the data folder
//! then, and revoked at the end.

use std::ffi::{OsStr, OsString};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use jiff::{Timestamp, ToSpan as _};
use serde::Deserialize;
use tokio::process::Command;
use tokio::time::timeout;

use super::ports::Ports;
use crate::assets::progress::say;
use crate::assets::repository;

/// Name of the key.
const NAME: &str = "dashboard-of-up";
/// After this a key that was not revoked, because this process was killed, is not valid any more.
const VALID_HOURS: i64 = 24;
/// Timeout of making the key.
const WITHIN: Duration = Duration::from_secs(10);
/// Timeout of revoking it; together with the stack's other timeouts this stays below ten seconds.
const REVOKED_WITHIN: Duration = Duration::from_secs(1);

/// The dashboard of a stack.
pub(super) struct Dashboard {
    key: Option<Key>,
}

/// The key of the link, as memgate made it.
#[derive(Deserialize)]
struct Key {
    key: String,
    id: i64,
}

impl Dashboard {
    /// The dashboard, whose link asks for a key.
    pub(super) fn locked() -> Self {
        Self { key: None }
    }

    /// The dashboard, whose link signs in. Where no key can be made, the link asks for one. `memgate`: the program and the
    /// arguments that name its configuration and data.
    pub(super) async fn open(memgate: &OsStr, arguments: &[OsString]) -> Self {
        let made = timeout(WITHIN, make(memgate, arguments)).await;
        let made = made.unwrap_or_else(|_| Err(anyhow::anyhow!("it takes too long")));
        let key = made.inspect_err(|error| say(&format!("no key for the dashboard: {error:#}")));
        Self { key: key.ok() }
    }

    /// The link.
    pub(super) fn link(&self, ports: &Ports) -> String {
        let origin = format!("http://127.0.0.1:{}/", ports.http);
        self.key.as_ref().map_or_else(|| origin.clone(), |it| format!("{origin}#key={}", it.key))
    }

    /// Makes the link useless, while memgate still runs.
    pub(super) async fn close(self, ports: &Ports) {
        let Some(Key { key, id }) = self.key else { return };
        let url = format!("http://127.0.0.1:{}/admin/keys/{id}", ports.http);
        let revoke = reqwest::Client::new().delete(url).bearer_auth(key).timeout(REVOKED_WITHIN);
        if let Err(error) = revoke.send().await {
            say(&format!("the dashboard's key was not revoked: {error}"));
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the key of a real memgate expires by the machine's time"
)]
async fn make(memgate: &OsStr, arguments: &[OsString]) -> Result<Key> {
    let until = Timestamp::now().checked_add(VALID_HOURS.hours())?;
    let mut command = Command::new(memgate);
    command.args(["key", "create", "--json", "--scope", "admin", "--name", NAME, "--expires"]);
    command.arg(until.to_string()).args(arguments).current_dir(repository());
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output();
    let output = output.await.context("cannot run memgate")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}", said.trim());
    serde_json::from_slice(&output.stdout).context("memgate's answer is no key")
}
