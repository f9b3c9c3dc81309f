//! The connection to the server, created and restored by checks.
//!
//! The store's monitor calls [`Link::check`]; operations use the current session, and fail at once
//! if there is none.

use std::{
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use milvus::v2::{
    ClientV2,
    types::{ConnectConfig, RetryConfig, TelemetryConfig},
};
use tokio::sync::Mutex;

use crate::milvus::{
    connection::{
        fault::{Fault, MilvusRefusal},
        server::Server,
        settings::MilvusSettings,
    },
    session::Session,
};
use memgate_core::memory::StoreError;

/// Margin on the staleness of reads, for clock differences and slow responses.
pub(crate) const MARGIN: Duration = Duration::from_secs(5);

/// State of the connection.
#[derive(Clone)]
enum State {
    /// It works.
    Ready(Arc<Session>),
    /// The server is unavailable.
    Away(Fault),
    /// The collections do not match the configuration.
    Refused(MilvusRefusal),
    Closed,
}

impl State {
    fn session(&self) -> Result<Arc<Session>, StoreError> {
        match self {
            Self::Ready(session) => Ok(session.clone()),
            Self::Away(fault) => Err((*fault).into()),
            Self::Refused(refusal) => Err(StoreError::Unavailable(refusal.to_string())),
            Self::Closed => Err(StoreError::Unavailable("is closed".into())),
        }
    }
}

/// The connection to the server.
pub(crate) struct Link {
    settings: Arc<MilvusSettings>,
    state: RwLock<State>,
    /// Serialises checks.
    looking: Mutex<()>,
    /// Whether it ever worked.
    met: AtomicBool,
}

impl Link {
    /// Tries once to connect.
    ///
    /// # Errors
    /// [`MilvusRefusal`] when the server's collections do not match the configuration.
    pub(crate) async fn open(settings: MilvusSettings) -> Result<Self, MilvusRefusal> {
        let link = Self {
            settings: Arc::new(settings),
            state: RwLock::new(State::Away(Fault::Unreachable)),
            looking: Mutex::default(),
            met: AtomicBool::new(false),
        };
        let state = link.connect().await;
        if let State::Refused(refusal) = state {
            return Err(refusal);
        }
        link.set(state);
        Ok(link)
    }

    /// The current session.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] while there is none.
    pub(crate) fn session(&self) -> Result<Arc<Session>, StoreError> {
        self.state().session()
    }

    /// Checks that real reads work; if not, connects again and creates missing collections.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] with the cause.
    pub(crate) async fn check(&self) -> Result<(), StoreError> {
        let _looking = self.looking.lock().await;
        let state = match self.state() {
            State::Closed => State::Closed,
            State::Ready(session) => match look(&session).await {
                Ok(()) => State::Ready(session),
                Err(fault) => State::Away(fault),
            },
            State::Away(_) | State::Refused(_) => self.connect().await,
        };
        self.set(state.clone());
        state.session().map(drop)
    }

    /// Whether it ever worked and is not closed.
    pub(crate) fn is_enabled(&self) -> bool {
        self.met.load(Ordering::Acquire) && !matches!(self.state(), State::Closed)
    }

    /// Operations fail from now on.
    pub(crate) fn close(&self) {
        self.set(State::Closed);
    }

    fn state(&self) -> State {
        self.state.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, new: State) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        // A check that finishes after the store was closed has no effect.
        if !matches!(*state, State::Closed) {
            *state = new;
        }
        if matches!(*state, State::Ready(_)) {
            self.met.store(true, Ordering::Release);
        }
    }

    async fn connect(&self) -> State {
        let client = match ClientV2::new(&connection(&self.settings)).await {
            Ok(client) => client,
            Err(error) => return State::Away(error.into()),
        };
        let horizon = self.settings.staleness + MARGIN;
        // Writes of another process, or of this one before a disconnect, must be visible.
        let server = Server::new(client, self.settings.staleness);
        let session = Session::new(server, self.settings.clone(), horizon);
        match prepare(&session).await {
            Ok(None) => State::Ready(Arc::new(session)),
            Ok(Some(refusal)) => State::Refused(refusal),
            Err(fault) => State::Away(fault),
        }
    }
}

/// Reads records and vectors.
async fn look(session: &Session) -> Result<(), Fault> {
    let maker = session.maker();
    maker.answers(session.names.records()).await?;
    maker.answers(&session.names.vectors(&session.settings.space)).await
}

/// Creates missing collections and checks existing ones.
async fn prepare(session: &Session) -> Result<Option<MilvusRefusal>, Fault> {
    let maker = session.maker();
    let MilvusSettings { collection, space, dimension, reindexing, .. } = &*session.settings;
    let in_use = maker.in_use().await?;
    if let Some(found) = &in_use
        && !reindexing
        && (found.collection != session.names.vectors(space) || found.dimension != *dimension)
    {
        return Ok(Some(MilvusRefusal::OtherVectors {
            collection: collection.clone(),
            found: found.space.clone(),
            found_dimension: found.dimension,
            configured: space.clone(),
            configured_dimension: *dimension,
        }));
    }
    if maker.is_earlier().await? {
        return Ok(Some(MilvusRefusal::Earlier(collection.clone())));
    }
    maker.records().await?;
    let vectors = session.ensure_space(space, *dimension).await?;
    if in_use.is_none() {
        maker.put_in_use(&vectors.name).await?;
    }
    Ok(None)
}

fn connection(settings: &MilvusSettings) -> ConnectConfig {
    let scheme = if settings.tls.is_some() { "https" } else { "http" };
    let mut config = ConnectConfig::new()
        .uri(format!("{scheme}://{}", settings.address))
        .database(&settings.database)
        .connect_timeout(settings.connect_timeout)
        // There is no timeout by default: a hanging server would block a call forever.
        .rpc_timeout(settings.timeout)
        // The default of 75 attempts would take more than a minute during an outage.
        .retry(
            RetryConfig::new()
                .max_attempts(settings.attempts)
                .max_retry_timeout(settings.timeout)
                .initial_backoff(Duration::from_millis(20))
                .max_backoff(Duration::from_millis(500)),
        )
        .telemetry(TelemetryConfig::new().enabled(false));
    if let Some(tls) = &settings.tls {
        config = config.secure(true);
        if let Some(ca) = &tls.ca {
            config = config.ca_certificate(ca.to_string_lossy());
        }
        if let Some((certificate, key)) = &tls.identity {
            config = config
                .client_certificate(certificate.to_string_lossy())
                .client_key(key.to_string_lossy());
        }
        if let Some(name) = &tls.server_name {
            config = config.tls_server_name(name);
        }
    }
    match &settings.token {
        None => config,
        Some(token) => config.token(token),
    }
}
