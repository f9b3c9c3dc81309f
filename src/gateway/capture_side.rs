//! Watching one exchange: the client's own request and the final reply. Both
//! are handed to capture when they ended well, and never held up.

use envoy_types::pb::envoy::{
    config::core::v3::Metadata, service::ext_proc::v3::processing_request::Request,
};
use jiff::Timestamp;

use crate::gateway::{
    budget::Share,
    parts::Parts,
    replies::Step,
    request::{
        Admission, Admitted, Headers, PARSED_INLINE, ReadRequest, RequestHead, named_by_head, read,
        trace,
    },
};
use memgate_capture::{CaptureDrop, Circumstances, FinishedTurn, InFlight, SessionKey};
use memgate_dialect::{Ask, Dialect, Reply, ReplyCollector, Role};
use memgate_telemetry::PanicIn;
use memgate_text::command::Commands;

/// The longest message whose place is told by the one before it, in bytes: of a longer one nobody edits the next.
const MAX_BEFORE_BYTES: usize = 64 * 1024;

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
    Request { head: Option<Box<RequestHead>>, body: Vec<u8> },
    /// The request ended and the model is at work.
    Asked(Box<Asked>),
    /// The reply is arriving. memgate learns from it if it ends well.
    Reply { asked: Box<Asked>, reply: Incoming },
    /// Both ended.
    Complete { asked: Box<Asked>, reply: Incoming },
    /// memgate does not learn from this exchange.
    GivenUp,
}

/// The parts of a request that are kept once it has ended.
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
            began: parts.clock.now(),
            state: State::Request { head: None, body: Vec::new() },
            parts: parts.clone(),
        }
    }

    /// Takes note of a message. [`Step::Over`] when nothing more is wanted.
    pub(super) async fn see(&mut self, message: &Request, metadata: Option<&Metadata>) -> Step {
        match message {
            Request::RequestHeaders(headers) => {
                let config = self.parts.config.get();
                let read = RequestHead::read(headers.clone(), metadata, &config);
                trace(&read);
                // A request without a body says nothing.
                if read.dialect().is_none() || headers.end_of_stream {
                    self.state = State::GivenUp;
                } else if let State::Request { head, .. } = &mut self.state {
                    if let (Some(it), Some(id)) = (&self.in_flight, read.request_id()) {
                        it.named(id);
                    }
                    if let (Some(it), Some(who)) = (&self.in_flight, named_by_head(&config, &read))
                    {
                        it.known(who.owner());
                    }
                    *head = Some(Box::new(read));
                }
            }
            Request::RequestBody(chunk) => {
                self.request_chunk(&chunk.body);
                if chunk.end_of_stream {
                    self.request_ended().await;
                }
            }
            Request::RequestTrailers(_) => self.request_ended().await,
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
            State::Request { .. } | State::Asked(_) | State::Reply { .. } => Step::Wait,
        }
    }

    fn request_chunk(&mut self, chunk: &[u8]) {
        // Envoy may repeat the end; what comes after it is nobody's.
        let State::Request { body, .. } = &mut self.state else { return };
        let max = self.parts.config.get().memory.max_body_bytes;
        if body.len() + chunk.len() > max {
            return self.give_up(CaptureDrop::TooLarge);
        }
        if !self.share.grow(chunk.len()) {
            return self.give_up(CaptureDrop::OverBudget);
        }
        body.extend_from_slice(chunk);
    }

    /// Reads the request and frees its body while the model works. If memgate does not learn from
    /// the exchange, the reply is not collected.
    async fn request_ended(&mut self) {
        let (head, body) = match std::mem::replace(&mut self.state, State::GivenUp) {
            State::Request { head: Some(head), body } => (head, body),
            State::Request { head: None, .. } => return,
            // Said before.
            later => {
                self.state = later;
                return;
            }
        };
        let Some(dialect) = head.dialect() else { return };
        let config = self.parts.config.get();
        let read = read(&self.parts, PanicIn::Capture, &config, dialect, &head, body, judge).await;
        let Ok(Some((ask, admitted))) = read else { return };
        let asked = Asked {
            dialect,
            ask,
            admitted,
            session_header: head.headers().text("x-session-id").map(str::to_owned),
            request_id: head.request_id().map(str::to_owned),
            began: self.began,
        };
        match &self.in_flight {
            Some(in_flight) => {
                in_flight.known(asked.admitted.identity.owner());
                in_flight.talks_in(asked.session());
            }
            None => return self.give_up(CaptureDrop::Journal),
        }
        if !self.share.resize(asked.weight()) {
            return self.give_up(CaptureDrop::OverBudget);
        }
        self.state = State::Asked(Box::new(asked));
    }

    fn reply_begins(&mut self, response: &Headers) {
        let success = response.text(":status").is_some_and(|status| status.starts_with('2'));
        let asked = match std::mem::replace(&mut self.state, State::GivenUp) {
            State::Asked(asked) if success => asked,
            State::Asked(_) | State::Request { head: Some(_), .. } => {
                return self.give_up(CaptureDrop::Incomplete);
            }
            // A response by an earlier filter, or a request that memgate does not learn from.
            _ => return,
        };
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
        self.state = State::Reply { asked, reply };
    }

    fn reply_chunk(&mut self, chunk: &[u8]) {
        let State::Reply { asked, reply } = &mut self.state else { return };
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
        if !self.share.resize(asked.weight() + held) {
            self.give_up(CaptureDrop::OverBudget);
        }
    }

    fn reply_ended(&mut self) {
        self.state = match std::mem::replace(&mut self.state, State::GivenUp) {
            State::Reply { asked, reply } => State::Complete { asked, reply },
            // A reply that never began, or one that memgate does not learn from.
            _ => State::GivenUp,
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
        let large = reply.is_work() || asked.weight() > PARSED_INLINE;
        let ended = parts.clock.now();
        let read = move || reply.read(dialect, max).map(|reply| turn(*asked, reply, ended));
        let metrics = parts.metrics.clone();
        let read = move || metrics.catch(PanicIn::Capture, read).flatten();
        let read =
            if large { tokio::task::spawn_blocking(read).await.ok().flatten() } else { read() };
        drop(share);
        match (read, parts.memory.get(), in_flight) {
            (None, ..) => parts.metrics.dropped(CaptureDrop::Unreadable),
            (Some(None), ..) => parts.metrics.dropped(CaptureDrop::Incomplete),
            (Some(Some(turn)), Some(memory), Some(in_flight)) => {
                memory.capture.offer(turn, in_flight);
            }
            (Some(Some(_)), ..) => parts.metrics.dropped(CaptureDrop::Journal),
        }
    }
}

