//! Access to memories: through the REST API of a running memgate, or in a data folder that this
//! process locks. Both give the same answers, because both perform the operations of `api::table`.

use std::{path::Path, time::Duration};

use axum::body::to_bytes;
use reqwest::Url;

use crate::{
    api::{Caller, Operation, Output, RequestOf, ViewOf},
    cli::{
        client::{Answer, Client, MAX_ANSWER},
        failure::Failure,
        options::Common,
        output::print::tell,
    },
    startup::{Need, Offline},
};
use memgate_config::{Config, StoreKind};
use memgate_sqlite::{DataFolder, FolderError};

/// Environment variable with the key for a server.
const KEY_ENV: &str = "MEMGATE_KEY";
/// Number of attempts to lock a data folder whose holder has no API: a minute, in which a dozen
/// commands that load the model can finish.
const PAUSES: u32 = 600;
/// Pause between these attempts.
const PAUSE: Duration = Duration::from_millis(100);

/// Access to memories.
pub(crate) enum Backend {
    /// Through a running memgate.
    Server(Client),
    /// In a data folder that is locked until [`Backend::close`].
    Folder(Box<Offline>),
}

impl Backend {
    /// Chooses the access: the given server, else the memgate that holds the data folder, else the
    /// one at `listen.http`, else the data folder itself.
    /// `reads`: nothing is to be written, so a folder without data is a mistake.
    pub(crate) async fn find(common: Common, need: Need, reads: bool) -> Result<Self, Failure> {
        let Common { config, data, server, json: _ } = common;
        let config = Config::load_with(config.path().as_deref(), &|config| {
            // No command on memories uses a helper model, so their keys need not be set.
            config.external_models.clear();
            if let Some(data) = &data {
                config.data_dir.clone_from(data);
            }
        })?;
        if let Some(server) = server {
            return Client::new(server, key(&config), Some(&config)).map(Self::Server);
        }
        let probe = data.is_none();
        let mut pauses = 0;
        loop {
            match Self::usual(&config, need, probe, reads).await {
                // Another command, or a server that is starting: it will finish, or announce its
                // API.
                Err(error) if error.is_held() && pauses < PAUSES => tokio::time::sleep(PAUSE).await,
                found => return found,
            }
            pauses += 1;
        }
    }

    /// Chooses the access if no server is given; `probe`: also tries `listen.http`.
    async fn usual(config: &Config, need: Need, probe: bool, reads: bool) -> Result<Self, Failure> {
        let folder = &config.data_dir;
        if let Some(holder) = DataFolder::holder(folder)? {
            return match holder.api.as_deref().and_then(|api| Url::parse(api).ok()) {
                Some(server) => {
                    let client = Client::new(server, key(config), Some(config))?;
                    Ok(Self::Server(client.with_folder_key(holder.key)))
                }
                None => Err(FolderError::Held { path: folder.clone(), holder }.into()),
            };
        }
        let known = folder.exists();
        if probe && let Some(found) = listening(config).await? {
            if known {
                let (server, folder) = (found.server(), folder.display());
                tell(&format!("note: using {server}, which does not use {folder}"));
            }
            return Ok(Self::Server(found));
        }
        // With a server as the store, the folder says nothing about the memories.
        if reads && config.memory.store_kind() == StoreKind::Sqlite && is_empty(folder) {
            let message = format!(
                "{}: no data; name the data folder with --data, or a running memgate with --server",
                folder.display()
            );
            return Err(Failure::new("no_data", message));
        }
        let offline = Offline::open(config.clone(), need).await?;
        if !known {
            tell(&format!("note: created the data folder {}", folder.display()));
        }
        Ok(Self::Folder(Box::new(offline)))
    }

    /// Performs an operation.
    ///
    /// # Errors
    /// Those of the operation, and when the server does not answer.
    pub(crate) async fn ask<O: Operation>(
        &self,
        request: RequestOf<O>,
    ) -> Result<Answer<ViewOf<O>>, Failure> {
        let folder = match self {
            Self::Server(client) => return client.ask::<O>(request).await,
            Self::Folder(folder) => folder,
        };
        let answer = O::run(folder.operations(), &Caller::command_line(), request).await?;
        let body = answer.respond(O::ENTRY.status).into_body();
        let unreadable = |error: &dyn std::fmt::Display| {
            Failure::new("output", format!("cannot read the result: {error}"))
        };
        let body = to_bytes(body, MAX_ANSWER).await.map_err(|error| unreadable(&error))?;
        Answer::of::<O>(body.into()).ok_or_else(|| unreadable(&"not a result of this operation"))
    }

    /// Releases the folder.
    pub(crate) async fn close(self) {
        if let Self::Folder(folder) = self {
            folder.close().await;
        }
    }
}

/// Whether a folder does not exist or has no entries.
fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none())
}

/// The memgate at `listen.http`, if one is there. Its data folder is not the configured one: another
/// was named when it was started, or it is on another machine.
async fn listening(config: &Config) -> Result<Option<Client>, Failure> {
    let Some(server) = at_listen(config) else { return Ok(None) };
    let client = Client::new(server, key(config), Some(config))?;
    Ok(client.is_memgate().await.then_some(client))
}

/// Where a memgate with this configuration is reached from this machine; port 0 is anybody's guess.
pub(crate) fn at_listen(config: &Config) -> Option<Url> {
    let mut address = config.listen.http;
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            std::net::SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            std::net::SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    let scheme = if config.listen.http_tls.is_some() { "https" } else { "http" };
    (address.port() != 0).then(|| Url::parse(&format!("{scheme}://{address}")).ok()).flatten()
}

/// The key in [`KEY_ENV`], else the one that the configuration names; that this one is set was checked
/// with the configuration.
fn key(config: &Config) -> Option<String> {
    let key = |name: &str| std::env::var(name).ok().map(|key| key.trim().to_owned());
    let own = key(KEY_ENV).filter(|key| !key.is_empty());
    own.or_else(|| key(config.api.key_env.as_deref()?))
}
