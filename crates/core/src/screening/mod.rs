//! Removes secrets from texts before they are written. Every path into memory calls [`screen`]:
//! capture before its journal, the REST API and the command line before the store.
//!
//! A pure function on text. It reports only the kind of a removed secret, never the secret.
//!
//! Only the secret is removed: "my key is [removed: token], why does the call fail?" is still worth
//! remembering. Only high-confidence patterns are used; merely private information is out of scope.

mod card;
mod credential;
mod invisible;
mod token;

use std::{borrow::Cow, ops::Range};

use regex::Regex;

/// Maximum size of a stored message, in bytes of UTF-8. About 10,000 words: more than anyone types,
/// less than a pasted log.
pub const MAX_MESSAGE_BYTES: usize = 64 * 1024;

/// Maximum size of a stored tool input or output, in bytes of UTF-8.
pub const MAX_TOOL_BYTES: usize = 16 * 1024;

/// Kind of a removed secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Secret {
    /// A private key in PEM or OpenSSH armour.
    PrivateKey,
    /// An access token in a well-known format.
    Token,
    /// A payment card number.
    Card,
    /// A value after a label such as "password:".
    Credential,
}

impl Secret {
    /// The name used in metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PrivateKey => "private_key",
            Self::Token => "token",
            Self::Card => "card",
            Self::Credential => "credential",
        }
    }

    /// The text that replaces the secret.
    #[must_use]
    pub fn mark(self) -> &'static str {
        match self {
            Self::PrivateKey => "[removed: private key]",
            Self::Token => "[removed: token]",
            Self::Card => "[removed: card number]",
            Self::Credential => "[removed: credential]",
        }
    }
}

/// The result of screening.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screened {
    /// The remaining text.
    pub text: String,
    /// The kinds of the removed secrets, one entry each.
    pub removed: Vec<Secret>,
    /// Whether the end was cut off because the text was too long.
    pub clipped: bool,
}

/// A range of the text that holds a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    span: Range<usize>,
    secret: Secret,
}

/// Removes secrets from `text` and truncates it to `max_bytes`.
#[must_use]
pub fn screen(text: &str, max_bytes: usize) -> Screened {
    let (head, clipped) = clip(text, max_bytes);
    // Done first, because an invisible character inside a secret would hide it.
    let visible = invisible::strip(head);
    let mut findings = token::find(&visible);
    findings.extend(card::find(&visible));
    findings.extend(credential::find(&visible));
    let (text, removed) = redact(visible, findings);
    Screened { text, removed, clipped }
}

/// The head of a text. It is cut at white space, so that no half of a secret stays that its pattern
/// would no longer match.
fn clip(text: &str, max_bytes: usize) -> (&str, bool) {
    if text.len() <= max_bytes {
        return (text, false);
    }
    let head = &text[..text.floor_char_boundary(max_bytes)];
    // Text without white space near the cut (Chinese, base64) is cut anywhere.
    let from = head.floor_char_boundary(head.len().saturating_sub(512));
    let end = head[from..].rfind(char::is_whitespace).map_or(head.len(), |at| from + at);
    (&head[..end], true)
}

fn redact(text: Cow<'_, str>, mut findings: Vec<Finding>) -> (String, Vec<Secret>) {
    if findings.is_empty() {
        return (text.into_owned(), Vec::new());
    }
    findings.sort_by_key(|f| (f.span.start, usize::MAX - f.span.end));
    let mut out = String::with_capacity(text.len());
    let mut removed = Vec::new();
    let mut done = 0;
    for Finding { span, secret } in findings {
        if span.end <= done {
            continue; // inside one already removed
        }
        if span.start >= done {
            out.push_str(&text[done..span.start]);
            out.push_str(secret.mark());
            removed.push(secret);
        }
        done = span.end;
    }
    out.push_str(&text[done..]);
    (out, removed)
}

/// One of this module's constant patterns.
#[expect(
    clippy::expect_used,
    reason = "constant; every test here compiles them all, and to screen without one would be worse"
)]
fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("a screening pattern does not compile")
}

#[cfg(test)]
mod tests;
