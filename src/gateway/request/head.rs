//! The head of a request: everything known before its body.

use envoy_types::pb::envoy::{
    config::core::v3::{HeaderValue, Metadata},
    service::ext_proc::v3::HttpHeaders,
};

use crate::gateway::metadata;
use memgate_config::Config;
use memgate_core::identity::Claims;
use memgate_dialect::Dialect;
use memgate_recall::signals::{Earlier, Name};
use memgate_telemetry::join_trace;

/// The head of a request.
#[derive(Clone, Debug, Default)]
pub struct RequestHead {
    headers: Headers,
    /// The claims of the verified token, if Envoy verified one.
    pub claims: Option<Claims>,
    /// The signals of earlier filters.
    pub earlier: Earlier,
}

/// Headers in their original order: lower-case names, values as bytes.
#[derive(Clone, Default)]
pub struct Headers(Vec<(String, Vec<u8>)>);

impl Headers {
    /// Converts Envoy's headers.
    #[must_use]
    pub fn of(message: HttpHeaders) -> Self {
        let all = message.headers.map(|map| map.headers).unwrap_or_default();
        Self(all.into_iter().map(|header| (header.key.clone(), bytes(header))).collect())
    }

    /// All values of a header.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_slice())
    }

    /// The first value of a header.
    #[must_use]
    pub fn first(&self, name: &str) -> Option<&[u8]> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_slice())
    }

    /// The first value of a header as text; also `None` if it is not UTF-8.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.first(name).and_then(|value| std::str::from_utf8(value).ok())
    }

    /// `content-length`, if it is a number.
    #[must_use]
    pub fn content_length(&self) -> Option<u64> {
        self.text("content-length")?.trim().parse().ok()
    }

    /// `content-encoding`, unless it is `identity`.
    #[must_use]
    pub fn content_encoding(&self) -> Option<&str> {
        self.text("content-encoding")
            .map(str::trim)
            .filter(|encoding| !encoding.is_empty() && !encoding.eq_ignore_ascii_case("identity"))
    }
}

impl std::fmt::Debug for Headers {
    /// Header values may name users or contain keys, so they are not printed.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(key, _)| key)).finish()
    }
}

/// Envoy 1.40 sends `raw_value`; older versions and other gateways send `value`.
fn bytes(header: HeaderValue) -> Vec<u8> {
    if header.raw_value.is_empty() { header.value.into_bytes() } else { header.raw_value }
}

impl RequestHead {
    /// Reads the head and the metadata of Envoy's own filters.
    #[must_use]
    pub fn read(message: HttpHeaders, filters: Option<&Metadata>, config: &Config) -> Self {
        let headers = Headers::of(message);
        let jwt = &config.memory.identity.jwt;
        let claims = metadata::namespace(filters, &jwt.namespace)
            .and_then(|mut token| token.get_mut(&jwt.payload).map(serde_json::Value::take))
            .map(|payload| Claims::read(&payload, &jwt.claims()));
        let names = &config.memory.signals.headers;
        let said = metadata::namespace(filters, &config.memory.signals.metadata.namespace);
        let earlier = Earlier::read(
            |name| {
                headers.first(match name {
                    Name::Fact => &names.fact,
                    Name::Tool => &names.tool,
                    Name::Greeting => &names.greeting,
                    Name::Personal => &names.personal,
                })
            },
            said.as_ref(),
        );
        Self { headers, claims, earlier }
    }

    /// The headers.
    #[must_use]
    pub fn headers(&self) -> &Headers {
        &self.headers
    }

    /// `:path`, including its query.
    #[must_use]
    pub fn path(&self) -> &str {
        self.headers.text(":path").unwrap_or_default()
    }

    /// The dialect, if memory acts on this request at all.
    #[must_use]
    pub fn dialect(&self) -> Option<Dialect> {
        (self.headers.text(":method") == Some("POST")).then(|| Dialect::from_path(self.path()))?
    }

    /// Envoy's request id.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.headers.text("x-request-id")
    }
}

/// Makes the exchange's span a child of the request's trace.
pub(crate) fn trace(head: &RequestHead) {
    let span = tracing::Span::current();
    if let Some(id) = head.request_id() {
        span.record("request_id", id);
    }
    join_trace(&span, head.headers().text("traceparent"), head.headers().text("tracestate"));
}
