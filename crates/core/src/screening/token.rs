//! Detects private keys in armour, and access tokens with a recognisable format.

use std::sync::LazyLock;

use regex::Regex;

use crate::screening::{Finding, Secret, pattern};

/// Armour from BEGIN to END; without an END, the lines of base64 after BEGIN.
static PRIVATE_KEY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
        r"(?:.*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
        r"|(?:(?:\\[nr]|\s)*[A-Za-z0-9+/=]{32,})*(?:(?:\\[nr]|\s)*[A-Za-z0-9+/]*={1,2})?)",
    ))
});

/// Formats that their prefix alone identifies.
static PREFIXED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(?:",
        r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}",
        r"|(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
        r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}",
        r"|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}",
        r"|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9]{16,}",
        r"|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9]{20,}",
        r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|dop_v1_[a-f0-9]{32,}",
        r"|AGE-SECRET-KEY-1[A-Z0-9]{20,}|[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}",
        // A JSON web token: two base64url objects and a signature, which may be empty.
        r"|eyJ[A-Za-z0-9_-]{6,}\.eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*",
        r")",
    ))
});

/// Formats that ordinary words can match: they must contain a digit.
static LOOSE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\bsk-[A-Za-z0-9_-]{16,}",
        r"|(?i:\b(?:bearer|basic|token)\s+)([A-Za-z0-9._~+/-]{16,}={0,2})",
    ))
});

pub(super) fn find(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut take = |span, secret| found.push(Finding { span, secret });
    PRIVATE_KEY.find_iter(text).for_each(|m| take(m.range(), Secret::PrivateKey));
    PREFIXED.find_iter(text).for_each(|m| take(m.range(), Secret::Token));
    LOOSE
        .captures_iter(text)
        .filter_map(|c| c.get(1).or_else(|| c.get(0)))
        .filter(|m| m.as_str().bytes().any(|b| b.is_ascii_digit()))
        .for_each(|m| take(m.range(), Secret::Token));
    found
}
