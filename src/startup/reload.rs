//! SIGHUP: reloads the configuration; an invalid file changes nothing.

use std::sync::{Arc, OnceLock};

use tokio::{
    signal::unix::{SignalKind, signal},
    task::spawn_blocking,
};
use tokio_util::sync::CancellationToken;

use crate::{
    gateway,
    startup::{memory, tls_listener::Certificate},
};
use memgate_config::{Live, Reloaded};
use memgate_telemetry::{Metrics, Telemetry};

/// Everything that a reload affects.
pub(super) struct Reloader {
    pub(super) config: Live,
    pub(super) memory: Arc<OnceLock<gateway::Memory>>,
    pub(super) telemetry: Arc<Telemetry>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) certificate: Option<Arc<Certificate>>,
}

impl Reloader {
    /// Reloads at every SIGHUP until `shutdown`.
    pub(super) async fn run(self, shutdown: CancellationToken) {
        let mut hangups = match signal(SignalKind::hangup()) {
            Ok(hangups) => hangups,
            Err(error) => {
                tracing::error!(%error, "cannot listen for SIGHUP; reloading is disabled");
                return;
            }
        };
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return,
                hangup = hangups.recv() => if hangup.is_none() { return },
            }
            self.reload().await;
        }
    }

    async fn reload(&self) {
        self.reload_certificate().await;
        let config = self.config.clone();
        let outcome = match spawn_blocking(move || config.reload()).await {
            Ok(Ok(reloaded)) => self.apply(&reloaded),
            Ok(Err(error)) => Err(error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        self.metrics.reloaded(outcome.is_ok());
        if let Err(error) = outcome {
            tracing::error!(error, "configuration reload refused; keeping the old configuration");
        }
    }

    /// The certificate is renewed also if the configuration is refused.
    async fn reload_certificate(&self) {
        let Some(certificate) = self.certificate.clone() else { return };
        match spawn_blocking(move || certificate.reload()).await {
            Ok(Ok(())) => tracing::info!("certificate of listen.http_tls reloaded"),
            Ok(Err(error)) => tracing::error!(%error, "keeping the old certificate"),
            Err(error) => tracing::error!(%error, "keeping the old certificate"),
        }
    }

    fn apply(&self, reloaded: &Reloaded) -> Result<(), String> {
        let config = self.config.get();
        self.telemetry.set_level(config.telemetry.log);
        self.metrics.set_identity_mode(config.memory.identity.mode.as_str());
        if let Some(memory) = self.memory.get() {
            let settings = memory::settings(&config).map_err(|error| error.to_string())?;
            memory.capture.reconfigure(settings);
        }
        for warning in config.warnings() {
            tracing::warn!("{warning}");
        }
        for key in &reloaded.need_restart {
            tracing::warn!(key, "the new value takes effect after a restart");
        }
        tracing::info!(changed = reloaded.changed, "configuration reloaded");
        Ok(())
    }
}
