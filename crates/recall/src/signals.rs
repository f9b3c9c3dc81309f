//! Signals of earlier filters about the ask, by header or by dynamic metadata.

use serde_json::Value;

/// Earlier signals; `None` where nobody said anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    /// A question about the world.
    pub fact: Option<bool>,
    /// A tool will answer.
    pub tool: Option<bool>,
    /// A greeting.
    pub greeting: Option<bool>,
    /// The user speaks of themselves.
    pub personal: Option<bool>,
}

impl Earlier {
    /// Nobody said anything.
    pub const SILENT: Self = Self { fact: None, tool: None, greeting: None, personal: None };

    /// Reads the signals through `header` (a signal's header value) and
    /// the metadata object of the configured namespace. Metadata wins: only
    /// Envoy's own filters can write it.
    #[must_use]
    pub fn read<'a>(header: impl Fn(Name) -> Option<&'a [u8]>, metadata: Option<&Value>) -> Self {
        let signal = |name: Name| {
            metadata
                .and_then(|object| object.get(name.as_str()))
                .and_then(flag)
                .or_else(|| header(name).and_then(|v| std::str::from_utf8(v).ok()).and_then(word))
        };
        Self {
            fact: signal(Name::Fact),
            tool: signal(Name::Tool),
            greeting: signal(Name::Greeting),
            personal: signal(Name::Personal),
        }
    }
}

/// The signals that others can send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Name {
    /// `fact`
    Fact,
    /// `tool`
    Tool,
    /// `greeting`
    Greeting,
    /// `personal`
    Personal,
}

impl Name {
    /// The member of the metadata object.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

fn flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => number.as_f64().map(|n| n >= 0.5),
        Value::String(text) => word(text),
        _ => None,
    }
}

/// A word of consent or denial; anything else is silence, not an error: a
/// foreign filter's mistake must not cost the request its memory.
fn word(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" => Some(true),
        "false" | "0" | "no" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_wins_over_headers_and_nonsense_is_silence() {
        let metadata = serde_json::json!({"fact": false, "tool": 1.0, "greeting": "perhaps"});
        let header = |name| match name {
            Name::Fact => Some(&b"true"[..]),
            Name::Tool => None,
            Name::Greeting => Some(&b"YES"[..]),
            Name::Personal => None,
        };
        let earlier = Earlier::read(header, Some(&metadata));
        assert_eq!(
            earlier,
            Earlier { fact: Some(false), tool: Some(true), greeting: Some(true), personal: None }
        );
        assert_eq!(Earlier::read(|_| Some(&b"\xff"[..]), None), Earlier::default());
    }
}