impl Incoming {
    /// Whether reading it takes longer than handing it over.
    fn is_work(&self) -> bool {
        match self {
            Self::Plain(collector) => collector.held_bytes() > PARSED_INLINE,
            Self::Encoded { .. } => true,
        }
    }

    fn read(self, dialect: Dialect, max: usize) -> Option<Reply> {
        let collector = match self {
            Self::Plain(collector) => collector,
            Self::Encoded { encoding, content_type, bytes } => {
                let plain = memgate_dialect::decode_body(&encoding, &bytes, max).ok()?;
                let mut collector = ReplyCollector::new(dialect, content_type.as_deref(), max);
                collector.push(&plain);
                collector
            }
        };
        collector.finish().ok()
    }
}

impl Asked {
    fn session(&self) -> SessionKey {
        let owner = self.admitted.identity.owner();
        SessionKey::of(self.session_header.as_deref(), &self.ask, owner)
    }

    /// About how much memory it takes, in bytes.
    fn weight(&self) -> usize {
        let Ask { user_text, first_user_text, instructions, tool_items, .. } = &self.ask;
        let before = self.ask.history.iter().map(|said| &said.text);
        let texts = [user_text, first_user_text, instructions].into_iter().flatten().chain(before);
        let tools = tool_items.iter().map(|item| {
            item.name.len() + item.input.len() + item.output.as_ref().map_or(0, String::len)
        });
        texts.map(String::len).chain(tools).sum()
    }
}

/// The part of a request that capture keeps; `None` if memgate may not learn from it.
fn judge(read: ReadRequest) -> Option<(Ask, Admitted)> {
    let Admission::Admitted(admitted) = read.admission else { return None };
    let ask = read.request.ask();
    // A user who opts out of learning can still ask to forget.
    let text = ask.user_text.as_deref().unwrap_or_default();
    let counts = admitted.learn || !Commands::of(text).forget.is_empty();
    // Earlier messages were captured with their own exchanges; the last of them shows where this one belongs.
    let before = ask.history.iter().rfind(|said| said.role == Role::User).cloned();
    let history = before.filter(|said| said.text.len() <= MAX_BEFORE_BYTES).into_iter().collect();
    counts.then(|| (Ask { history, ..ask.clone() }, *admitted))
}

fn turn(asked: Asked, reply: Reply, ended: Timestamp) -> Option<FinishedTurn> {
    let Asked { ask, admitted, session_header, request_id, began, .. } = asked;
    let circumstances = Circumstances {
        owner: admitted.identity.owner().clone(),
        project_id: admitted.project_id,
        agent_id: admitted.agent_id,
        session_header,
        request_id,
        began,
        ended,
        zone: admitted.zone,
        ends_session: admitted.ends_session,
        learn: admitted.learn,
    };
    FinishedTurn::new(&ask, reply, circumstances)
}
