//! Access to memories: through the REST API of a running memgate, or in a data folder that this
//! process locks. Both give the same answers, because both use `api::Operations`.

use std::time::Duration;

use reqwest::Url;
use serde::Serialize;

use crate::{
    api::{
        ApiError, AuditView, Caller, CreatedKeyView, DeletedView, EndedView, Export,
        ForgettingsView, HitsView, ImportedView, JobView, JobsView, KeysView, MemoriesView,
        MemoryView, PreferenceView, PreferencesView, RetriedView, RevokedView, SessionsView,
        UndoneView,
        read::access_requests::{AuditRequest, CreateKeyRequest},
        read::requests::{
            AllJobsRequest, CreateRequest, ExportAllRequest, ExportRequest, ForgetRequest,
            JobsRequest, ListRequest, PreferencesRequest, SearchRequest, SessionsRequest,
            SetPreferenceRequest, UnsetPreferenceRequest, Whose,
        },
    },
    cli::{
        client::{Answer, Client},
        failure::Failure,
        options::Common,
        output::print::tell,
    },
    startup::{Need, Offline},
};
use memgate_config::Config;
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
    pub(crate) async fn find(common: Common, need: Need) -> Result<Self, Failure> {
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
            match Self::usual(&config, need, probe).await {
                // Another command, or a server that is starting: it will finish, or announce its
                // API.
                Err(error) if error.is_held() && pauses < PAUSES => tokio::time::sleep(PAUSE).await,
                found => return found,
            }
            pauses += 1;
        }
    }

    /// Chooses the access if no server is given; `probe`: also tries `listen.http`.
    async fn usual(config: &Config, need: Need, probe: bool) -> Result<Self, Failure> {
        let folder = &config.data_dir;
        if let Some(holder) = DataFolder::holder(folder)? {
            return match holder.api.as_deref().and_then(|api| Url::parse(api).ok()) {
                Some(server) => Client::new(server, key(config), Some(config)).map(Self::Server),
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
        let offline = Offline::open(config.clone(), need).await?;
        if !known {
            tell(&format!("note: created the data folder {}", folder.display()));
        }
        Ok(Self::Folder(Box::new(offline)))
    }

    pub(crate) async fn list(
        &self,
        request: &ListRequest,
    ) -> Result<Answer<MemoriesView>, Failure> {
        match self {
            Self::Server(client) => client.list(request).await,
            Self::Folder(folder) => answer(folder.operations().list(&me(), request).await),
        }
    }

    pub(crate) async fn search(
        &self,
        request: &SearchRequest,
    ) -> Result<Answer<HitsView>, Failure> {
        match self {
            Self::Server(client) => client.search(request).await,
            Self::Folder(folder) => answer(folder.operations().search(&me(), request).await),
        }
    }

    pub(crate) async fn create(
        &self,
        request: CreateRequest,
    ) -> Result<Answer<MemoryView>, Failure> {
        match self {
            Self::Server(client) => client.create(&request).await,
            Self::Folder(folder) => answer(folder.operations().create(&me(), request).await),
        }
    }

    pub(crate) async fn forget(
        &self,
        id: &str,
        whose: &Whose,
    ) -> Result<Answer<DeletedView>, Failure> {
        match self {
            Self::Server(client) => client.forget(id, whose).await,
            Self::Folder(folder) => answer(folder.operations().forget(&me(), id, whose).await),
        }
    }

    pub(crate) async fn forgettings(
        &self,
        whose: &Whose,
    ) -> Result<Answer<ForgettingsView>, Failure> {
        match self {
            Self::Server(client) => client.forgettings(whose).await,
            Self::Folder(folder) => answer(folder.operations().forgettings(&me(), whose).await),
        }
    }

    pub(crate) async fn preferences(
        &self,
        request: &PreferencesRequest,
    ) -> Result<Answer<PreferencesView>, Failure> {
        match self {
            Self::Server(client) => client.preferences(request).await,
            Self::Folder(folder) => answer(folder.operations().preferences(&me(), request).await),
        }
    }

    pub(crate) async fn set_preference(
        &self,
        request: SetPreferenceRequest,
    ) -> Result<Answer<PreferenceView>, Failure> {
        match self {
            Self::Server(client) => client.set_preference(&request).await,
            Self::Folder(folder) => {
                answer(folder.operations().set_preference(&me(), request).await)
            }
        }
    }

    pub(crate) async fn unset_preference(
        &self,
        request: &UnsetPreferenceRequest,
    ) -> Result<Answer<DeletedView>, Failure> {
        match self {
            Self::Server(client) => client.unset_preference(request).await,
            Self::Folder(folder) => {
                answer(folder.operations().unset_preference(&me(), request).await)
            }
        }
    }

    pub(crate) async fn undo_forgetting(
        &self,
        id: &str,
        whose: &Whose,
    ) -> Result<Answer<UndoneView>, Failure> {
        match self {
            Self::Server(client) => client.undo_forgetting(id, whose).await,
            Self::Folder(folder) => {
                answer(folder.operations().undo_forgetting(&me(), id, whose).await)
            }
        }
    }

    pub(crate) async fn forget_scope(
        &self,
        request: &ForgetRequest,
    ) -> Result<Answer<DeletedView>, Failure> {
        match self {
            Self::Server(client) => client.forget_scope(request).await,
            Self::Folder(folder) => answer(folder.operations().forget_scope(&me(), request).await),
        }
    }

    /// A piece of a user's export.
    pub(crate) async fn export(&self, request: &ExportRequest) -> Result<Vec<u8>, Failure> {
        match self {
            Self::Server(client) => client.export(request).await,
            Self::Folder(folder) => exported(folder, Export::of(&me(), request)?).await,
        }
    }

    /// A piece of an export of all users.
    pub(crate) async fn export_all(&self, request: &ExportAllRequest) -> Result<Vec<u8>, Failure> {
        match self {
            Self::Server(client) => client.export_all(request).await,
            Self::Folder(folder) => exported(folder, Export::of_everybody(request)?).await,
        }
    }

    /// Imports lines for one user or for all users.
    pub(crate) async fn import(
        &self,
        whose: Option<&Whose>,
        lines: Vec<u8>,
    ) -> Result<Answer<ImportedView>, Failure> {
        match self {
            Self::Server(client) => client.import(whose, lines).await,
            Self::Folder(folder) => answer(folder.operations().import(&me(), whose, &*lines).await),
        }
    }

    pub(crate) async fn jobs(&self, request: &JobsRequest) -> Result<Answer<JobsView>, Failure> {
        match self {
            Self::Server(client) => client.jobs(request).await,
            Self::Folder(folder) => answer(folder.operations().jobs(&me(), request).await),
        }
    }

    pub(crate) async fn all_jobs(
        &self,
        request: &AllJobsRequest,
    ) -> Result<Answer<JobsView>, Failure> {
        match self {
            Self::Server(client) => client.all_jobs(request).await,
            Self::Folder(folder) => answer(folder.operations().all_jobs(request).await),
        }
    }

    pub(crate) async fn retry_job(
        &self,
        id: &str,
        whose: &Whose,
    ) -> Result<Answer<JobView>, Failure> {
        match self {
            Self::Server(client) => client.retry_job(id, whose).await,
            Self::Folder(folder) => answer(folder.operations().retry_job(&me(), id, whose).await),
        }
    }

    pub(crate) async fn retry_jobs(
        &self,
        whose: Option<&Whose>,
    ) -> Result<Answer<RetriedView>, Failure> {
        match (self, whose) {
            (Self::Server(client), Some(whose)) => client.retry_jobs(whose).await,
            (Self::Server(client), None) => client.retry_all_jobs().await,
            (Self::Folder(folder), Some(whose)) => {
                answer(folder.operations().retry_jobs(&me(), whose).await)
            }
            (Self::Folder(folder), None) => answer(folder.operations().retry_all_jobs(&me()).await),
        }
    }

    pub(crate) async fn sessions(
        &self,
        request: &SessionsRequest,
    ) -> Result<Answer<SessionsView>, Failure> {
        match self {
            Self::Server(client) => client.sessions(request).await,
            Self::Folder(folder) => answer(folder.operations().sessions(&me(), request).await),
        }
    }

    pub(crate) async fn end_session(
        &self,
        id: &str,
        whose: &Whose,
    ) -> Result<Answer<EndedView>, Failure> {
        match self {
            Self::Server(client) => client.end_session(id, whose).await,
            Self::Folder(folder) => answer(folder.operations().end_session(&me(), id, whose).await),
        }
    }

    pub(crate) async fn keys(&self) -> Result<Answer<KeysView>, Failure> {
        match self {
            Self::Server(client) => client.keys().await,
            Self::Folder(folder) => answer(Ok(folder.operations().keys())),
        }
    }

    pub(crate) async fn create_key(
        &self,
        request: CreateKeyRequest,
    ) -> Result<Answer<CreatedKeyView>, Failure> {
        match self {
            Self::Server(client) => client.create_key(&request).await,
            Self::Folder(folder) => answer(folder.operations().create_key(&me(), request).await),
        }
    }

    pub(crate) async fn revoke_key(&self, id: &str) -> Result<Answer<RevokedView>, Failure> {
        match self {
            Self::Server(client) => client.revoke_key(id).await,
            Self::Folder(folder) => answer(folder.operations().revoke_key(&me(), id).await),
        }
    }

    pub(crate) async fn audit(&self, request: &AuditRequest) -> Result<Answer<AuditView>, Failure> {
        match self {
            Self::Server(client) => client.audit(request).await,
            Self::Folder(folder) => answer(folder.operations().audit_log(request).await),
        }
    }

    /// Releases the folder.
    pub(crate) async fn close(self) {
        if let Self::Folder(folder) = self {
            folder.close().await;
        }
    }
}

/// A piece of an export, starting with the header.
async fn exported(folder: &Offline, export: Export) -> Result<Vec<u8>, Failure> {
    let operations = folder.operations();
    let mut lines = export.header(operations.clock.now())?;
    lines.extend(operations.export(export).await?.lines);
    Ok(lines)
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

/// An operation's answer as REST would send it.
fn answer<T: Serialize>(view: Result<T, ApiError>) -> Result<Answer<T>, Failure> {
    let view = view?;
    let body = serde_json::to_vec(&view)
        .map_err(|error| Failure::new("output", format!("cannot serialize the result: {error}")))?;
    Ok(Answer { body, view })
}

/// The key in [`KEY_ENV`], else the one that the configuration names; that this one is set was checked
/// with the configuration.
fn key(config: &Config) -> Option<String> {
    let key = |name: &str| std::env::var(name).ok().map(|key| key.trim().to_owned());
    let own = key(KEY_ENV).filter(|key| !key.is_empty());
    own.or_else(|| key(config.api.key_env.as_deref()?))
}

/// The caller of operations on a locked folder.
fn me() -> Caller {
    Caller::command_line()
}
