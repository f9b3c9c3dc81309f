//! What capture's tests are made of.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use jiff::{SignedDuration, Timestamp};

use super::turn::{Circumstances, FinishedTurn};
use crate::{
    dialect::{Ask, Ending, Reply, ToolItem},
    memory::Owner,
};

pub(super) fn owner(user: &str) -> Owner {
    Owner::of_user(user).unwrap()
}

/// A time, so many seconds after a fixed one.
pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000).unwrap() + SignedDuration::from_secs(seconds)
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
            ends_session: false,
            learn: true,
        },
    }
}

impl Said {
    pub(super) fn reply(mut self, text: &str) -> Self {
        self.reply.text = text.into();
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

pub(super) fn tool(call: &str, output: Option<&str>) -> ToolItem {
    ToolItem {
        call_id: call.into(),
        name: "search".into(),
        input: "{}".into(),
        output: output.map(str::to_owned),
        is_error: None,
    }
}
