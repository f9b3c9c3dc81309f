//! The requests the double received, byte for byte, so that a test can assert what really reached the upstream.
//! Bounded: the oldest are forgotten first.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderMap, Method, Uri};
use serde_json::{Value, json};

/// At most this many requests are kept.
const MAX_REQUESTS: usize = 10_000;
/// At most this many bytes of bodies are kept.
const MAX_BYTES: usize = 256 << 20;

#[derive(Default)]
pub(crate) struct Journal(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    requests: VecDeque<Received>,
    /// The sum of the bodies in `requests`.
    bytes: usize,
    /// How many were ever received, forgotten ones included; a request's number counts from 1.
    received: u64,
}

struct Received {
    number: u64,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
}

impl Journal {
    pub(crate) fn add(&self, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) {
        let mut kept = self.lock();
        kept.received += 1;
        kept.bytes += body.len();
        let number = kept.received;
        kept.requests.push_back(Received { number, method, uri, headers, body });
        while kept.requests.len() > MAX_REQUESTS || kept.bytes > MAX_BYTES {
            let Some(oldest) = kept.requests.pop_front() else {
                break;
            };
            kept.bytes -= oldest.body.len();
        }
    }

    pub(crate) fn clear(&self) {
        let mut kept = self.lock();
        kept.requests.clear();
        kept.bytes = 0;
    }

    /// The requests whose headers are `wanted`:
    /// `[{number, method, path, headers: [[name, value]…], body_base64, body_text}]`, oldest first; `body_text` is
    /// null for a body that is no UTF-8, and header values that are none have replacement characters.
    pub(crate) fn to_json(&self, wanted: impl Fn(&HeaderMap) -> bool) -> Value {
        let kept = self.lock();
        let requests = kept.requests.iter().filter(|request| wanted(&request.headers));
        requests.map(Received::to_json).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // A panic elsewhere cannot leave the list half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Received {
    fn to_json(&self) -> Value {
        let headers: Vec<Value> = self
            .headers
            .iter()
            .map(|(name, value)| json!([name.as_str(), String::from_utf8_lossy(value.as_bytes())]))
            .collect();
        json!({
            "number": self.number,
            "method": self.method.as_str(),
            "path": self.uri.path_and_query().map_or("", |path| path.as_str()),
            "headers": headers,
            "body_base64": STANDARD.encode(&self.body),
            "body_text": std::str::from_utf8(&self.body).ok(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_bodies(sizes: &[usize]) -> Journal {
        let journal = Journal::default();
        for &size in sizes {
            let body = Bytes::from(vec![b'x'; size]);
            journal.add(Method::POST, Uri::from_static("/v1/x"), HeaderMap::new(), body);
        }
        journal
    }

    fn numbers(journal: &Journal) -> Vec<u64> {
        let all = journal.to_json(|_| true);
        all.as_array()
            .into_iter()
            .flatten()
            .filter_map(|request| request["number"].as_u64())
            .collect()
    }

    #[test]
    fn over_the_byte_limit_the_oldest_are_forgotten_and_numbers_go_on() {
        let journal = with_bodies(&[MAX_BYTES / 2, MAX_BYTES / 2, 1]);
        assert_eq!(numbers(&journal), [2, 3]);
    }

    #[test]
    fn clearing_forgets_all_but_the_count() {
        let journal = with_bodies(&[1, 1]);
        journal.clear();
        journal.add(Method::GET, Uri::from_static("/"), HeaderMap::new(), Bytes::new());
        assert_eq!(numbers(&journal), [3]);
    }
}
