//! Why logs and traces could not be set up.

/// Why logs and traces could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The exporter was refused.
    #[error("telemetry.otlp_endpoint: {0}")]
    Otlp(String),
    /// Somebody set up logging before.
    #[error("logging was set up already: {0}")]
    Log(String),
}
