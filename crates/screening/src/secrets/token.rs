//! Detects private keys in armour, and access tokens with a recognisable format.

use std::sync::LazyLock;

use memgate_text::rules::pattern::Pattern;

use crate::{
    finding::{Finding, ascii_boundary, entropy, pattern},
    policy::Class,
};

/// Armour from BEGIN to END, without another armour between; without an END, the lines of base64 after BEGIN.
static PRIVATE_KEY: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        r"(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
        r"(?:(?:-{0,4}[^-])*?-{5,}END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
        r"|(?:(?:\\[nr]|\s)*[A-Za-z0-9+/=]{32,})*(?:(?:\\[nr]|\s)*[A-Za-z0-9+/]*={1,2})?)",
    ))
});

/// A PuTTY key file: the lines after its first.
static PUTTY: LazyLock<Pattern> =
    LazyLock::new(|| pattern(r"(?s)PuTTY-User-Key-File-\d.*?(?:Private-MAC: ?[0-9a-fA-F]+|$)"));

/// 64 hexadecimal digits after a word that says that they are a key: without it they may be a digest.
static HEX_KEY: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)(?:\b(?:private|secret|admin|master|encryption|privada|privado|privée?|privata|privat\w*|wallet|metamask|seed)\b|私钥|私鑰|秘密鍵|개인 ?키|приватн\w+)",
        r"[^\n]{0,80}?(?-u:\b)(?:0x)?([0-9a-f]{32,64})(?-u:\b)",
    ))
});

/// A bare run of 32 or 64 hexadecimal digits. Commits have 40.
static HEX: LazyLock<Pattern> =
    LazyLock::new(|| pattern(r"(?-u:\b)[0-9a-f]{32}(?:[0-9a-f]{32})?(?-u:\b)"));

/// Words for what such a run is, if it is no key.
static DIGEST: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"(?i)commit|sha-?\d|md5|checksum|digest|hash|etag|uuid|guid|prüfsumme|contrôle|校验|哈希|ハッシュ|해시|хеш|контрольн",
    )
});

/// A run of characters that may be a key.
static RUN: LazyLock<Pattern> = LazyLock::new(|| pattern(r"[A-Za-z0-9+/_.~-]{24,256}={0,2}"));

/// The least entropy of a run that is taken for a key, in bits a character. A random run of 24 characters of base64
/// has about 4.3; words joined by hyphens have below 3.9.
const KEY_ENTROPY: f64 = 4.0;

/// A word for a secret, or for the service that issues it.
static SECRET: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(r"(?i)secret|token|api|credential|webhook|密钥|密鑰|秘钥|トークン|토큰|токен|ключ|टोकन")
});

/// A word of [`SECRET`], or one for how a key is used.
static KEY: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)secret|token|\bapi|credential|webhook|密钥|密鑰|秘钥|トークン|토큰|токен|ключ|टोकन",
        r"|\b(?:keys?|admin|header|base64|auth\w*|signatures?)\b|헤더|ヘッダー",
    ))
});

/// Whether a run without a known format is random: letters of both cases with digits, and high entropy. Beside another
/// token or a word for secrets, one digit is enough: a key often comes with its secret.
fn is_random(run: &str, beside: bool) -> bool {
    let count = |kind: fn(&u8) -> bool| run.bytes().filter(&kind).count();
    let words = run.split(['/', '.', '_', '-']).map(str::len).max().unwrap_or_default();
    count(u8::is_ascii_lowercase) >= 2
        && count(u8::is_ascii_uppercase) >= 2
        && count(u8::is_ascii_digit) >= if beside { 1 } else { 2 }
        && words >= 10
        && entropy(run) > KEY_ENTROPY
}

/// The longest address that is read back to its scheme, in bytes. Browsers and servers take few longer ones.
const MAX_URL: usize = 2_000;

/// Whether a run is part of an address: documents and videos have random names.
fn is_in_url(text: &str, at: usize) -> bool {
    let before = &text[text.floor_char_boundary(at.saturating_sub(MAX_URL))..at];
    before.rsplit(char::is_whitespace).next().is_some_and(|head| head.contains("://"))
}

/// Formats that their prefix alone identifies.
static PREFIXED: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        ascii_boundary!(),
        r"(?:",
        r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}",
        r"|(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
        r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}",
        r"|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}",
        r"|(?:sk|rk|pk|rzp)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9]{16,}",
        r"|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9]{20,}",
        r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|dop_v1_[a-f0-9]{32,}",
        r"|ntn_[A-Za-z0-9]{20,}|lin_(?:api|oauth)_[A-Za-z0-9]{20,}|gsk_[A-Za-z0-9]{20,}|r8_[A-Za-z0-9]{20,}|xai-[A-Za-z0-9]{20,}",
        r"|pplx-[a-zA-Z0-9]{20,}|dckr_(?:pat|oat)_[A-Za-z0-9_-]{16,}|sbp_[a-f0-9]{30,}|sb_secret_[A-Za-z0-9_-]{16,}|tskey-[A-Za-z0-9-]{16,}",
        r"|figd_[A-Za-z0-9_-]{20,}|glsa_[A-Za-z0-9_]{20,}|sntrys_[A-Za-z0-9_=+/-]{20,}|AT[AC]TT3x[A-Za-z0-9_=-]{20,}|hv[sbr]\.[A-Za-z0-9_-]{20,}",
        r"|dapi[a-f0-9]{30,}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{30,}|nsec1[02-9ac-hj-np-z]{50,}|[0-9]{6}(?:-[0-9]{6}){7}",
        r"|AGE-SECRET-KEY-1[A-Z0-9]{20,}|[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}",
        // A JSON web token: two base64url objects and a signature, which may be empty.
        r"|eyJ[A-Za-z0-9_-]{6,}\.eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*",
        r")",
    ))
});

/// Formats that ordinary words can match: they must contain a digit.
static LOOSE: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        ascii_boundary!(),
        r"sk-[A-Za-z0-9_-]{16,}|(?i:",
        ascii_boundary!(),
        r"(?:bearer|basic|token|ssws|apikey)\s+)([A-Za-z0-9._~+/-]{16,}={0,2})",
    ))
});

/// Keys and tokens whose own form identifies them.
pub(super) fn find_formatted(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut take = |span, class| found.push(Finding::bare(span, class));
    PRIVATE_KEY.find_iter(text).for_each(|span| take(span, Class::PrivateKey));
    PUTTY.find_iter(text).for_each(|span| take(span, Class::PrivateKey));
    PREFIXED.find_iter(text).for_each(|span| take(span, Class::Token));
    LOOSE
        .values(text)
        .map(|it| it.value)
        .filter(|span| text[span.clone()].bytes().any(|b| b.is_ascii_digit()))
        .for_each(|span| take(span, Class::Token));
    found
}

pub(super) fn find(text: &str) -> Vec<Finding> {
    let hex_keys = HEX_KEY.values(text);
    let mut found: Vec<Finding> =
        hex_keys.map(|it| Finding::bare(it.value, Class::PrivateKey)).collect();
    found.extend(find_formatted(text));
    let mut take = |span, class| found.push(Finding::bare(span, class));
    let beside = PREFIXED.is_match(text) || SECRET.is_match(text);
    RUN.find_iter(text)
        .filter(|span| {
            let run = &text[span.clone()];
            is_random(run, beside) && !is_in_url(text, span.start) && !run.contains("://")
        })
        .for_each(|span| take(span, Class::Token));
    if KEY.is_match(text) && !DIGEST.is_match(text) {
        HEX.find_iter(text).for_each(|span| take(span, Class::Token));
    }
    found
}
