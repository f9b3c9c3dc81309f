//! Watching one exchange: the client's own request and the final reply. What is
//! seen here is handed to capture when both ended well, and never held up.

use envoy_types::pb::envoy::{
    config::core::v3::Metadata, service::ext_proc::v3::processing_request::Request,
};
use jiff::Timestamp;

use super::{
    admission::{Admission, Admitted, admit},
    budget::Share,
    exchange::{Step, trace},
    head::{Headers, RequestHead},
    service::Parts,
};
use crate::{
    capture::{Circumstances, FinishedTurn, InFlight},
    dialect::{self, Ask, Dialect, Reply, ReplyCollector},
    telemetry::CaptureDrop,
};

/// Larger replies are parsed off the async runtime.
const PARSED_INLINE: usize = 256 * 1024;

/// One exchange as it is watched.
pub(super) struct CaptureSide {
    parts: Parts,
    in_flight: Option<InFlight>,
    share: Share,
    began: Timestamp,
    state: State,
}

enum State {
    /// The request is coming in.
    Request { head: Option<Box<RequestHead>>, body: Vec<u8>, ended: bool },
    /// The reply is coming in, and will be learnt from if it ends well.
    Reply { asked: Box<Asked>, reply: Incoming },
    /// Both ended.
    Complete { asked: Box<Asked>, reply: Incoming },
    /// Nothing is learnt from this exchange.
    GivenUp,
}

/// What is kept of a request once its reply begins.
struct Asked {
    dialect: Dialect,
    ask: Ask,
    admitted: Admitted,
    session_header: Option<String>,
    request_id: Option<String>,
    began: Timestamp,
}

/// A reply on its way.
enum Incoming {
    Plain(ReplyCollector),
    /// Compressed although it was asked for plain; decoded when whole.
    Encoded {
        encoding: String,
        content_type: Option<String>,
        bytes: Vec<u8>,
    },
}

impl CaptureSide {
    pub(super) fn new(parts: &Parts) -> Self {
        Self {
            in_flight: parts.memory.get().map(|memory| memory.capture.exchange_begins()),
            share: parts.budget.share(),
            began: Timestamp::now(),
            state: State::Request { head: None, body: Vec::new(), ended: false },
            parts: parts.clone(),
        }
    }

    /// Takes note of a message. [`Step::Over`] when nothing more is wanted.
    pub(super) fn see(&mut self, message: &Request, metadata: Option<&Metadata>) -> Step {
        match message {
            Request::RequestHeaders(headers) => {
                let ends = headers.end_of_stream;
                let config = self.parts.config.get();
                let read = RequestHead::read(headers.clone(), metadata, &config);
                trace(&read);
                if read.dialect().is_none() {
                    self.state = State::GivenUp;
                } else if let State::Request { head, ended, .. } = &mut self.state {
                    *head = Some(Box::new(read));
                    *ended = ends;
                }
            }
            Request::RequestBody(chunk) => self.request_chunk(&chunk.body, chunk.end_of_stream),
            Request::RequestTrailers(_) => self.request_chunk(&[], true),
            Request::ResponseHeaders(headers) => {
                self.reply_begins(&Headers::of(headers.clone()));
                if headers.end_of_stream {
                    self.reply_ended();
                }
            }
            Request::ResponseBody(chunk) => {
                self.reply_chunk(&chunk.body);
                if chunk.end_of_stream {
                    self.reply_ended();
                }
            }
            Request::ResponseTrailers(_) => self.reply_ended(),
        }
        match self.state {
            State::Complete { .. } | State::GivenUp => Step::Over,
            State::Request { .. } | State::Reply { .. } => Step::Wait,
        }
    }

    fn request_chunk(&mut self, chunk: &[u8], ends: bool) {
        let State::Request { body, ended, .. } = &mut self.state else { return };
        // Envoy may repeat the end; what comes after it is nobody's.
        if *ended {
            return;
        }
        let max = self.parts.config.get().memory.max_body_bytes;
        if body.len() + chunk.len() > max {
            return self.give_up(CaptureDrop::TooLarge);
        }
        if !self.share.grow(chunk.len()) {
            return self.give_up(CaptureDrop::OverBudget);
        }
        body.extend_from_slice(chunk);
        *ended = ends;
    }

    /// The request is judged now and its body let go: what is not learnt from
    /// need not be collected.
    fn reply_begins(&mut self, response: &Headers) {
        let State::Request { head, body, ended } =
            std::mem::replace(&mut self.state, State::GivenUp)
        else {
            return;
        };
        let success = response.text(":status").is_some_and(|status| status.starts_with('2'));
        let Some(head) = head else { return };
        if !ended || !success {
            return self.give_up(CaptureDrop::Incomplete);
        }
        let Some(in_flight) = &self.in_flight else {
            return self.give_up(CaptureDrop::Journal);
        };
        let Some(asked) = judge(&self.parts, &head, &body, self.began) else { return };
        in_flight.known(asked.admitted.identity.owner());
        drop(body);
        self.share.shrink_to(0);
        let content_type = response.text("content-type");
        let max = self.parts.config.get().memory.max_reply_bytes;
        let reply = match response.content_encoding() {
            None => Incoming::Plain(ReplyCollector::new(asked.dialect, content_type, max)),
            Some(encoding) => Incoming::Encoded {
                encoding: encoding.to_owned(),
                content_type: content_type.map(str::to_owned),
                bytes: Vec::new(),
            },
        };
        self.state = State::Reply { asked: Box::new(asked), reply };
    }

