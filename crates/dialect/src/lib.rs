//! The two wire formats: reads an [`Ask`] out of a request body, plans the [`Edits`] that take our
//! fields out and put a context in, and collects a [`Reply`] out of a response body.
//!
//! Everything here is a pure function on bytes. It must never do I/O, never know Envoy, a store or
//! the configuration, and never re-serialise a body: what is not edited stays byte for byte.

mod ask;
mod chat;
mod decode;
mod edits;
mod error;
mod json;
mod message;
mod options;
mod reply;
mod request;
mod responses;
mod seats;
mod sse;

pub use ask::{Ask, Role, ToolItem, Utterance};
pub use decode::{DecodeError, decode_body};
pub use edits::Edits;
pub use error::ReadError;
pub use options::{InvalidField, MemoryOptions, invalid_request_body};
pub use reply::{Ending, Reply, ReplyCollector, ReplyError, Usage};
pub use request::{Request, read};
pub use seats::{Placed, Placement};

/// A wire format memory acts on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// `POST /v1/chat/completions`.
    Chat,
    /// `POST /v1/responses`.
    Responses,
}

impl Dialect {
    /// The dialect spoken at an HTTP path (`:path`); the query string is ignored, the rest is exact.
    pub fn from_path(path: &str) -> Option<Self> {
        match path.split_once('?').map_or(path, |(path, _)| path) {
            "/v1/chat/completions" => Some(Self::Chat),
            "/v1/responses" => Some(Self::Responses),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
