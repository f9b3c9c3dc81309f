//! The collector: decides what a body is, feeds it to the dialect's reader, keeps to the bound.

use crate::{
    Dialect,
    json::Node,
    reply::{
        Reply, ReplyError, chat, chat::ChatStream, responses, responses_stream::ResponsesStream,
    },
    sse::{Event, Parser},
};

/// Collects one reply. Feed it every body chunk, then ask for the reply.
pub struct ReplyCollector {
    dialect: Dialect,
    max_bytes: usize,
    body: Body,
}

enum Body {
    /// The content type says neither; the first byte that is no white space will. Holds nothing.
    Unknown,
    Json(Vec<u8>),
    Events(Box<Events>),
    /// Over, whatever follows.
    Spent(ReplyError),
}

struct Events {
    parser: Parser,
    stream: Stream,
}

enum Stream {
    Chat(ChatStream),
    Responses(ResponsesStream),
}

impl ReplyCollector {
    /// A collector for a response with this `content-type` (which may be missing or wrong: then the
    /// first byte decides), which never holds more than `max_bytes` bytes of the body or of what it
    /// made of it.
    pub fn new(dialect: Dialect, content_type: Option<&str>, max_bytes: usize) -> Self {
        let content_type = content_type.unwrap_or_default().to_ascii_lowercase();
        let body = if content_type.contains("event-stream") {
            Body::events(dialect)
        } else if content_type.contains("json") {
            Body::Json(Vec::new())
        } else {
            Body::Unknown
        };
        Self { dialect, max_bytes, body }
    }

    /// Takes the next chunk of the body. Once the reply is too large or unreadable, chunks are
    /// dropped; [`ReplyCollector::finish`] says why.
    pub fn push(&mut self, chunk: &[u8]) {
        if matches!(self.body, Body::Unknown) {
            let Some(first) = chunk.iter().find(|byte| !byte.is_ascii_whitespace()) else { return };
            self.body =
                if *first == b'{' { Body::Json(Vec::new()) } else { Body::events(self.dialect) };
        }
        let max_bytes = self.max_bytes;
        let too_large = ReplyError::TooLarge { limit: max_bytes };
        let fault = match &mut self.body {
            Body::Unknown | Body::Spent(_) => None,
            Body::Json(bytes) if bytes.len() + chunk.len() > max_bytes => Some(too_large),
            Body::Json(bytes) => {
                bytes.extend_from_slice(chunk);
                None
            }
            Body::Events(events) => {
                let Events { parser, stream } = events.as_mut();
                let mut fault = None;
                parser.push(chunk, &mut |event| {
                    fault = stream.take(&event).err();
                    if fault.is_none() && stream.held() > max_bytes {
                        fault = Some(too_large);
                    }
                    fault.is_none()
                });
                fault.or_else(|| (parser.held() + stream.held() > max_bytes).then_some(too_large))
            }
        };
        if let Some(fault) = fault {
            self.body = Body::Spent(fault);
        }
    }

    /// Bytes held now, for budgets over many collectors.
    pub fn held_bytes(&self) -> usize {
        match &self.body {
            Body::Unknown | Body::Spent(_) => 0,
            Body::Json(bytes) => bytes.len(),
            Body::Events(events) => events.parser.held() + events.stream.held(),
        }
    }

    /// The reply, when the body has ended, well or not. Whether the HTTP message itself was cut off
    /// is the caller's to know: a JSON body cut off is unreadable, a stream [`crate::reply::Ending::CutOff`]
    /// unless it had already said how it ends.
    ///
    /// # Errors
    /// See [`ReplyError`].
    pub fn finish(self) -> Result<Reply, ReplyError> {
        match self.body {
            Body::Unknown => Err(ReplyError::Unreadable("the reply is empty")),
            Body::Spent(fault) => Err(fault),
            Body::Json(bytes) => {
                let root = Node::document(&bytes)
                    .and_then(|document| document.object())
                    .ok_or(ReplyError::Unreadable("the reply is not a JSON object"))?;
                match self.dialect {
                    Dialect::Chat => chat::reply(&root),
                    Dialect::Responses => responses::reply(&root),
                }
            }
            Body::Events(events) => {
                let Events { mut parser, mut stream } = *events;
                if let Some(event) = parser.finish() {
                    // Cut short or merely without its empty line: only the latter can be read.
                    let _cut_short = stream.take(&event);
                }
                match stream {
                    Stream::Chat(stream) => stream.finish(),
                    Stream::Responses(stream) => stream.finish(),
                }
            }
        }
    }
}

impl Body {
    fn events(dialect: Dialect) -> Self {
        let stream = match dialect {
            Dialect::Chat => Stream::Chat(ChatStream::default()),
            Dialect::Responses => Stream::Responses(ResponsesStream::default()),
        };
        Self::Events(Box::new(Events { parser: Parser::default(), stream }))
    }
}

impl Stream {
    fn take(&mut self, event: &Event) -> Result<(), ReplyError> {
        let data = event.data.trim();
        if data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            if let Self::Chat(stream) = self {
                stream.done();
            }
            return Ok(());
        }
        let document = Node::document(data.as_bytes()).and_then(|document| document.object());
        let root =
            document.ok_or(ReplyError::Unreadable("an event of the reply is not a JSON object"))?;
        match self {
            Self::Chat(stream) => stream.take(&event.name, &root),
            Self::Responses(stream) => stream.take(&event.name, &root),
        }
        Ok(())
    }

    fn held(&self) -> usize {
        match self {
            Self::Chat(stream) => stream.held(),
            Self::Responses(stream) => stream.held(),
        }
    }
}
