//! Scripted replies: which reply answers which request. The first rule whose `contains` stands anywhere in the
//! request's text answers it; with `times`, a rule is used up after that many requests.

use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use serde_json::Value;

/// One rule, as POSTed to `/_double/script` in a list.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Rule {
    /// Text that must stand in the request (messages, instructions, input, tool results); "" matches all.
    pub contains: String,
    /// How often the rule answers before it is used up; without it, for ever.
    pub times: Option<u64>,
    #[serde(flatten)]
    pub answer: Answer,
}

/// What a rule answers with.
#[derive(Debug, Clone, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// This text, as the assistant's message.
    Reply(String),
    /// Calls of these functions.
    ToolCalls(Vec<ToolCall>),
    /// This HTTP status, with an error in OpenAI's shape.
    Status(u16),
    /// This JSON as the whole body, status 200.
    Body(Value),
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

    /// The answer to a request that says `text`, using up one of the rule's times.
    pub(crate) fn answer(&self, text: &str) -> Option<Answer> {
        let mut rules = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rule =
            rules.iter_mut().find(|rule| rule.times != Some(0) && text.contains(&rule.contains))?;
        if let Some(times) = &mut rule.times {
            *times -= 1;
        }
        Some(rule.answer.clone())
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use serde_json::json;

    use super::*;

    fn script(rules: Value) -> Script {
        let script = Script::default();
        script.set(serde_json::from_value(rules).unwrap());
        script
    }

    #[test]
    fn the_first_rule_that_fits_answers() {
        let script =
            script(json!([{"contains": "b", "reply": "1"}, {"contains": "", "status": 503}]));
        assert_eq!(script.answer("abc"), Some(Answer::Reply("1".into())));
        assert_eq!(script.answer("xyz"), Some(Answer::Status(503)));
    }

    #[test]
    fn a_rule_with_times_is_used_up() {
        let script = script(
            json!([{"contains": "", "times": 1, "tool_calls": [{"name": "f", "arguments": {"a": 1}}]}]),
        );
        let Some(Answer::ToolCalls(calls)) = script.answer("x") else {
            unreachable!("the rule answers with a call");
        };
        assert_eq!(calls[0].arguments_text(), r#"{"a":1}"#);
        assert_eq!(script.answer("x"), None);
    }

    #[test]
    fn a_rule_without_an_answer_is_refused() {
        assert!(serde_json::from_value::<Rule>(json!({"contains": "x"})).is_err());
    }
}
