//! `memgate serve`: start-up, serving until a stop signal, and graceful shutdown.

use std::{
    net::SocketAddr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use axum::{
    Router,
    extract::connect_info::Connected,
    serve::{IncomingStream, Listener},
};
use tokio::{net::TcpListener, task::spawn_blocking};
use tokio_stream::wrappers::UnixListenerStream;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::transport::server::TcpIncoming;

use crate::{
    api::{self, ApiState, Key, Peer},
    gateway::{self, Budget, Gateway, Parts},
    startup::{
        StartError, embedder,
        listen::{self, GrpcListener},
        memory::OpenMemory,
        open_retry::Opener,
        reload::Reloader,
        tls_listener::{Certificate, TlsListener},
    },
};
use memgate_access::Secret;
use memgate_config::{Config, Listen, Live};
use memgate_core::clock::Clock;
use memgate_embed::Embedder;
use memgate_models::Models;
use memgate_recall::{Earlier, Message, decide};
use memgate_telemetry::{Metrics, Telemetry};

/// Maximum time that API requests may continue after shutdown was requested; exchanges have their
/// own equal limit. Together with [`CLOSE`] it stays below the ten seconds that supervisors usually
/// wait.
const LINGER: Duration = Duration::from_secs(4);
/// Maximum time for each step of closing; a step takes milliseconds unless the disk hangs.
const CLOSE: Duration = Duration::from_millis(1500);

/// Runs memgate until `shutdown`.
///
/// # Errors
/// [`StartError`] when it cannot start, or when a listener fails.
pub async fn serve(
    config: Live,
    telemetry: Telemetry,
    shutdown: CancellationToken,
) -> Result<(), StartError> {
    let telemetry = Arc::new(telemetry);
    let served = run(config, &telemetry, shutdown).await;
    if let Some(telemetry) = Arc::into_inner(telemetry) {
        telemetry.shutdown(CLOSE).await;
    }
    served
}

async fn run(
    config: Live,
    telemetry: &Arc<Telemetry>,
    shutdown: CancellationToken,
) -> Result<(), StartError> {
    let at_start = config.get();
    for warning in at_start.warnings() {
        tracing::warn!("{warning}");
    }
    let (metrics, clock) = (Metrics::new(), Clock::System);
    // Before the listeners are open: while nothing listens, Envoy lets requests pass at once.
    let (loading, counting) = (at_start.clone(), metrics.clone());
    let embedder = spawn_blocking(move || embedder::load(&loading, &counting))
        .await
        .map_err(|_| StartError::Interrupted)??;
    // The first run of a model is by far the slowest; no request should pay for it.
    metrics.set_embedder_up(embedder::works(embedder.as_ref()).await?);
    metrics.set_identity_mode(at_start.memory.identity.mode.as_str());
    let models = Models::for_embedder(embedder.space()).map_err(StartError::Models)?;
    if !models.missing().is_empty() {
        let (embedder, missing) = (&embedder.space().model, models.missing());
        tracing::warn!(embedder, ?missing, "no models were trained with this embedding model");
    }
    warm_up(models.clone()).await?;
    let opener = Opener {
        config: at_start.clone(),
        embedder: embedder.clone(),
        models: models.clone(),
        metrics: metrics.clone(),
        clock: clock.clone(),
    };
    let opened = match opener.try_open().await {
        Ok(memory) => Some(memory),
        Err(error) if error.may_pass() => {
            tracing::error!(%error, "Store unavailable, memory disabled");
            None
        }
        Err(error) => return Err(error),
    };
    let listeners = Listeners::bind(&at_start.listen).await?;
    let joint = Joint {
        api: origin(&listeners)?,
        state: ApiState::new(config.clone(), metrics.clone()),
        gateway: Arc::default(),
        config,
        embedder: embedder.clone(),
        models,
        metrics,
        clock,
    };
    let served = joint.serve(listeners, opened, opener, telemetry, shutdown).await;
    let _ = tokio::time::timeout(CLOSE, embedder.close()).await;
    served
}

/// Compiles the patterns of all languages and unpacks the tokenizer's vocabulary, so that no request
/// waits for it. Commands of the command line do it when they need it: most need none of it.
async fn warm_up(models: Arc<Models>) -> Result<(), StartError> {
    let warm = spawn_blocking(move || {
        memgate_text::command::prepare();
        memgate_recall::prepare_tokens();
        memgate_recall::prepare_query();
        memgate_capture::prepare();
        let message =
            Message { text: "What is my name?", signals: &Earlier::SILENT, tools_offered: true };
        let _ = decide(&message, &models);
    });
    warm.await.map_err(|_| StartError::Interrupted)
}

/// All listeners.
struct Listeners {
    grpc: GrpcListener,
    http: TcpListener,
    http_tls: Option<Arc<Certificate>>,
    metrics: Option<TcpListener>,
}

impl Listeners {
    async fn bind(addresses: &Listen) -> Result<Self, StartError> {
        let metrics = match addresses.metrics {
            Some(address) => Some(listen::tcp("listen.metrics", address).await?),
            None => None,
        };
        Ok(Self {
            grpc: listen::grpc(addresses).await?,
            http: listen::tcp("listen.http", addresses.http).await?,
            http_tls: addresses.http_tls.as_ref().map(Certificate::read).transpose()?.map(Arc::new),
            metrics,
        })
    }
}

/// The parts shared by the gateway and the API, and the memory that both use.
struct Joint {
    api: String,
    state: ApiState,
    gateway: Arc<OnceLock<gateway::Memory>>,
    config: Live,
    embedder: Arc<dyn Embedder>,
    models: Arc<Models>,
    metrics: Arc<Metrics>,
    clock: Clock,
}

impl Joint {
    async fn serve(
        self,
        Listeners { grpc, http, http_tls, metrics }: Listeners,
        opened: Option<OpenMemory>,
        opener: Opener,
        telemetry: &Arc<Telemetry>,
        shutdown: CancellationToken,
    ) -> Result<(), StartError> {
        let tasks = TaskTracker::new();
        let reloader = Reloader {
            config: self.config.clone(),
            memory: self.gateway.clone(),
            telemetry: telemetry.clone(),
            metrics: self.metrics.clone(),
            certificate: http_tls.clone(),
        };
        tasks.spawn(reloader.run(shutdown.clone()));
        let identity_mode = self.config.get().memory.identity.mode.as_str();
        let envoy = &self.config.get().listen.grpc;
        tracing::info!(grpc = %grpc.shown(envoy), api = self.api, identity_mode, "memgate started");

        let exchanges = ended(&shutdown, self.exchanges(grpc, shutdown.clone()));
        let requests = ended(&shutdown, self.requests(http, http_tls, shutdown.clone()));
        let scrapes = ended(&shutdown, self.scrapes(metrics, shutdown.clone()));
        let remembering = async {
            let memory = match opened {
                Some(memory) => Some(memory),
                None => opener.keep_trying(&shutdown).await,
            };
            if let Some(memory) = &memory {
                self.join(memory, &shutdown);
            }
            memory
        };
        let (exchanges, requests, scrapes, memory) =
            tokio::join!(exchanges, requests, scrapes, remembering);
        tasks.close();
        tasks.wait().await;
        // Any exchange still running has exceeded its limit.
        drop(self);
        if let Some(memory) = memory {
            memory.close(CLOSE).await;
        }
        tracing::info!("memgate stopped");
        exchanges.and(requests).and(scrapes)
    }

    /// Makes the opened memory available to exchanges and to the API.
    fn join(&self, memory: &OpenMemory, shutdown: &CancellationToken) {
        let key = Secret::generate().inspect_err(|error| {
            tracing::warn!(%error, "the command line needs an admin key to make keys");
        });
        let key = key.ok();
        if let Some(key) = &key {
            self.state.trust_local(Key::new(key.reveal()));
        }
        let key = key.as_ref().map(Secret::reveal);
        if let Err(error) = memory.folder.announce(Some(&self.api), key) {
            tracing::warn!(%error, "cannot record the API address in the data folder; the command line will not find this process");
        }
        // Set only once, because it is opened only once.
        let _ = self.gateway.set(memory.for_gateway());
        let shutdown = shutdown.clone();
        self.state.open(memory.operations(&self.config, &self.embedder, &self.metrics, shutdown));
    }

    async fn exchanges(
        &self,
        listener: GrpcListener,
        shutdown: CancellationToken,
    ) -> Result<(), StartError> {
        let config = self.config.get();
        let gateway = Gateway::new(Parts {
            config: self.config.clone(),
            memory: self.gateway.clone(),
            budget: Budget::new(config.memory.capture.max_in_flight_bytes),
            models: self.models.clone(),
            metrics: self.metrics.clone(),
            clock: self.clock.clone(),
        });
        let served = match listener {
            // Set per connection, because the server's own setting applies only to listeners that
            // it binds. Without TCP_NODELAY each answer waits about 40 ms for Envoy's
            // acknowledgement.
            GrpcListener::Tcp(listener, tls) => {
                let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
                gateway::serve(incoming, tls, gateway, shutdown).await
            }
            GrpcListener::Unix(listener, _file) => {
                let incoming = UnixListenerStream::new(listener);
                gateway::serve(incoming, None, gateway, shutdown).await
            }
        };
        served.map_err(|error| StartError::Served { what: "listen.grpc", cause: error.to_string() })
    }

    async fn requests(
        &self,
        listener: TcpListener,
        tls: Option<Arc<Certificate>>,
        shutdown: CancellationToken,
    ) -> Result<(), StartError> {
        const KEY: &str = "listen.http";
        let router = api::router(self.state.clone(), key(&self.config.get()));
        let Some(certificate) = tls else { return http(KEY, listener, router, shutdown).await };
        let listener = TlsListener::new(listener, certificate)
            .map_err(|error| StartError::Served { what: KEY, cause: error.to_string() })?;
        http(KEY, listener, router, shutdown).await
    }

    /// Serves health and metrics at an address of their own, if one is configured.
    async fn scrapes(
        &self,
        listener: Option<TcpListener>,
        shutdown: CancellationToken,
    ) -> Result<(), StartError> {
        match listener {
            Some(listener) => {
                let router = api::health_router(self.state.clone());
                http("listen.metrics", listener, router, shutdown).await
            }
            None => {
                shutdown.cancelled().await;
                Ok(())
            }
        }
    }
}

/// Serves HTTP until `shutdown`, then lets pending requests finish.
async fn http<L: Listener<Addr = SocketAddr>>(
    what: &'static str,
    listener: L,
    router: Router,
    shutdown: CancellationToken,
) -> Result<(), StartError>
where
    Peer: for<'a> Connected<IncomingStream<'a, L>>,
{
    let late = async {
        shutdown.cancelled().await;
        tokio::time::sleep(LINGER).await;
    };
    let served = tokio::select! {
        served = api::serve(listener, router, shutdown.clone().cancelled_owned()) => served,
        () = late => Ok(()),
    };
    served.map_err(|error| StartError::Served { what, cause: error.to_string() })
}

/// When one side ends, for whatever reason, the other is shut down too.
async fn ended<T>(shutdown: &CancellationToken, served: impl Future<Output = T>) -> T {
    let outcome = served.await;
    shutdown.cancel();
    outcome
}

/// The API key; the configuration check has made sure that it is set.
fn key(config: &Config) -> Option<Key> {
    let name = config.api.key_env.as_ref()?;
    std::env::var(name).ok().map(|key| Key::new(&key))
}

/// The API's URL for a process on this machine.
fn origin(listeners: &Listeners) -> Result<String, StartError> {
    let mut address = listeners
        .http
        .local_addr()
        .map_err(|error| StartError::Served { what: "listen.http", cause: error.to_string() })?;
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    let scheme = if listeners.http_tls.is_some() { "https" } else { "http" };
    Ok(format!("{scheme}://{address}"))
}
