//! The reply of the double, before any wire format: a text, calls of functions, a refusal.

use serde_json::{Value, json};

use crate::ask::Ask;
use crate::directives::{Directives, Kind};
use crate::script::ToolCall;

/// A reply of the model that is not one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reply {
    pub said: Said,
    pub end: End,
    /// The `finish_reason` in place of the true one.
    pub reason: Option<Value>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Said {
    /// The text, in the pieces in which it is streamed.
    Text(Vec<String>),
    Refusal(String),
    ToolCalls(Vec<ToolCall>),
}

/// How the model came to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Stop,
    /// The token limit was reached.
    Length,
    /// The server gave up.
    Failed,
}

fn reason(directives: &Directives) -> Option<Value> {
    directives.reason.as_deref().map(|reason| match reason {
        "null" => Value::Null,
        text => text.into(),
    })
}

/// The text is cut into this many deltas unless `chunks=` says otherwise.
const DEFAULT_CHUNKS: usize = 5;

impl Reply {
    /// The reply to `ask`, where no script says otherwise: the request itself, told back.
    pub(crate) fn echo(ask: &Ask, directives: &Directives) -> Self {
        let said = match directives.kind {
            Kind::Refusal => Said::Refusal("I cannot help with that.".to_owned()),
            Kind::ToolCalls => Said::ToolCalls(vec![ToolCall {
                name: ask.first_tool().unwrap_or("get_weather").to_owned(),
                arguments: json!({"place": "Oslo"}),
            }]),
            Kind::Text | Kind::Length | Kind::Failed => {
                return Self::text(&format!("I was sent:\n\n{}", ask.dump()), directives);
            }
        };
        Self { said, end: End::Stop, reason: reason(directives) }
    }

    /// `text` as the reply, as long and in as many pieces as `directives` want.
    pub(crate) fn text(text: &str, directives: &Directives) -> Self {
        let mut text = text.to_owned();
        if let Some(bytes) = directives.reply_bytes.filter(|_| !text.is_empty()) {
            text = text.repeat(bytes.div_ceil(text.len()));
            text.truncate(text.floor_char_boundary(bytes));
        }
        let end = match directives.kind {
            Kind::Length => End::Length,
            Kind::Failed => End::Failed,
            Kind::Text | Kind::ToolCalls | Kind::Refusal => End::Stop,
        };
        if end != End::Stop {
            text.truncate(text.floor_char_boundary(text.len() / 2));
        }
        let said = Said::Text(pieces(&text, directives.chunks.unwrap_or(DEFAULT_CHUNKS)));
        Self { said, end, reason: reason(directives) }
    }

    /// The text of choice `index`; the choices of one reply differ, so that a reader can tell which was taken.
    pub(crate) fn for_choice(&self, index: u64) -> Said {
        match &self.said {
            Said::Text(pieces) if index > 0 => {
                let mut pieces = pieces.clone();
                pieces.insert(0, format!("[choice {index}] "));
                Said::Text(pieces)
            }
            said => said.clone(),
        }
    }

    /// A count of words stands in for tokens.
    pub(crate) fn tokens(&self) -> u64 {
        let words = |text: &str| text.split_whitespace().count() as u64;
        match &self.said {
            Said::Text(pieces) => words(&pieces.concat()),
            Said::Refusal(text) => words(text),
            Said::ToolCalls(calls) => calls.iter().map(|call| words(&call.arguments_text())).sum(),
        }
    }
}

/// Cuts `text` into about `count` pieces of equal length, never within a character.
fn pieces(text: &str, count: usize) -> Vec<String> {
    let length = text.len().div_ceil(count.max(1)).max(1);
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(length));
        pieces.push(piece.to_owned());
        rest = after;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_lose_nothing_and_cut_no_character() {
        let text = "naïve 🌴 café";
        for count in 0..20 {
            assert_eq!(pieces(text, count).concat(), text);
        }
        assert_eq!(pieces("abcd", 2), ["ab", "cd"]);
        assert!(pieces("", 3).is_empty());
    }

    #[test]
    fn a_reply_that_hits_the_limit_stops_in_its_middle() {
        let directives = Directives { kind: Kind::Length, ..Directives::default() };
        let reply = Reply::text("0123456789", &directives);
        assert_eq!(reply.end, End::Length);
        assert_eq!(reply.said, Said::Text("01234".chars().map(String::from).collect()));
    }

    #[test]
    fn a_reply_can_be_made_as_long_as_wanted() {
        let directives =
            Directives { reply_bytes: Some(1000), chunks: Some(3), ..Directives::default() };
        let Said::Text(pieces) = Reply::text("abc ", &directives).said else {
            unreachable!("a text was asked for");
        };
        assert_eq!(pieces.concat().len(), 1000);
        assert_eq!(pieces.len(), 3);
    }
}
