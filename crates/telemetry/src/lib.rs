//! Metrics, logs and traces for operators.
//!
//! Nothing here carries content or user ids; labels come only from small fixed sets.

mod error;
mod log;
mod metrics;
mod panics;
mod rate_limited_log;
mod settings;
mod table;
mod trace;

use std::time::Duration;

pub use error::TelemetryError;
pub use log::LogControl;
pub use metrics::{InFlight, METRICS_CONTENT_TYPE, Metrics, Phase};
pub use panics::PanicIn;
pub use rate_limited_log::RateLimit;
pub use settings::{LogFormat, LogLevel, TelemetryConfig};
pub use table::Label;
use trace::Exporter;
pub use trace::join_trace;

/// Logs and traces of the running process.
pub struct Telemetry {
    log: LogControl,
    exporter: Option<Exporter>,
}

impl Telemetry {
    /// Sets up logs, and traces if an endpoint is configured, for the whole process, and the logging of panics. Call it
    /// once, inside a tokio runtime.
    ///
    /// # Errors
    /// [`TelemetryError`] for an invalid endpoint, or when logging was already set up.
    pub fn start(config: &TelemetryConfig) -> Result<Self, TelemetryError> {
        let exporter = config.otlp_endpoint.as_deref().map(Exporter::start).transpose()?;
        let log = log::install(config, exporter.as_ref())?;
        panics::log_without_messages();
        Ok(Self { log, exporter })
    }

    /// Changes the minimum log level.
    pub fn set_level(&self, level: LogLevel) {
        self.log.set_level(level);
    }

    /// Sends the remaining spans, waiting at most `patience`.
    pub async fn shutdown(self, patience: Duration) {
        if let Some(exporter) = self.exporter {
            exporter.shutdown(patience).await;
        }
    }
}
