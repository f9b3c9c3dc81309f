//! The pool of connections, and what is set on each.

use std::time::Duration;

use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Object, Pool as Connections, RecyclingMethod, Runtime,
};
use tokio::{runtime::Handle, time::timeout};
use tokio_postgres::{
    Config, NoTls,
    config::{ChannelBinding, SslMode},
    types::Type,
};
use tokio_util::task::TaskTracker;

use crate::postgres::connection::{
    fault::{Fault, PostgresRefusal},
    settings::PostgresSettings,
    tls::Tls,
};

/// Timeout for cancelling an abandoned statement, and for the rollback after it.
const GRACE: Duration = Duration::from_secs(1);

/// Added to the server's own timeout before memgate stops waiting: a server that works answers.
const PATIENCE: Duration = Duration::from_millis(500);

/// Sets the names of tables and the bounds of every statement. `vector` may be in another schema.
pub(crate) const SESSION: &str = "SELECT set_config('search_path', quote_ident($1) || coalesce( \
         (SELECT ', ' || quote_ident(nspname) FROM pg_extension \
          JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector'), ''), false), \
     set_config('statement_timeout', $2, false), \
     set_config('lock_timeout', $2, false), \
     set_config('idle_in_transaction_session_timeout', $2, false), \
     set_config('jit', 'off', false)";

/// The connections.
pub(crate) struct Pool {
    connections: Connections,
    tls: Option<Tls>,
    /// Timeout for an answer.
    patience: Duration,
    /// Tasks that cancel abandoned statements. Each holds a connection of the pool, which bounds
    /// them.
    cancelling: TaskTracker,
}

impl Pool {
    /// Connects to nothing yet.
    ///
    /// # Errors
    /// [`PostgresRefusal::Tls`].
    pub(crate) fn new(settings: &PostgresSettings) -> Result<Self, PostgresRefusal> {
        let tls = settings.tls.as_ref().map(Tls::new).transpose()?;
        let config = config(settings);
        let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = match &tls {
            Some(tls) => Manager::from_config(config, tls.clone(), manager),
            None => Manager::from_config(config, NoTls, manager),
        };
        let (schema, bound) = (settings.schema.clone(), millis(settings.timeout));
        let connections = Connections::builder(manager)
            .max_size(settings.connections)
            .wait_timeout(Some(settings.connect_timeout))
            .create_timeout(Some(settings.connect_timeout))
            .recycle_timeout(Some(settings.connect_timeout))
            .runtime(Runtime::Tokio1)
            .post_create(Hook::async_fn(move |connection, _| {
                let (schema, bound) = (schema.clone(), bound.clone());
                Box::pin(async move {
                    let set = [(&schema as _, Type::TEXT), (&bound as _, Type::TEXT)];
                    let set = connection.query_typed(SESSION, &set).await;
                    set.map(drop).map_err(HookError::Backend)
                })
            }))
            .build()
            .map_err(|error| PostgresRefusal::Tls(error.to_string()))?;
        let patience = settings.timeout + PATIENCE;
        Ok(Self { connections, tls, patience, cancelling: TaskTracker::new() })
    }

    /// A connection that nobody else uses.
    ///
    /// # Errors
    /// [`Fault::Busy`] when none gets free in time; otherwise why there is none.
    pub(crate) async fn get(&self) -> Result<Object, Fault> {
        Ok(self.connections.get().await?)
    }

    /// Timeout for an answer.
    pub(crate) fn patience(&self) -> Duration {
        self.patience
    }

    /// Ends the statement that a connection still runs, whose caller has stopped waiting, and
    /// returns the connection to the pool. One that does not recover is closed.
    pub(crate) fn cancel(&self, connection: Object) {
        let token = connection.cancel_token();
        let tls = self.tls.clone();
        let cancelling = async move {
            let cancelled = async {
                match tls {
                    Some(tls) => token.cancel_query(tls).await,
                    None => token.cancel_query(NoTls).await,
                }
            };
            // The rollback shows whether it worked.
            drop(timeout(GRACE, cancelled).await);
            let ended = timeout(GRACE, connection.batch_execute("ROLLBACK")).await;
            if !matches!(ended, Ok(Ok(()))) {
                drop(Object::take(connection));
            }
        };
        // Without a runtime the process is ending, which closes the connection.
        if let Ok(runtime) = Handle::try_current() {
            self.cancelling.spawn_on(cancelling, &runtime);
        }
    }

    /// Closes all connections; operations fail from now on.
    pub(crate) async fn close(&self) {
        self.connections.close();
        self.cancelling.close();
        // Each ends within this time.
        drop(timeout(GRACE * 3, self.cancelling.wait()).await);
    }
}

fn config(settings: &PostgresSettings) -> Config {
    let mut config = Config::new();
    config
        .host(&settings.host)
        .port(settings.port)
        .user(&settings.user)
        .dbname(&settings.database)
        .application_name("memgate")
        .connect_timeout(settings.connect_timeout)
        // A dead peer is noticed while a connection is idle, and while an answer is awaited.
        .keepalives_idle(Duration::from_secs(30))
        .tcp_user_timeout(settings.timeout + GRACE)
        .ssl_mode(if settings.tls.is_some() { SslMode::Require } else { SslMode::Disable })
        .channel_binding(ChannelBinding::Prefer);
    if let Some(password) = &settings.password {
        config.password(password);
    }
    config
}

/// A duration as PostgreSQL's settings have it.
fn millis(duration: Duration) -> String {
    duration.as_millis().max(1).to_string()
}
