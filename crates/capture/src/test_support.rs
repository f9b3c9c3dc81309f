//! Turns, owners and times that capture's tests share.
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp, tz::TimeZone};

use crate::{
    settings::{SessionRules, Settings},
    turn::{Circumstances, FinishedTurn, StoredTurn},
};
use memgate_core::memory::Owner;
use memgate_dialect::{Ask, Dialect, Ending, Reply, Role, ToolItem, Utterance};
use memgate_embed::llm::Helper;

pub(super) fn owner(user: &str) -> Owner {
    Owner::of_user(user).unwrap()
}

/// A time, some seconds after a fixed one.
pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000).unwrap() + SignedDuration::from_secs(seconds)
}

/// Settings that store turns, and extract with this model.
pub(super) fn settings(extractor: Option<Helper>) -> Settings {
    Settings {
        extractor: extractor.map(Arc::new),
        extract_every: 2,
        sessions: SessionRules { summaries: false, ..SessionRules::default() },
        ..Settings::default()
    }
}

/// An exchange to be, told step by step.
#[derive(Clone)]
pub(super) struct Said {
    pub(super) ask: Ask,
    pub(super) reply: Reply,
    pub(super) of: Circumstances,
}

/// The user says something as the nth message of a conversation that began with "first".
pub(super) fn said(user: &str, ordinal: u32, text: &str) -> Said {
    Said {
        ask: Ask {
            user_text: Some(text.into()),
            user_ordinal: ordinal,
            first_user_text: Some("first".into()),
            ..Ask::default()
        },
        reply: Reply {
            response_id: None,
            model: Some("m".into()),
            text: "All right, I have written that down.".into(),
            refusal: None,
            tool_calls: Vec::new(),
            outcome: Ending::Complete,
            usage: None,
            items: Vec::new(),
        },
        of: Circumstances {
            owner: owner(user),
            project_id: None,
            agent_id: None,
            session_header: None,
            request_id: None,
            began: at(0),
            ended: at(1),
            zone: TimeZone::UTC,
            ends_session: false,
            learn: true,
        },
    }
}

/// A request of Alice's in this dialect, with a whole conversation: her messages and the answers in turn.
pub(super) fn talk(dialect: Dialect, messages: &[&str]) -> Said {
    let of = |(at, text): (usize, &&str)| {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        serde_json::json!({"role": role, "content": text})
    };
    let list = match dialect {
        Dialect::Chat => "messages",
        Dialect::Responses => "input",
    };
    let messages: Vec<_> = messages.iter().enumerate().map(of).collect();
    let body = serde_json::json!({"model": "m", (list): messages}).to_string();
    let ask = memgate_dialect::read(dialect, body.as_bytes()).unwrap().ask().clone();
    Said { ask, ..said("alice", 1, "") }
}

impl Said {
    pub(super) fn reply(mut self, text: &str) -> Self {
        self.reply.text = text.into();
        self
    }

    /// After this message of the user.
    pub(super) fn before(mut self, text: Option<&str>) -> Self {
        self.ask.history_digest = text.map(str::to_owned);
        let said = text.map(|text| Utterance { role: Role::User, text: text.into() });
        self.ask.history = said.into_iter().collect();
        self
    }

    pub(super) fn session(mut self, id: &str) -> Self {
        self.of.session_header = Some(id.into());
        self
    }

    pub(super) fn ends_session(mut self) -> Self {
        self.of.ends_session = true;
        self
    }

    pub(super) fn project(mut self, id: &str) -> Self {
        self.of.project_id = Some(id.into());
        self
    }

    pub(super) fn response(mut self, id: &str) -> Self {
        self.reply.response_id = Some(id.into());
        self
    }

    pub(super) fn after(mut self, response: &str) -> Self {
        self.ask.previous_response_id = Some(response.into());
        self.ask.user_ordinal = 1;
        self
    }

    /// The reply calls a tool and leaves the turn open.
    pub(super) fn calls(mut self, call: &str) -> Self {
        self.reply.tool_calls.push(tool(call, None));
        self.reply.text.clear();
        self.reply.outcome = Ending::ToolCalls;
        self
    }

    /// The request brings a tool's result.
    pub(super) fn result(mut self, call: &str, output: &str) -> Self {
        self.ask.tool_items.push(tool(call, Some(output)));
        self.ask.in_tool_loop = true;
        self
    }

    /// The request has no user message of its own.
    pub(super) fn only_results(mut self) -> Self {
        self.ask.user_text = None;
        self
    }

    pub(super) fn at(mut self, seconds: i64) -> Self {
        (self.of.began, self.of.ended) = (at(seconds), at(seconds + 1));
        self
    }

    pub(super) fn turn(self) -> FinishedTurn {
        FinishedTurn::new(&self.ask, self.reply, self.of).unwrap()
    }
}

/// A turn of the journal, with this key.
pub(super) fn stored_turn(key: &str, user: &str, reply: &str) -> StoredTurn {
    StoredTurn {
        key: key.into(),
        owner: owner("alice"),
        session: "s".into(),
        project: None,
        agent: None,
        user_text: user.into(),
        reply_text: reply.into(),
        began: "2026-02-09T10:00:00Z".parse().unwrap(),
        request_id: None,
        speaker: None,
        zone: TimeZone::UTC,
        is_prompt: None,
    }
}

pub(super) fn tool(call: &str, output: Option<&str>) -> ToolItem {
    ToolItem {
        call_id: call.into(),
        name: "search".into(),
        input: "{}".into(),
        output: output.map(str::to_owned),
        is_error: None,
    }
}

/// The embedder that memgate serves with; `cargo xtask assets` fetches its files.
pub(super) fn default_embedder() -> std::sync::Arc<memgate_embed::onnx::OnnxEmbedder> {
    use std::{num::NonZeroUsize, path::Path};

    use memgate_embed::{
        Pooling, Precision, Run, Space,
        onnx::{OnnxEmbedder, OnnxSettings},
    };
    let here = |path: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    let model = "multilingual-e5-small-memgate-1";
    let settings = OnnxSettings {
        runtime: here(".assets/onnxruntime/libonnxruntime.so.1.31.1"),
        folder: here(".assets/models").join(model),
        space: Space {
            model: model.to_owned(),
            dimension: 384,
            run: Run::Here { pooling: Pooling::Mean, precision: Precision::Int8 },
            query_prefix: "query: ".into(),
            passage_prefix: "passage: ".into(),
        },
        threads: NonZeroUsize::MIN,
    };
    std::sync::Arc::new(OnnxEmbedder::load(&settings).unwrap())
}