    fn reply_chunk(&mut self, chunk: &[u8]) {
        let State::Reply { reply, .. } = &mut self.state else { return };
        let max = self.parts.config.get().memory.max_reply_bytes;
        let held = match reply {
            Incoming::Plain(collector) => {
                collector.push(chunk);
                collector.held_bytes()
            }
            Incoming::Encoded { bytes, .. } if bytes.len() + chunk.len() <= max => {
                bytes.extend_from_slice(chunk);
                bytes.len()
            }
            Incoming::Encoded { .. } => return self.give_up(CaptureDrop::TooLarge),
        };
        if !self.share.resize(held) {
            self.give_up(CaptureDrop::OverBudget);
        }
    }

    fn reply_ended(&mut self) {
        self.state = match std::mem::replace(&mut self.state, State::GivenUp) {
            State::Reply { asked, reply } => State::Complete { asked, reply },
            // A reply that never began, or one that is not learnt from.
            State::Request { .. } | State::Complete { .. } | State::GivenUp => State::GivenUp,
        };
    }

    fn give_up(&mut self, why: CaptureDrop) {
        self.parts.metrics.dropped(why);
        self.share.shrink_to(0);
        self.state = State::GivenUp;
    }

    /// The exchange is over: hands the turn to capture, if there is one.
    pub(super) async fn finish(self) {
        let Self { parts, in_flight, state, share, .. } = self;
        let State::Complete { asked, reply } = state else { return };
        let max = parts.config.get().memory.max_reply_bytes;
        let dialect = asked.dialect;
        let read = if reply.held_bytes() > PARSED_INLINE {
            tokio::task::spawn_blocking(move || reply.read(dialect, max)).await.ok().flatten()
        } else {
            reply.read(dialect, max)
        };
        drop(share);
        let Some(reply) = read else {
            parts.metrics.dropped(CaptureDrop::Unreadable);
            return;
        };
        match (turn(*asked, reply), parts.memory.get(), in_flight) {
            (None, ..) => parts.metrics.dropped(CaptureDrop::Incomplete),
            (Some(turn), Some(memory), Some(in_flight)) => memory.capture.offer(turn, in_flight),
            (Some(_), ..) => parts.metrics.dropped(CaptureDrop::Journal),
        }
    }
}

impl Incoming {
    fn held_bytes(&self) -> usize {
        match self {
            Self::Plain(collector) => collector.held_bytes(),
            Self::Encoded { bytes, .. } => bytes.len(),
        }
    }

    fn read(self, dialect: Dialect, max: usize) -> Option<Reply> {
        let collector = match self {
            Self::Plain(collector) => collector,
            Self::Encoded { encoding, content_type, bytes } => {
                let plain = dialect::decode_body(&encoding, &bytes, max).ok()?;
                let mut collector = ReplyCollector::new(dialect, content_type.as_deref(), max);
                collector.push(&plain);
                collector
            }
        };
        collector.finish().ok()
    }
}

/// Reads and judges the request; `None` when nothing may be learnt from it.
fn judge(parts: &Parts, head: &RequestHead, body: &[u8], began: Timestamp) -> Option<Asked> {
    let config = parts.config.get();
    let dialect = head.dialect()?;
    let plain = match head.headers().content_encoding() {
        None => std::borrow::Cow::Borrowed(body),
        Some(encoding) => {
            dialect::decode_body(encoding, body, config.memory.max_body_bytes).ok()?.into()
        }
    };
    let request = dialect::read(dialect, &plain).ok()?;
    let Admission::Admitted(admitted) = admit(&config, head, request.ask()) else { return None };
    admitted.learn.then(|| Asked {
        dialect,
        ask: request.ask().clone(),
        admitted: *admitted,
        session_header: head.headers().text("x-session-id").map(str::to_owned),
        request_id: head.request_id().map(str::to_owned),
        began,
    })
}

fn turn(asked: Asked, reply: Reply) -> Option<FinishedTurn> {
    let Asked { ask, admitted, session_header, request_id, began, .. } = asked;
    let circumstances = Circumstances {
        owner: admitted.identity.owner().clone(),
        project_id: admitted.project_id,
        agent_id: None,
        session_header,
        request_id,
        began,
        ended: Timestamp::now(),
    };
    FinishedTurn::new(&ask, reply, circumstances)
}
