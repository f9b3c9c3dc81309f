//! Spans, sent by OTLP over HTTP. If the collector is down or slow, spans are lost and nothing else
//! is affected.

use std::{collections::HashMap, time::Duration};

use async_trait::async_trait;
use opentelemetry::{propagation::TextMapPropagator, trace::TracerProvider};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{
    Resource,
    propagation::TraceContextPropagator,
    trace::{BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider},
};
use tokio::runtime::Handle;
use tracing::{Span, Subscriber, level_filters::LevelFilter};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::{Layer, filter::Targets, registry::LookupSpan};

use crate::error::TelemetryError;

/// Maximum number of waiting spans; more are dropped.
const QUEUE: usize = 4096;
/// Maximum number of spans in one request to the collector.
const BATCH: usize = 512;
/// Interval at which spans are sent.
const EVERY: Duration = Duration::from_secs(2);
/// Timeout of a request to the collector.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size of the collector's answer, in bytes.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// Makes `span` a child of the trace in a request's W3C `traceparent` (and `tracestate`) header.
/// Does nothing without a valid header or when tracing is off.
pub fn join_trace(span: &Span, traceparent: Option<&str>, tracestate: Option<&str>) {
    let Some(traceparent) = traceparent else { return };
    let mut carrier = HashMap::from([("traceparent".to_owned(), traceparent.to_owned())]);
    if let Some(tracestate) = tracestate {
        carrier.insert("tracestate".to_owned(), tracestate.to_owned());
    }
    // This fails only when tracing is off.
    let _ = span.set_parent(TraceContextPropagator::new().extract(&carrier));
}

/// Sends spans from its own thread.
pub(super) struct Exporter {
    provider: SdkTracerProvider,
}

impl Exporter {
    /// Starts an exporter to `endpoint`, the full URL of the collector's trace endpoint.
    pub(crate) fn start(endpoint: &str) -> Result<Self, TelemetryError> {
        let refused = |cause: String| TelemetryError::Otlp(cause);
        let client = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .build()
            .map_err(|error| refused(error.to_string()))?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(OnRuntime { client, runtime: Handle::current() })
            .with_endpoint(endpoint)
            .with_timeout(TIMEOUT)
            .build()
            .map_err(|error| refused(error.to_string()))?;
        let batch = BatchConfigBuilder::default()
            .with_max_queue_size(QUEUE)
            .with_max_export_batch_size(BATCH)
            .with_scheduled_delay(EVERY)
            .build();
        let resource = Resource::builder()
            .with_service_name("memgate")
            .with_attribute(opentelemetry::KeyValue::new(
                "service.version",
                env!("CARGO_PKG_VERSION"),
            ))
            .build();
        let provider = SdkTracerProvider::builder()
            .with_span_processor(
                BatchSpanProcessor::builder(exporter).with_batch_config(batch).build(),
            )
            .with_resource(resource)
            .build();
        Ok(Self { provider })
    }

    /// The layer that converts our spans for the collector.
    pub(crate) fn layer<S>(&self) -> impl Layer<S> + Send + Sync + 'static
    where
        S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("memgate"))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_filter(Targets::new().with_target("memgate", LevelFilter::INFO))
    }

    /// Sends the remaining spans, waiting at most `patience`.
    pub(crate) async fn shutdown(self, patience: Duration) {
        let provider = self.provider;
        let flushed =
            tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(patience)).await;
        if !matches!(flushed, Ok(Ok(()))) {
            tracing::warn!("some spans could not be sent to telemetry.otlp_endpoint");
        }
    }
}

/// The exporter's thread has no reactor, so its requests run on our runtime.
#[derive(Debug)]
struct OnRuntime {
    client: reqwest::Client,
    runtime: Handle,
}

#[async_trait]
impl HttpClient for OnRuntime {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let request = reqwest::Request::try_from(request)?;
        let client = self.client.clone();
        self.runtime.spawn(async move { send(&client, request).await }).await?
    }
}

async fn send(
    client: &reqwest::Client,
    request: reqwest::Request,
) -> Result<Response<Bytes>, HttpError> {
    let mut answer = client.execute(request).await?;
    let mut response = Response::builder().status(answer.status());
    if let Some(headers) = response.headers_mut() {
        headers.clone_from(answer.headers());
    }
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await? {
        if body.len() + chunk.len() > MAX_ANSWER_BYTES {
            return Err("the collector's answer is too large".into());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(response.body(body.into())?)
}

#[cfg(test)]
mod tests;
