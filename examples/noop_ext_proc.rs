//! An ext_proc server that reads everything memgate reads and changes nothing: what two filters cost before memory
//! does any work. `cargo xtask bench` compares memgate with it; it also shows the protocol in one page.
//!
//! It ends streams where memgate does (after its answer to the request's body, at the end of a watched response),
//! and takes bodies through the same HTTP/2 windows, so that only memgate's own work is left as a difference.

use std::net::SocketAddr;

use clap::Parser;
use envoy_types::pb::envoy::service::ext_proc::v3::{
    BodyResponse, HeadersResponse, ProcessingRequest, ProcessingResponse, TrailersResponse,
    external_processor_server::{ExternalProcessor, ExternalProcessorServer},
    processing_request::Request as Message,
    processing_response::Response as Answer,
};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status, Streaming};

/// Larger than any body Envoy buffers for us.
const MAX_MESSAGE: usize = 32 << 20;

/// Answers Envoy's external processing without changing anything.
#[derive(Parser)]
struct Args {
    /// Where to listen.
    #[arg(long, default_value = "127.0.0.1:50051")]
    grpc: SocketAddr,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let listener = TcpListener::bind(Args::parse().grpc).await?;
    let service = ExternalProcessorServer::new(NoOp).max_decoding_message_size(MAX_MESSAGE);
    // Without this Envoy waits some 40 ms for each answer (Nagle's algorithm against delayed acknowledgements).
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    tonic::transport::Server::builder()
        .initial_stream_window_size(4 << 20)
        .initial_connection_window_size(64 << 20)
        .add_service(service)
        .serve_with_incoming(incoming)
        .await?;
    Ok(())
}

struct NoOp;

#[tonic::async_trait]
impl ExternalProcessor for NoOp {
    type ProcessStream = ReceiverStream<Result<ProcessingResponse, Status>>;

    async fn process(
        &self,
        request: Request<Streaming<ProcessingRequest>>,
    ) -> Result<Response<Self::ProcessStream>, Status> {
        let (answers, answered) = mpsc::channel(1);
        tokio::spawn(answer(request.into_inner(), answers));
        Ok(Response::new(ReceiverStream::new(answered)))
    }
}

/// One exchange. Envoy resets the stream when it is over, so an error is an end like any other.
async fn answer(
    mut messages: Streaming<ProcessingRequest>,
    answers: mpsc::Sender<Result<ProcessingResponse, Status>>,
) {
    while let Ok(Some(message)) = messages.message().await {
        let observed = message.observability_mode;
        let Some(message) = message.request else { continue };
        if observed {
            if ends_response(&message) {
                return;
            }
            continue;
        }
        let (answer, over) = match message {
            Message::RequestHeaders(headers) => {
                (Answer::RequestHeaders(HeadersResponse::default()), headers.end_of_stream)
            }
            Message::RequestBody(_) => (Answer::RequestBody(BodyResponse::default()), true),
            Message::RequestTrailers(_) => {
                (Answer::RequestTrailers(TrailersResponse::default()), false)
            }
            Message::ResponseHeaders(_) => {
                (Answer::ResponseHeaders(HeadersResponse::default()), false)
            }
            Message::ResponseBody(body) => {
                (Answer::ResponseBody(BodyResponse::default()), body.end_of_stream)
            }
            Message::ResponseTrailers(_) => {
                (Answer::ResponseTrailers(TrailersResponse::default()), true)
            }
        };
        let answer = ProcessingResponse { response: Some(answer), ..Default::default() };
        if answers.send(Ok(answer)).await.is_err() || over {
            return;
        }
    }
}

/// Whether a watched exchange is over; Envoy keeps the stream open for seconds if nobody ends it.
fn ends_response(message: &Message) -> bool {
    match message {
        Message::ResponseHeaders(headers) => headers.end_of_stream,
        Message::ResponseBody(body) => body.end_of_stream,
        Message::ResponseTrailers(_) => true,
        _ => false,
    }
}
