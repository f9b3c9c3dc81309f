//! Bearer authentication: for `/v1/…` if a key is configured, for `/admin/…` always.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use sha2::{Digest, Sha256};

use crate::api::ApiError;

/// The API key. Only its digest is kept.
#[derive(Clone)]
pub struct Key(Arc<[u8; 32]>);

impl Key {
    /// Creates a key from its text.
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self(Arc::new(Sha256::digest(key.trim()).into()))
    }

    /// Whether this is the key. Digests are compared in constant time.
    fn is(&self, given: &str) -> bool {
        let given: [u8; 32] = Sha256::digest(given).into();
        let mut differ = 0;
        for (ours, theirs) in self.0.iter().zip(given) {
            differ |= ours ^ theirs;
        }
        std::hint::black_box(differ) == 0
    }
}

/// Admits a request to one user's memory if it sends the key, or, without a configured key, if it
/// is addressed to this machine.
pub(super) async fn check(
    State(key): State<Option<Key>>,
    request: Request,
    next: Next,
) -> Response {
    match key {
        Some(key) => with_key(&key, request, next).await,
        None if names_this_machine(&request) => next.run(request).await,
        None => {
            let message = "without an API key the Host header must be localhost or an IP address";
            ApiError::new(StatusCode::FORBIDDEN, "forbidden_host", message).into_response()
        }
    }
}

/// Admits a request to all users' memories if it sends the key. Without a configured key none is
/// admitted: any process on the machine can reach loopback, including one that fetches URLs for
/// others.
pub(super) async fn check_admin(
    State(key): State<Option<Key>>,
    request: Request,
    next: Next,
) -> Response {
    match key {
        Some(key) => with_key(&key, request, next).await,
        None => {
            let message = "/admin requires an API key and none is configured; set api.key_env to the name of its environment variable";
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
            "missing or incorrect API key; send it as Authorization: Bearer KEY",
        )
        .into_response(),
    }
}

/// Whether the `Host` is an IP address or localhost. A web page whose own name resolves to
/// 127.0.0.1 (DNS rebinding) must not read memories.
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
