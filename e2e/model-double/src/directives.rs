//! How a request tells the double to misbehave: its header `x-double`, directives separated by commas.
//! An unknown directive is an error, so that a misspelt one does not pass for good behaviour.

use std::time::Duration;

/// The directives of the request's `x-double` header.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Directives {
    /// `status=503`: answer with this status and an error body.
    pub status: Option<u16>,
    /// `first_token_ms=50`: wait before the first byte of the body.
    pub first_token: Duration,
    /// `gap_ms=10`: wait between events of a stream.
    pub gap: Duration,
    /// `chunks=50`: cut the text into this many deltas (at most one a character).
    pub chunks: Option<usize>,
    /// `reply_bytes=700000`: repeat the text until it has this many bytes.
    pub reply_bytes: Option<usize>,
    /// `cut_after=3`: break the connection after this many events (of a whole body: bytes).
    pub cut_after: Option<usize>,
    /// `split`: cut the stream at odd places, each piece a write of its own.
    pub split: bool,
    /// `crlf`: end the lines of a stream with CR LF.
    pub crlf: bool,
    /// `comments`: put comment lines (keep-alives) between events.
    pub comments: bool,
    /// `multiline`: spread the data of an event over several `data:` lines.
    pub multiline: bool,
    /// `gzip`: compress the reply, asked for or not.
    pub gzip: bool,
    /// `no_done`: leave `[DONE]` out.
    pub no_done: bool,
    /// `reason=eos`: a Chat reply ends with this `finish_reason`, with null if `reason=null`.
    pub reason: Option<String>,
    /// `garbage`: something that is no JSON in the middle of a stream, or as the body.
    pub garbage: bool,
    /// `hang`: take the request and never answer.
    pub hang: bool,
    /// `spoof`: claim a decision of the gateway in a response header.
    pub spoof: bool,
    /// How the reply itself differs from a plain text.
    pub kind: Kind,
}

/// `tool_calls`, `refusal`, `length` (or `incomplete`), `failed`; a plain text otherwise.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    #[default]
    Text,
    /// One call of the first function the request offers.
    ToolCalls,
    Refusal,
    /// The text stops in its middle: `finish_reason` length, `response.incomplete`.
    Length,
    /// The model server gives up: an error event in Chat, `response.failed` in Responses.
    Failed,
}

impl Directives {
    /// Reads the header's text.
    ///
    /// # Errors
    /// One sentence that names the directive.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut it = Self::default();
        for directive in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
            let number = || {
                value
                    .parse::<u32>()
                    .map_err(|_| format!("x-double: {name} needs a number, as in {name}=5"))
            };
            let count = || number().map(|n| n as usize);
            let millis = || number().map(|ms| Duration::from_millis(ms.into()));
            match name {
                "status" => {
                    it.status =
                        Some(number()?.try_into().map_err(|_| "x-double: status is too large")?)
                }
                "first_token_ms" => it.first_token = millis()?,
                "gap_ms" => it.gap = millis()?,
                "chunks" => it.chunks = Some(count()?),
                "reply_bytes" => it.reply_bytes = Some(count()?),
                "cut_after" => it.cut_after = Some(count()?),
                "split" => it.split = true,
                "crlf" => it.crlf = true,
                "comments" => it.comments = true,
                "multiline" => it.multiline = true,
                "gzip" => it.gzip = true,
                "no_done" => it.no_done = true,
                "reason" => it.reason = Some(value.to_owned()),
                "garbage" => it.garbage = true,
                "hang" => it.hang = true,
                "spoof" => it.spoof = true,
                "tool_calls" => it.kind = Kind::ToolCalls,
                "refusal" => it.kind = Kind::Refusal,
                "length" | "incomplete" => it.kind = Kind::Length,
                "failed" => it.kind = Kind::Failed,
                _ => return Err(format!("x-double: there is no directive `{name}`")),
            }
        }
        Ok(it)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_read_with_their_values() {
        let expected = Directives {
            status: Some(503),
            gap: Duration::from_millis(10),
            split: true,
            kind: Kind::Refusal,
            ..Directives::default()
        };
        assert_eq!(Directives::parse("status=503, gap_ms=10,split,refusal"), Ok(expected));
    }

    #[test]
    fn no_header_means_good_behaviour() {
        assert_eq!(Directives::parse(""), Ok(Directives::default()));
    }

    #[test]
    fn a_misspelt_directive_or_a_missing_number_is_named() {
        assert!(Directives::parse("splitt").is_err_and(|error| error.contains("`splitt`")));
        assert!(Directives::parse("chunks").is_err_and(|error| error.contains("chunks=5")));
    }
}
