//! The answers to Envoy, one constructor each.

use std::time::Duration;

use envoy_types::pb::envoy::{
    config::core::v3::{HeaderValue, HeaderValueOption, header_value_option::HeaderAppendAction},
    extensions::filters::http::ext_proc::v3::{
        ProcessingMode,
        processing_mode::{BodySendMode, HeaderSendMode},
    },
    service::ext_proc::v3::{
        BodyMutation, BodyResponse, CommonResponse, HeaderMutation, HeadersResponse,
        ImmediateResponse, ProcessingResponse, ProtocolConfiguration, TrailersResponse,
        body_mutation::Mutation, processing_response::Response,
    },
    r#type::v3::{HttpStatus, StatusCode},
};

use tonic::Status;

use crate::gateway::{metadata, outcome::Verdict};
use memgate_dialect::{InvalidField, invalid_request_body};

impl Verdict<'_> {
    fn on(self, response: Response) -> ProcessingResponse {
        ProcessingResponse { dynamic_metadata: Some(metadata::decision(&self)), ..plain(response) }
    }
}

fn plain(response: Response) -> ProcessingResponse {
    ProcessingResponse { response: Some(response), ..ProcessingResponse::default() }
}

/// Not an answer yet: asks Envoy to wait this long from now, instead of its `message_timeout`.
/// Envoy ignores everything else in it.
pub(super) fn more_time(longer: Duration) -> ProcessingResponse {
    let override_message_timeout = envoy_types::pb::google::protobuf::Duration {
        seconds: i64::try_from(longer.as_secs()).unwrap_or(i64::MAX),
        nanos: i32::try_from(longer.subsec_nanos()).unwrap_or_default(),
    };
    let override_message_timeout = Some(override_message_timeout);
    ProcessingResponse { override_message_timeout, ..ProcessingResponse::default() }
}

/// Request headers: continue, and send the body. The reply is requested uncompressed, so that
/// capture can read it.
pub(super) fn await_body(mode: Option<ProcessingMode>) -> ProcessingResponse {
    let headers = HeaderMutation {
        remove_headers: vec!["accept-encoding".into()],
        ..HeaderMutation::default()
    };
    let common = CommonResponse { header_mutation: Some(headers), ..CommonResponse::default() };
    ProcessingResponse {
        mode_override: mode,
        ..plain(Response::RequestHeaders(HeadersResponse { response: Some(common) }))
    }
}

/// Request headers: continue without sending the body.
pub(super) fn without_body(
    verdict: Option<Verdict<'_>>,
    configured: Option<ProtocolConfiguration>,
) -> ProcessingResponse {
    let response = Response::RequestHeaders(HeadersResponse { response: None });
    let reply = match verdict {
        Some(verdict) => verdict.on(response),
        None => plain(response),
    };
    ProcessingResponse { mode_override: Some(mode(BodySendMode::None, configured)), ..reply }
}

/// A mode that changes only the request body's mode. An override replaces all body modes, so the
/// response's is repeated.
pub(super) fn mode(
    request_body: BodySendMode,
    configured: Option<ProtocolConfiguration>,
) -> ProcessingMode {
    let response_body = configured.map_or(0, |config| config.response_body_mode);
    let response_headers = if response_body == BodySendMode::None as i32 {
        HeaderSendMode::Skip
    } else {
        HeaderSendMode::Send
    };
    ProcessingMode {
        request_body_mode: request_body as i32,
        response_body_mode: response_body,
        response_header_mode: response_headers as i32,
        ..ProcessingMode::default()
    }
}

/// Request body: unchanged.
pub(super) fn unchanged(verdict: Verdict<'_>) -> ProcessingResponse {
    verdict.on(Response::RequestBody(BodyResponse { response: None }))
}

/// Request body: replaced. `decoded` if it arrived compressed and is sent on plain.
pub(super) fn replaced(verdict: Verdict<'_>, body: Vec<u8>, decoded: bool) -> ProcessingResponse {
    // Envoy refuses a changed body whose content-length is that of the old one.
    let length = HeaderValueOption {
        header: Some(HeaderValue {
            key: "content-length".into(),
            raw_value: body.len().to_string().into_bytes(),
            ..HeaderValue::default()
        }),
        append_action: HeaderAppendAction::OverwriteIfExistsOrAdd as i32,
        ..HeaderValueOption::default()
    };
    let headers = HeaderMutation {
        set_headers: vec![length],
        remove_headers: if decoded { vec!["content-encoding".into()] } else { Vec::new() },
    };
    let common = CommonResponse {
        header_mutation: Some(headers),
        body_mutation: Some(BodyMutation { mutation: Some(Mutation::Body(body)) }),
        ..CommonResponse::default()
    };
    verdict.on(Response::RequestBody(BodyResponse { response: Some(common) }))
}

/// Answers the request with 400, because one of memgate's fields is wrong.
pub(super) fn rejected(verdict: Verdict<'_>, field: &InvalidField) -> ProcessingResponse {
    let content_type = HeaderValueOption {
        header: Some(HeaderValue {
            key: "content-type".into(),
            raw_value: b"application/json".to_vec(),
            ..HeaderValue::default()
        }),
        append_action: HeaderAppendAction::OverwriteIfExistsOrAdd as i32,
        ..HeaderValueOption::default()
    };
    verdict.on(Response::ImmediateResponse(ImmediateResponse {
        status: Some(HttpStatus { code: StatusCode::BadRequest as i32 }),
        headers: Some(HeaderMutation {
            set_headers: vec![content_type],
            ..HeaderMutation::default()
        }),
        body: invalid_request_body(field),
        details: "memgate_invalid_field".into(),
        ..ImmediateResponse::default()
    }))
}

/// Request trailers: continue.
pub(super) fn request_trailers() -> ProcessingResponse {
    plain(Response::RequestTrailers(TrailersResponse::default()))
}

/// Response headers: continue.
pub(super) fn response_headers() -> ProcessingResponse {
    plain(Response::ResponseHeaders(HeadersResponse { response: None }))
}

/// A chunk of the response: continue.
pub(super) fn response_body() -> ProcessingResponse {
    plain(Response::ResponseBody(BodyResponse { response: None }))
}

/// Response trailers: continue.
pub(super) fn response_trailers() -> ProcessingResponse {
    plain(Response::ResponseTrailers(TrailersResponse::default()))
}

/// An answer on its way to Envoy.
pub(super) type Answered = Result<ProcessingResponse, Status>;

/// The step after a message.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// Send this answer and continue.
    Reply(Box<ProcessingResponse>),
    /// Send this answer; no more messages are needed.
    Last(Box<ProcessingResponse>),
    /// Continue without an answer.
    Wait,
    /// No more messages are needed, and there is no answer.
    Over,
}
