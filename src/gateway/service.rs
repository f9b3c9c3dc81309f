//! The gRPC service: one task per stream, and a graceful shutdown.

use std::{io, pin::Pin, time::Duration};

use envoy_types::pb::envoy::service::ext_proc::v3::{
    ProcessingRequest, ProcessingResponse,
    external_processor_server::{ExternalProcessor, ExternalProcessorServer},
};
use futures_util::Stream;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::{
    Request, Response, Status, Streaming,
    transport::{ServerTlsConfig, server::Connected},
};
use tracing::Instrument;

use memgate_telemetry::PanicIn;

use crate::gateway::{
    exchange::Exchange, parts::Parts, replies::Answered, replies::Step,
    timeout_extension::TimeoutExtension,
};

/// Capacity of the answer channel. Envoy sends the next message only after the last answer, and
/// there is at most one timeout extension before each answer, so this is never reached.
const ANSWERS: usize = 4;
/// Room in a gRPC message in addition to the body; Envoy may also slightly exceed its own limit.
const MESSAGE_OVERHEAD: usize = 1 << 20;
/// If the length of a body is unknown, Envoy sends as much as it may buffer before memgate can
/// answer that it is too large. Envoy's `request_body_buffer_limit` may be this many times
/// `max_body_bytes`.
const BUFFERED: usize = 2;
/// HTTP/2 window of a stream and of a connection: large enough for a 16 MiB body, and stalled
/// streams must not use up their neighbours' window.
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 64 << 20;
/// Maximum time that exchanges in flight may continue after shutdown was requested.
const DRAIN: Duration = Duration::from_secs(4);

/// The ext_proc service.
pub struct Gateway {
    parts: Parts,
    exchanges: TaskTracker,
}

impl Gateway {
    /// Creates a service from its parts.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self { parts, exchanges: TaskTracker::new() }
    }
}

/// Serves connections until `shutdown`, then lets the exchanges in flight finish.
///
/// # Errors
/// When the certificates cannot be used, or the listener fails.
pub async fn serve<IO>(
    incoming: impl Stream<Item = io::Result<IO>>,
    tls: Option<ServerTlsConfig>,
    gateway: Gateway,
    shutdown: CancellationToken,
) -> Result<(), tonic::transport::Error>
where
    IO: AsyncRead + AsyncWrite + Connected + Unpin + Send + 'static,
{
    let exchanges = gateway.exchanges.clone();
    let max_body = gateway.parts.config.get().memory.max_body_bytes;
    let service = ExternalProcessorServer::new(gateway)
        .max_decoding_message_size(max_body.saturating_mul(BUFFERED) + MESSAGE_OVERHEAD)
        .max_encoding_message_size(usize::MAX);
    let mut server = tonic::transport::Server::builder();
    if let Some(tls) = tls {
        server = server.tls_config(tls)?;
    }
    let server = server
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .http2_keepalive_interval(Some(Duration::from_secs(30)))
        .add_service(service)
        .serve_with_incoming_shutdown(incoming, shutdown.clone().cancelled_owned());
    // Streams that Envoy never ends must not block the shutdown.
    let drained = async {
        shutdown.cancelled().await;
        tokio::time::sleep(DRAIN).await;
    };
    let served = tokio::select! {
        served = server => served,
        () = drained => Ok(()),
    };
    exchanges.close();
    // The tasks end with their streams; the timeout is a safety net.
    let _ = tokio::time::timeout(DRAIN, exchanges.wait()).await;
    served
}

#[tonic::async_trait]
impl ExternalProcessor for Gateway {
    type ProcessStream =
        Pin<Box<dyn Stream<Item = Result<ProcessingResponse, Status>> + Send + 'static>>;

    async fn process(
        &self,
        request: Request<Streaming<ProcessingRequest>>,
    ) -> Result<Response<Self::ProcessStream>, Status> {
        let (answers, answered) = mpsc::channel(ANSWERS);
        let parts = self.parts.clone();
        let messages = request.into_inner();
        let span = tracing::info_span!("exchange", request_id = tracing::field::Empty);
        self.exchanges.spawn(run(parts, messages, answers).instrument(span));
        Ok(Response::new(Box::pin(ReceiverStream::new(answered))))
    }
}

/// Handles one stream from its first message to its end. Envoy usually resets the stream when an
/// exchange is over, so an error here is a normal end.
async fn run(
    parts: Parts,
    mut messages: Streaming<ProcessingRequest>,
    answers: mpsc::Sender<Answered>,
) {
    let _in_flight = parts.metrics.exchange();
    let mut exchange = Exchange::New;
    while let Ok(Some(message)) = messages.message().await {
        let step = exchange.take(&parts, message, TimeoutExtension::new(&answers));
        // Where nothing else caught it, Envoy sends the exchange on without memory.
        let Some(step) = parts.metrics.catch_async(PanicIn::Gateway, step).await else { break };
        let sent = match step {
            Step::Wait => continue,
            Step::Over => break,
            Step::Reply(reply) => answers.send(Ok(*reply)).await,
            Step::Last(reply) => {
                let _ = answers.send(Ok(*reply)).await;
                break;
            }
        };
        if sent.is_err() {
            break;
        }
    }
}
