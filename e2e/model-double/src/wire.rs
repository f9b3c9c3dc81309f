//! Bytes on the wire: events as server-sent events, cut, paced, compressed and broken off as told. Knows nothing of
//! what the events say.

use std::io::Write as _;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::{StreamExt as _, stream};
use serde_json::Value;

use crate::directives::Directives;

/// A pause that makes each piece a write of its own.
const BETWEEN_WRITES: Duration = Duration::from_millis(1);

/// One server-sent event.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    name: Option<&'static str>,
    data: String,
}

impl Event {
    /// An event with data alone, as in Chat Completions.
    pub(crate) fn data(data: Value) -> Self {
        Self { name: None, data: data.to_string() }
    }

    /// An event with a name, as in Responses.
    pub(crate) fn named(name: &'static str, data: Value) -> Self {
        Self { name: Some(name), data: data.to_string() }
    }

    /// An event whose data is this text: `[DONE]`, or what is no JSON.
    pub(crate) fn text(text: &str) -> Self {
        Self { name: None, data: text.to_owned() }
    }

    fn encode(&self, directives: &Directives) -> Vec<u8> {
        let end = if directives.crlf { "\r\n" } else { "\n" };
        let mut out = String::new();
        if directives.comments {
            out = format!(": keep-alive{end}{end}");
        }
        if let Some(name) = self.name {
            out += &format!("event: {name}{end}");
        }
        // Only between the members of an object may a line break be put without changing what it says.
        let lines = match self.data.split_once(",\"") {
            Some((first, rest)) if directives.multiline => {
                vec![format!("{first},"), format!("\"{rest}")]
            }
            _ => vec![self.data.clone()],
        };
        for line in lines {
            out += &format!("data: {line}{end}");
        }
        out += end;
        out.into_bytes()
    }
}

/// The body of a stream of events.
pub(crate) fn event_stream(events: &[Event], directives: &Directives) -> Body {
    let mut pieces: Vec<Bytes> = encode(events, directives);
    if let Some(kept) = directives.cut_after {
        pieces.truncate(kept);
    }
    let (pause, pieces) = if directives.split {
        (BETWEEN_WRITES, at_odd_places(&pieces.concat()))
    } else {
        (directives.gap, pieces)
    };
    paced(pieces, directives.first_token, pause, directives.cut_after.is_some())
}

/// A body that is sent at once (or up to where it is cut).
pub(crate) fn whole(body: Vec<u8>, directives: &Directives) -> Body {
    let body = if directives.gzip { gzipped(&body) } else { body };
    let Some(kept) = directives.cut_after else {
        if directives.first_token.is_zero() {
            return Body::from(body);
        }
        return paced(vec![body.into()], directives.first_token, Duration::ZERO, false);
    };
    let mut start = Bytes::from(body);
    start.truncate(kept);
    paced(vec![start], directives.first_token, Duration::ZERO, true)
}

/// A body in pieces of `length` bytes, each piece a write of its own.
pub(crate) fn in_pieces(body: &[u8], length: usize) -> Body {
    let pieces = body.chunks(length.max(1)).map(Bytes::copy_from_slice).collect();
    paced(pieces, Duration::ZERO, BETWEEN_WRITES, false)
}

/// The events' bytes, one element an event; compressed together where that was asked for.
fn encode(events: &[Event], directives: &Directives) -> Vec<Bytes> {
    let plain = events.iter().map(|event| event.encode(directives));
    if !directives.gzip {
        return plain.map(Bytes::from).collect();
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let mut pieces: Vec<Bytes> = plain
        .map(|event| {
            // Writing to a Vec cannot fail. Flushing gives each event bytes of its own.
            drop(encoder.write_all(&event));
            drop(encoder.flush());
            Bytes::from(std::mem::take(encoder.get_mut()))
        })
        .collect();
    pieces.extend(encoder.finish().map(Bytes::from).ok());
    pieces
}

fn gzipped(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    drop(encoder.write_all(plain));
    encoder.finish().unwrap_or_default()
}

/// Pieces of 1 to 61 bytes: they end within words, within escapes, within characters, between CR and LF.
fn at_odd_places(bytes: &[u8]) -> Vec<Bytes> {
    let mut pieces = Vec::new();
    let mut rest = bytes;
    for length in [1, 7, 61, 3, 29, 2, 13, 47].into_iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, after) = rest.split_at(length.min(rest.len()));
        pieces.push(Bytes::copy_from_slice(piece));
        rest = after;
    }
    pieces
}

/// Sends `pieces` one by one; a `broken` body ends in an error, which closes the connection without its proper end.
fn paced(pieces: Vec<Bytes>, before: Duration, between: Duration, broken: bool) -> Body {
    let broken = broken.then(|| Err(std::io::Error::other("cut off as told")));
    let items = pieces.into_iter().map(Ok).chain(broken).enumerate();
    Body::from_stream(stream::iter(items).then(move |(number, item)| async move {
        let pause = if number == 0 { before } else { between };
        if pause.is_zero() {
            // Gives the connection a chance to write what it has: a piece is then a write of its own.
            tokio::task::yield_now().await;
        } else {
            tokio::time::sleep(pause).await;
        }
        item
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn encoded(directives: &Directives) -> String {
        let event = Event::named("x", json!({"a": 1, "b": "ü"}));
        String::from_utf8_lossy(&event.encode(directives)).into_owned()
    }

    #[test]
    fn an_event_is_a_name_its_data_and_an_empty_line() {
        let plain = Directives::default();
        assert_eq!(encoded(&plain), "event: x\ndata: {\"a\":1,\"b\":\"ü\"}\n\n");
    }

    #[test]
    fn crlf_comments_and_several_data_lines_can_be_had() {
        let odd =
            Directives { crlf: true, comments: true, multiline: true, ..Directives::default() };
        assert_eq!(
            encoded(&odd),
            ": keep-alive\r\n\r\nevent: x\r\ndata: {\"a\":1,\r\ndata: \"b\":\"ü\"}\r\n\r\n"
        );
    }

    #[test]
    fn odd_places_lose_no_byte() {
        let bytes: Vec<u8> = (0..=255).cycle().take(1000).collect();
        assert_eq!(at_odd_places(&bytes).concat(), bytes);
    }
}
