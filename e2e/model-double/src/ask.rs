//! Reads a request: which dialect, streamed or not, what it says. Lenient: a double that refuses odd requests
//! would hide what they look like.

use std::io::Read as _;

use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use serde_json::Value;

/// The two wire formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Chat,
    Responses,
}

impl Dialect {
    /// By the end of the path; what stands before `/v1` does not matter.
    pub(crate) fn of(path: &str) -> Option<Self> {
        if path.ends_with("/v1/chat/completions") {
            Some(Self::Chat)
        } else if path.ends_with("/v1/responses") {
            Some(Self::Responses)
        } else {
            None
        }
    }
}

/// The parts of a request that the double reads.
#[derive(Debug)]
pub(crate) struct Ask {
    pub dialect: Dialect,
    pub body: Value,
}

impl Ask {
    /// Reads the body; gzip and deflate are undone first.
    ///
    /// # Errors
    /// One sentence saying why the body is no JSON object.
    pub(crate) fn read(dialect: Dialect, headers: &HeaderMap, body: &[u8]) -> Result<Self, String> {
        let plain = match headers.get(CONTENT_ENCODING).map(|value| value.as_bytes()) {
            Some(b"gzip") => inflate(flate2::read::GzDecoder::new(body))?,
            Some(b"deflate") => inflate(flate2::read::ZlibDecoder::new(body))?,
            _ => body.to_vec(),
        };
        let body: Value = serde_json::from_slice(&with_whole_pairs(plain))
            .map_err(|error| format!("the body is no JSON: {error}"))?;
        if body.is_object() {
            Ok(Self { dialect, body })
        } else {
            Err("the body is no JSON object".to_owned())
        }
    }

    pub(crate) fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or("echo")
    }

    pub(crate) fn streamed(&self) -> bool {
        self.body["stream"].as_bool().unwrap_or(false)
    }

    /// How many choices Chat asks for; bounded, as real servers do.
    pub(crate) fn choices(&self) -> u64 {
        self.body["n"].as_u64().unwrap_or(1).clamp(1, 16)
    }

    /// Chat: whether a stream ends with a usage chunk.
    pub(crate) fn include_usage(&self) -> bool {
        self.body["stream_options"]["include_usage"].as_bool().unwrap_or(false)
    }

    /// The name of the first function the request offers.
    pub(crate) fn first_tool(&self) -> Option<&str> {
        let tool = self.body["tools"].get(0)?;
        tool["function"]["name"].as_str().or_else(|| tool["name"].as_str())
    }

    /// All the request says, one block a message, readable: `[user] …`. Instructions come first.
    pub(crate) fn dump(&self) -> String {
        let mut out = String::new();
        if let Some(instructions) = self.body["instructions"].as_str() {
            block(&mut out, "instructions", instructions);
        }
        let items = match self.dialect {
            Dialect::Chat => &self.body["messages"],
            Dialect::Responses => &self.body["input"],
        };
        match items {
            Value::String(text) => block(&mut out, "user", text),
            Value::Array(items) => items.iter().for_each(|item| dump_item(&mut out, item)),
            _ => {}
        }
        out
    }
}

/// Undoes a compression, at most as far as a body may be long.
fn inflate(reader: impl std::io::Read) -> Result<Vec<u8>, String> {
    let mut plain = Vec::new();
    reader
        .take(crate::MAX_BODY_BYTES as u64)
        .read_to_end(&mut plain)
        .map_err(|error| format!("the compressed body cannot be read: {error}"))?;
    Ok(plain)
}

/// The body with U+FFFD for each escaped half of a surrogate pair: clients that cut a text within an emoji send one, and
/// `serde_json` refuses it.
fn with_whole_pairs(mut body: Vec<u8>) -> Vec<u8> {
    let mut at = 0;
    while at < body.len() {
        at += match escaped_unit(&body, at) {
            Some(0xD800..=0xDBFF)
                if matches!(escaped_unit(&body, at + 6), Some(0xDC00..=0xDFFF)) =>
            {
                12
            }
            Some(0xD800..=0xDFFF) => {
                body[at + 2..at + 6].copy_from_slice(b"fffd");
                6
            }
            Some(_) => 6,
            None if body[at] == b'\\' => 2,
            None => 1,
        };
    }
    body
}

/// The UTF-16 code unit that is escaped at this place: `\u` and four digits.
fn escaped_unit(body: &[u8], at: usize) -> Option<u16> {
    let digits = body.get(at..at + 6)?.strip_prefix(br"\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn block(out: &mut String, role: &str, text: &str) {
    let gap = if out.is_empty() { "" } else { "\n\n" };
    *out += &format!("{gap}[{role}] {text}");
}

fn dump_item(out: &mut String, item: &Value) {
    let role = item["role"].as_str().or_else(|| item["type"].as_str()).unwrap_or("?");
    let mut text = match &item["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(part_text).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    };
    // Tool calls and results: Chat has them beside the content, Responses as items of their own.
    for field in ["tool_calls", "name", "arguments", "output"] {
        match &item[field] {
            Value::Null => {}
            Value::String(value) => text += &format!(" {field}={value}"),
            value => text += &format!(" {field}={value}"),
        }
    }
    block(out, role, text.trim_start());
}

/// A part's text, or its type where it is an image, a file, a sound.
fn part_text(part: &Value) -> String {
    match part["text"].as_str() {
        Some(text) => text.to_owned(),
        None => format!("<{}>", part["type"].as_str().unwrap_or("part")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn dump(dialect: Dialect, body: Value) -> String {
        Ask { dialect, body }.dump()
    }

    #[test]
    fn a_chat_is_dumped_message_by_message() {
        let body = json!({"messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": [{"type": "text", "text": "what is this?"}, {"type": "image_url"}]},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "c1"}]},
        ]});
        assert_eq!(
            dump(Dialect::Chat, body),
            "[system] be brief\n\n[user] what is this?\n<image_url>\n\n[assistant] tool_calls=[{\"id\":\"c1\"}]"
        );
    }

    #[test]
    fn responses_input_is_a_string_or_items() {
        let body = json!({"instructions": "be brief", "input": "hello"});
        assert_eq!(dump(Dialect::Responses, body), "[instructions] be brief\n\n[user] hello");
        let body =
            json!({"input": [{"type": "function_call_output", "call_id": "c", "output": "21 C"}]});
        assert_eq!(dump(Dialect::Responses, body), "[function_call_output] output=21 C");
    }

    #[test]
    fn a_gzipped_body_is_read() {
        use std::io::Write as _;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(br#"{"model":"m"}"#).unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_ENCODING, "gzip".parse().unwrap());
        let ask = Ask::read(Dialect::Chat, &headers, &encoder.finish().unwrap()).unwrap();
        assert_eq!(ask.model(), "m");
    }

    #[test]
    fn half_of_an_emoji_is_read() {
        let body = br#"{"a":"\ud83e","b":"\ude01 \\ud83e","c":"\ud83d\ude01\u00fc"}"#;
        let ask = Ask::read(Dialect::Chat, &HeaderMap::new(), body).unwrap();
        assert_eq!(ask.body, json!({"a": "\u{fffd}", "b": "\u{fffd} \\ud83e", "c": "😁ü"}));
    }

    #[test]
    fn any_prefix_may_stand_before_v1() {
        assert_eq!(Dialect::of("/a/b/v1/chat/completions"), Some(Dialect::Chat));
        assert_eq!(Dialect::of("/v1/responses"), Some(Dialect::Responses));
        assert_eq!(Dialect::of("/v1/responses/resp_1"), None);
    }
}
