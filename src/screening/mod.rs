//! What must never be kept, taken out of a text before anything is written.
//! Every way into memory passes [`screen`]: capture before its journal, the
//! REST API and the command line before the store.
//!
//! A pure function on text. It knows no user, no store and no journal, and it
//! must never say what it removed, only of which kind.
//!
//! The secret goes and the sentence stays: "my key is [removed: token], why
//! does the call fail?" is still worth remembering. Only patterns that are sure
//! act here; what merely looks private is not the business of this module.

mod card;
mod credential;
mod invisible;
mod token;

use std::{borrow::Cow, ops::Range};

use regex::Regex;

/// The longest text of one message that is kept, in bytes of UTF-8. About
/// 10,000 words: more than anyone types, less than a pasted log.
pub const MAX_MESSAGE_BYTES: usize = 64 * 1024;

/// The longest input or output of one tool call that is kept, in bytes of UTF-8.
pub const MAX_TOOL_BYTES: usize = 16 * 1024;

/// What kind of secret was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Secret {
    /// A private key in PEM or OpenSSH armour.
    PrivateKey,
    /// An access token in a well-known format.
    Token,
    /// A payment card number.
    Card,
    /// What stands behind a label such as "password:".
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

    /// What stands in the text where the secret was.
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

/// A text that may be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screened {
    /// What is left.
    pub text: String,
    /// The kinds of what was removed, one entry a secret.
    pub removed: Vec<Secret>,
    /// Whether the end was cut off because the text was too long.
    pub clipped: bool,
}

/// A stretch of a text that holds a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    span: Range<usize>,
    secret: Secret,
}

/// Takes out of `text` what must not be kept, and what lies beyond `max_bytes`.
#[must_use]
pub fn screen(text: &str, max_bytes: usize) -> Screened {
    let (head, clipped) = clip(text, max_bytes);
    // First, or an invisible character within a secret would hide it.
    let visible = invisible::strip(head);
    let mut findings = token::find(&visible);
    findings.extend(card::find(&visible));
    findings.extend(credential::find(&visible));
    let (text, removed) = redact(visible, findings);
    Screened { text, removed, clipped }
}

/// The head of a text. A cut goes back to white space, so that half a secret
/// is not left standing where its pattern no longer matches.
fn clip(text: &str, max_bytes: usize) -> (&str, bool) {
    if text.len() <= max_bytes {
        return (text, false);
    }
    let head = &text[..text.floor_char_boundary(max_bytes)];
    // A text without any white space near the cut (Chinese, base64) is cut hard.
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
