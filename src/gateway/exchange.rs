//! One exchange: the messages that Envoy sends on one gRPC stream, and the answers to them.
//!
//! The first message shows what the stream is for. An observer stream is only watched and never
//! answered. An inline stream answers the request; in a gateway without an observer it also watches
//! the response.

use envoy_types::pb::envoy::{
    config::core::v3::Metadata,
    extensions::filters::http::ext_proc::v3::processing_mode::BodySendMode,
    service::ext_proc::v3::{
        HttpBody, HttpHeaders, ProcessingRequest, ProcessingResponse, ProtocolConfiguration,
        processing_request::Request,
    },
};

use crate::gateway::{
    capture_side::CaptureSide,
    outcome::{Outcome, Verdict},
    parts::Parts,
    recall_side::{self, Answer},
    replies,
    replies::Step,
    request::{RequestHead, trace},
    timeout_extension::TimeoutExtension,
};
use memgate_dialect::Dialect;
use memgate_telemetry::Phase;

/// The state of one exchange.
pub(super) enum Exchange {
    /// No message has arrived yet.
    New,
    /// Watches a request and its response.
    Observer(Box<CaptureSide>),
    /// Answers a request.
    Inline(Box<Inline>),
    /// No more messages are needed.
    Ended,
}

/// An exchange that Envoy waits for.
pub(super) struct Inline {
    request: Awaiting,
    configured: Option<ProtocolConfiguration>,
    /// Watches the exchange too, if the response comes on this stream.
    capture: Option<CaptureSide>,
}

/// The message an inline stream waits for.
enum Awaiting {
    Headers,
    Body {
        dialect: Dialect,
        head: Box<RequestHead>,
        /// Envoy may have buffered only the beginning of the body.
        partial: bool,
    },
    /// The request is answered; the response may follow.
    Response,
}

impl Exchange {
    /// Processes the next message.
    pub(super) async fn take(
        &mut self,
        parts: &Parts,
        message: ProcessingRequest,
        extension: TimeoutExtension<'_>,
    ) -> Step {
        let ProcessingRequest {
            request,
            metadata_context,
            observability_mode,
            protocol_config,
            ..
        } = message;
        let Some(request) = request else { return Step::Wait };
        if let Self::New = self {
            *self = Self::begin(parts, observability_mode, protocol_config);
        }
        let step = match self {
            Self::New | Self::Ended => Step::Over,
            Self::Observer(capture) => capture.see(&request, metadata_context.as_ref()).await,
            Self::Inline(inline) => {
                inline.take(parts, request, metadata_context.as_ref(), extension).await
            }
        };
        if matches!(step, Step::Last(_) | Step::Over)
            && let Self::Observer(capture) = std::mem::replace(self, Self::Ended)
        {
            capture.finish().await;
        }
        step
    }

    fn begin(parts: &Parts, observer: bool, configured: Option<ProtocolConfiguration>) -> Self {
        if observer {
            return Self::Observer(Box::new(CaptureSide::new(parts)));
        }
        let streams_response = configured
            .is_some_and(|config| config.response_body_mode == BodySendMode::Streamed as i32);
        Self::Inline(Box::new(Inline {
            request: Awaiting::Headers,
            configured,
            capture: streams_response.then(|| CaptureSide::new(parts)),
        }))
    }
}

impl Inline {
    async fn take(
        &mut self,
        parts: &Parts,
        request: Request,
        metadata: Option<&Metadata>,
        extension: TimeoutExtension<'_>,
    ) -> Step {
        let watched = match &mut self.capture {
            Some(capture) => capture.see(&request, metadata).await,
            None => Step::Wait,
        };
        let reply = match request {
            Request::RequestHeaders(headers) => self.request_headers(parts, headers, metadata),
            Request::RequestBody(body) => match self.request_body(parts, body, extension).await {
                Some(reply) => reply,
                None => return Step::Over,
            },
            Request::RequestTrailers(_) => replies::request_trailers(),
            Request::ResponseHeaders(_) => replies::response_headers(),
            Request::ResponseBody(_) => replies::response_body(),
            Request::ResponseTrailers(_) => replies::response_trailers(),
        };
        if watched == Step::Over
            && let Some(capture) = self.capture.take()
        {
            capture.finish().await;
        }
        let answered = matches!(self.request, Awaiting::Response);
        if answered && self.capture.is_none() {
            Step::Last(Box::new(reply))
        } else {
            Step::Reply(Box::new(reply))
        }
    }

    fn request_headers(
        &mut self,
        parts: &Parts,
        headers: HttpHeaders,
        metadata: Option<&Metadata>,
    ) -> ProcessingResponse {
        let ends_here = headers.end_of_stream;
        let config = parts.config.get();
        let head = Box::new(RequestHead::read(headers, metadata, &config));
        trace(&head);
        self.request = Awaiting::Response;
        let Some(dialect) = head.dialect() else {
            return replies::without_body(None, self.configured);
        };
        let skipped = |outcome: Outcome| {
            parts.metrics.decided(outcome.as_str());
            let request_id = head.request_id();
            let verdict = Verdict {
                outcome,
                personalised: false,
                hits: 0,
                scores: &[],
                command: None,
                request_id,
            };
            replies::without_body(Some(verdict), self.configured)
        };
        if ends_here {
            return skipped(Outcome::SkippedUnreadable);
        }
        let partial = match head.headers().content_length() {
            Some(length) if length > config.memory.max_body_bytes as u64 => {
                return skipped(Outcome::SkippedTooLarge);
            }
            Some(_) => false,
            // Envoy answers 413 to a buffered body over its limit; with a partial body it keeps the
            // beginning and lets the rest pass.
            None => true,
        };
        self.request = Awaiting::Body { dialect, head, partial };
        replies::await_body(
            partial.then(|| replies::mode(BodySendMode::BufferedPartial, self.configured)),
        )
    }

    async fn request_body(
        &mut self,
        parts: &Parts,
        body: HttpBody,
        extension: TimeoutExtension<'_>,
    ) -> Option<ProcessingResponse> {
        let awaited = std::mem::replace(&mut self.request, Awaiting::Response);
        let Awaiting::Body { dialect, head, partial } = awaited else {
            // A body after its end or before its headers is ignored.
            return None;
        };
        let arrived = std::time::Instant::now();
        let config = parts.config.get();
        let cut = partial && !body.end_of_stream;
        let (answer, command) = if cut || body.body.len() > config.memory.max_body_bytes {
            (Answer::Unchanged(Outcome::SkippedTooLarge), None)
        } else {
            recall_side::answer(parts, &config, dialect, &head, body.body, extension).await
        };
        parts.metrics.phase(Phase::Total, arrived.elapsed());
        if let Some(command) = command {
            parts.metrics.commanded(command.as_str());
        }
        let verdict = |outcome| Verdict {
            outcome,
            personalised: false,
            hits: 0,
            scores: &[],
            command,
            request_id: head.request_id(),
        };
        Some(match answer {
            Answer::Unchanged(outcome) => {
                parts.metrics.decided(outcome.as_str());
                replies::unchanged(verdict(outcome))
            }
            Answer::Replaced { body, decoded, outcome, personalised, hits, scores } => {
                parts.metrics.decided(outcome.as_str());
                let verdict = Verdict { personalised, hits, scores: &scores, ..verdict(outcome) };
                replies::replaced(verdict, body, decoded)
            }
            Answer::Rejected(field) => {
                // Operators can distinguish a 400 response from a request that passed without memory.
                parts.metrics.decided("invalid");
                replies::rejected(verdict(Outcome::SkippedUnreadable), &field)
            }
        })
    }
}
