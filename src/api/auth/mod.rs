//! Authentication: who a request comes from. It ends in a [`Caller`], which every operation asks
//! whose memories are within reach.

mod brake;
mod bucket;
mod from_here;
mod verified;

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
    time::Instant,
};

use axum::{
    extract::{ConnectInfo, Request, State, connect_info::Connected},
    http::{HeaderMap, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
    serve::IncomingStream,
};
use tokio::net::TcpListener;

use self::{brake::Brake, bucket::Buckets, from_here::is_from_here};
use crate::api::{
    ApiError,
    caller::{self, Caller, Key},
    state::ApiState,
};
use memgate_access::{Actor, Bound, Digest, KeyRecord, Scope, Scopes};
use memgate_config::IdentityMode;

/// The path of the operations on keys.
const KEYS: &str = "/admin/keys";

/// The address that a request comes from, with and without TLS.
#[derive(Clone, Copy)]
pub struct Peer(pub IpAddr);

impl Connected<IncomingStream<'_, TcpListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, TcpListener>) -> Self {
        Self(stream.remote_addr().ip())
    }
}

/// The parts that authentication needs.
pub(super) struct Gate {
    configured: Option<Key>,
    state: ApiState,
    brake: Brake,
    by_key: Buckets<Actor>,
    by_user: Buckets<memgate_core::memory::Owner>,
}

impl Gate {
    pub(super) fn new(state: ApiState, configured: Option<Key>) -> Self {
        let config = state.config.get();
        let by_key = Buckets::new(config.api.requests_per_second);
        let by_user = Buckets::new(config.api.user_requests_per_second);
        Self { configured, state, brake: Brake::default(), by_key, by_user }
    }
}

/// Lets a request pass together with its [`Caller`], or answers it.
pub(super) async fn check(
    State(gate): State<Arc<Gate>>,
    mut request: Request,
    next: Next,
) -> Response {
    let peer = request.extensions().get::<ConnectInfo<Peer>>();
    let peer = peer.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |peer| peer.0.0);
    match gate.caller(&request, peer) {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(error) => error.into_response(),
    }
}

impl Gate {
    fn caller(&self, request: &Request, peer: IpAddr) -> Result<Caller, ApiError> {
        let headers = request.headers();
        let identity = headers.get_all(verified::HEADER);
        let Some(key) = bearer(headers) else {
            // Envoy sends an identity only together with its key.
            return match identity.iter().next() {
                Some(_) => Err(self.no_key()),
                None => self.without_key(headers),
            };
        };
        let now = Instant::now();
        self.brake.check(peer, now)?;
        let makes_keys = request.uri().path().starts_with(KEYS);
        let from_here = peer.to_canonical().is_loopback();
        let local = self.state.local_key().filter(|_| makes_keys && from_here);
        if local.is_some_and(|local| local.0.is(&Digest::of(key))) {
            let scopes = Scopes::new([Scope::Admin]);
            return Ok(Caller::new(Actor::CommandLine, scopes, Bound::All).for_request(headers));
        }
        let Some(key) = self.find(key)? else {
            self.brake.wrong_key(peer, now);
            return Err(wrong_key());
        };
        let caller = match (key.scopes.permit(Scope::Gateway), identity.iter().next()) {
            (true, _) => {
                let jwt = &self.state.config.get().memory.identity.jwt;
                let owner = verified::owner(identity, jwt)?;
                // Tokens of another tenant are none of this gateway's.
                if !key.bound.reaches(&owner) {
                    return Err(verified::refused());
                }
                self.by_user.take(owner.clone(), now)?;
                Caller::verified(owner, key.id)
            }
            // With such a key in Envoy, every user could do what the key can.
            (false, Some(_)) => return Err(verified::not_a_gateway()),
            (false, None) => {
                self.by_key.take(key.actor, now)?;
                Caller::new(key.actor, key.scopes, key.bound)
            }
        };
        Ok(caller.for_request(headers))
    }

    /// The valid key with this text.
    fn find(&self, key: &str) -> Result<Option<Found>, ApiError> {
        if self.configured.as_ref().is_some_and(|configured| configured.0.is(&Digest::of(key))) {
            return Ok(Some(Found::configured()));
        }
        match self.state.operations() {
            Some(operations) => Ok(operations.access.keys.find(key).map(Found::from)),
            None => Err(ApiError::not_open()),
        }
    }

    /// Admits a request without a key in development mode, unless a key is configured. The mode
    /// implies that only this machine can connect.
    fn without_key(&self, headers: &HeaderMap) -> Result<Caller, ApiError> {
        let mode = self.state.config.get().memory.identity.mode;
        if self.configured.is_some() || mode != IdentityMode::Development {
            return Err(self.no_key());
        }
        if !is_from_here(headers) {
            let message = "without an API key the Host header must be localhost or an IP address, \
                           and a web page must come from localhost or a loopback address";
            return Err(ApiError::new(StatusCode::FORBIDDEN, "forbidden_host", message));
        }
        let scopes = Scopes::new([Scope::Read, Scope::Write]);
        Ok(Caller::new(Actor::Loopback, scopes, Bound::All).for_request(headers))
    }

    fn no_key(&self) -> ApiError {
        if self.configured.is_some() {
            return wrong_key();
        }
        caller::key_required()
    }
}

/// A valid key.
struct Found {
    id: i64,
    actor: Actor,
    scopes: Scopes,
    bound: Bound,
}

impl Found {
    fn configured() -> Self {
        let scopes = Scopes::new([Scope::Admin]);
        Self { id: 0, actor: Actor::ConfiguredKey, scopes, bound: Bound::All }
    }
}

impl From<KeyRecord> for Found {
    fn from(key: KeyRecord) -> Self {
        Self { id: key.id, actor: Actor::Key(key.id), scopes: key.scopes, bound: key.bound }
    }
}

fn wrong_key() -> ApiError {
    let message = "missing or incorrect API key; send it as Authorization: Bearer KEY";
    ApiError::new(StatusCode::UNAUTHORIZED, "invalid_api_key", message)
}

/// The key that a request sends.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, key) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let key = key.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !key.is_empty()).then_some(key)
}
