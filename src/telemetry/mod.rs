//! What operators see: metrics, logs and traces.
//!
//! Nothing here may carry what users said or who they are: no content, no ids of users, and labels
//! only from small fixed sets. This module must never know what the figures mean to a request.

mod error;
mod log;
mod metrics;
mod ranking;
mod trace;

use std::time::Duration;

pub use error::TelemetryError;
pub use log::LogControl;
pub use metrics::{
    CaptureDrop, InFlight, JobOutcome, JobState, METRICS_CONTENT_TYPE, Metrics, Phase, Reconciled,
    Technique,
};
pub use ranking::{RankRule, RankStep};
use trace::Exporter;
pub use trace::join_trace;

use crate::config::{LogLevel, TelemetryConfig};

/// Logs and traces of a running process.
pub struct Telemetry {
    log: LogControl,
    exporter: Option<Exporter>,
}

impl Telemetry {
    /// Sets up logs, and traces where an endpoint is configured, for the whole process. Call it
    /// once, inside a tokio runtime.
    ///
    /// # Errors
    /// [`TelemetryError`] for an endpoint that is no URL, or when logging was set up before.
    pub fn start(config: &TelemetryConfig) -> Result<Self, TelemetryError> {
        let exporter = config.otlp_endpoint.as_deref().map(Exporter::start).transpose()?;
        let log = log::install(config, exporter.as_ref())?;
        Ok(Self { log, exporter })
    }

    /// Changes the least level that is logged.
    pub fn set_level(&self, level: LogLevel) {
        self.log.set_level(level);
    }

    /// Sends what spans are left, at most for `patience`.
    pub async fn shutdown(self, patience: Duration) {
        if let Some(exporter) = self.exporter {
            exporter.shutdown(patience).await;
        }
    }
}
