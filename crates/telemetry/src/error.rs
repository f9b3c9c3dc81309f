//! Why logs and traces could not be set up.

/// Why logs and traces could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The exporter could not be created.
    #[error("telemetry.otlp_endpoint: {0}")]
    Otlp(String),
    /// Logging was already set up.
    #[error("logging was already set up: {0}")]
    Log(String),
}
