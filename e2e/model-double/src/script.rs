//! Scripted replies: which reply answers which request. The first rule whose `contains` stands anywhere in the
//! request's text (and whose `member` the request has) answers it, after `delay_ms`; with `times`, a rule is used up
//! after that many requests.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::embeddings::Oddity;

/// One rule, as POSTed to `/_double/script` in a list.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Rule {
    /// Text that must stand in the request (messages, instructions, input, tool results); "" matches all.
    pub contains: String,
    /// A member that the request's body must have, `response_format` for example.
    pub member: Option<String>,
    /// How long the double takes.
    #[serde(default)]
    pub delay_ms: u64,
    /// How often the rule answers before it is used up; without it, for ever.
    pub times: Option<u64>,
    #[serde(flatten)]
    pub answer: Answer,
}

/// The answer of a rule.
#[derive(Debug, Clone, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// This text, as the assistant's message.
    Reply(String),
    /// Calls of these functions.
    ToolCalls(Vec<ToolCall>),
    /// This HTTP status, with an error in OpenAI's shape.
    Status(u16),
    /// Status 429, to be asked again after so many seconds.
    Busy(u64),
    /// Embeddings, with what is wrong with them.
    Vectors(Oddity),
    /// This JSON as the whole body, status 200.
    Body(Value),
    /// This text as the whole body, status 200.
    Raw(String),
    /// This text as the whole body, cut into pieces.
    Pieces(Pieces),
    /// None at all, whatever the value.
    Hang(bool),
}

/// A body that is written in pieces, for streams that this double would not make by itself.
#[derive(Debug, Clone, Deserialize, PartialEq)]
pub(crate) struct Pieces {
    /// Its media type.
    #[serde(rename = "type")]
    pub media_type: String,
    pub text: String,
    /// The length of a piece, in bytes; a piece may end within a character.
    pub cut: usize,
}

/// A function the double "decides" to call.
#[derive(Debug, Clone, Deserialize, PartialEq)]
pub(crate) struct ToolCall {
    pub name: String,
    /// A JSON object, or the text to send as it is.
    pub arguments: Value,
}

impl ToolCall {
    /// The arguments as the wire carries them: JSON in a string.
    pub(crate) fn arguments_text(&self) -> String {
        match &self.arguments {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

#[derive(Default)]
pub(crate) struct Script(Mutex<Vec<Rule>>);

impl Script {
    /// Replaces all rules.
    pub(crate) fn set(&self, rules: Vec<Rule>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = rules;
    }

    /// The answer to a request with this body that says `text`, and how long it takes; uses up one of the rule's
    /// times.
    pub(crate) fn answer(&self, text: &str, body: &Value) -> Option<(Duration, Answer)> {
        let mut rules = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rule = rules.iter_mut().find(|rule| {
            rule.times != Some(0)
                && text.contains(&rule.contains)
                && rule.member.as_ref().is_none_or(|member| body.get(member).is_some())
        })?;
        if let Some(times) = &mut rule.times {
            *times -= 1;
        }
        Some((Duration::from_millis(rule.delay_ms), rule.answer.clone()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn script(rules: Value) -> Script {
        let script = Script::default();
        script.set(serde_json::from_value(rules).unwrap());
        script
    }

    fn answer(script: &Script, text: &str) -> Option<Answer> {
        script.answer(text, &json!({})).map(|(_, answer)| answer)
    }

    #[test]
    fn a_rule_may_want_a_member_and_take_its_time() {
        let script = script(json!([
            {"contains": "", "member": "response_format", "status": 400},
            {"contains": "", "delay_ms": 5, "hang": true},
        ]));
        let asked = script.answer("x", &json!({"response_format": {}}));
        assert_eq!(asked, Some((Duration::ZERO, Answer::Status(400))));
        let other = script.answer("x", &json!({"model": "m"}));
        assert_eq!(other, Some((Duration::from_millis(5), Answer::Hang(true))));
    }

    #[test]
    fn the_first_rule_that_fits_answers() {
        let script =
            script(json!([{"contains": "b", "reply": "1"}, {"contains": "", "status": 503}]));
        assert_eq!(answer(&script, "abc"), Some(Answer::Reply("1".into())));
        assert_eq!(answer(&script, "xyz"), Some(Answer::Status(503)));
    }

    #[test]
    fn a_rule_with_times_is_used_up() {
        let script = script(
            json!([{"contains": "", "times": 1, "tool_calls": [{"name": "f", "arguments": {"a": 1}}]}]),
        );
        let Some(Answer::ToolCalls(calls)) = answer(&script, "x") else {
            unreachable!("the rule answers with a call");
        };
        assert_eq!(calls[0].arguments_text(), r#"{"a":1}"#);
        assert_eq!(answer(&script, "x"), None);
    }

    #[test]
    fn a_rule_without_an_answer_is_refused() {
        assert!(serde_json::from_value::<Rule>(json!({"contains": "x"})).is_err());
    }
}
