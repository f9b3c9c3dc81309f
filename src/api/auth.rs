//! The bearer key of the API: of `/v1/…` where one is configured, of `/admin/…` always.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use sha2::{Digest, Sha256};

use super::ApiError;

/// The key callers must send. Only its digest is kept.
#[derive(Clone)]
pub struct Key(Arc<[u8; 32]>);

impl Key {
    /// The key in a text.
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self(Arc::new(Sha256::digest(key.trim()).into()))
    }

    /// Whether this is the key. How long that takes tells nothing about it: digests are compared,
    /// and every byte of them.
    fn is(&self, given: &str) -> bool {
        let given: [u8; 32] = Sha256::digest(given).into();
        let mut differ = 0;
        for (ours, theirs) in self.0.iter().zip(given) {
            differ |= ours ^ theirs;
        }
        std::hint::black_box(differ) == 0
    }
}

/// Lets a request to one user's memory through that sends the key, or every one of this machine
/// where there is none.
pub(super) async fn check(
    State(key): State<Option<Key>>,
    request: Request,
    next: Next,
) -> Response {
    match key {
        Some(key) => with_key(&key, request, next).await,
        None if names_this_machine(&request) => next.run(request).await,
        None => {
            let message = "without a key this API answers only to localhost or an address as Host";
            ApiError::new(StatusCode::FORBIDDEN, "forbidden_host", message).into_response()
        }
    }
}

/// Lets a request to everybody's memory through that sends the key. Without one nobody passes: any
/// process of the machine can reach loopback, also one that fetches addresses it was told of.
pub(super) async fn check_admin(
    State(key): State<Option<Key>>,
    request: Request,
    next: Next,
) -> Response {
    match key {
        Some(key) => with_key(&key, request, next).await,
        None => {
            let message = "/admin needs a key, and none is configured: name its environment variable in api.key_env";
            ApiError::new(StatusCode::UNAUTHORIZED, "key_required", message).into_response()
        }
    }
}

async fn with_key(key: &Key, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let sent = given.and_then(|text| {
        let (scheme, key) = text.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
    });
    match sent {
        Some(sent) if key.is(sent) => next.run(request).await,
        _ => ApiError::new(
            StatusCode::UNAUTHORIZED,
            "invalid_api_key",
            "this API needs its key: Authorization: Bearer …",
        )
        .into_response(),
    }
}

/// Whether the request was addressed to this machine by address or as localhost. A web page that
/// makes its own name point to 127.0.0.1 was not, and must not read anybody's memories.
fn names_this_machine(request: &Request) -> bool {
    let host = request.headers().get(header::HOST).and_then(|value| value.to_str().ok());
    let Some(host) = host else { return true };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || address.parse::<std::net::IpAddr>().is_ok()
}
