//! Detects passwords and codes that no label names: by the shape of the word, and by words near it that speak of
//! something that is locked. "gorrion7666mar opens dad's laptop", "the gate opens with 4411".

use std::sync::LazyLock;

use regex::Regex;

use crate::{
    finding::{Finding, pattern},
    policy::Class,
};

/// How far a cue may be from its value, in bytes.
const NEAR: usize = 90;

/// A word that may be a password.
static WORD: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"[^\s"'“”„«»「」`,;，。、()<>\[\]{}:：？！?]{7,48}"#));

/// A number that may be a code, in digits.
static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:^|[^\d.,:/€$£¥+#-])(\d{3,6}|\d{3}[ -]\d{3}|\d{2}-\d{2}-\d{2})(?:[^\d.,:/%€$£¥-]|[.,:](?:\s|$)|$)",
    )
});

/// Words for what a password opens, and for entering one.
static ACCESS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)wi-?fi|wlan|hotspot|вай-?фай|와이파이|वाई-?फाई|واي ?فاي|\b(?:log-?in|logs? in|sign in|account|laptop|ipad|portal|router|nas|admin|portail|identifiant",
        r"|accès|konto|zugang|anmeld\w*|dienstlaptop|portátil|ordenador|accesso|registro|gestionale|acesso|conta|netwerk|boekhouding|panel|hesab\w*|girerken|open[st]?|unlock\w*",
        r"|aufgeht|entrer|entra|se abre|abre|apre|otwiera|açan|memoriza|merk|passwd|paswrd|pass)\b|개인|노트북|비번|로그인|後台|后台|账号|帳號|登录|登入|電腦|电脑",
        r"|ログイン|入れる|パソコン|合言葉|открыва|зайди|доступ|लैपटॉप|खुलता|पासवर्ड",
    ))
});

/// Words for locks and for typing a code.
static LOCK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)\b(?:unlock\w*|(?:bike|pad|suitcase|door)[ -]?lock|suitcase|keypad|star key|hash|locker|spind|kluisje|casier|casillero|fahrradschloss|haustür|raute|tippst",
        r"|entsperr\w*|déverrouill\w*|couper l'alarme|digicode|desbloque\w*|caja fuerte|cofre|portão|portao|cancell(?:o|etto)|digit(?:a|ando)|valigia|combinazione|cassaforte",
        r"|desbloqu\w*|koffer|sleutelkastje|domofon\w*|domofonu|kłódka|sejf\w*|kilit\w*|kasa\w*|visa|maestro|texted me|sms)\b",
        r"|домофон|набира|разблокир|сейф|замк|الخزنة|الرقم السري|门禁|按 ?\d|取钱|保险柜|锁|スマホは|宅配ボックス|ロッカー|金庫|자물쇠|금고|현관|ताला|लॉकर|खुलता",
    ))
});

/// Words for numbers that are no codes.
static COUNTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)^\s*(?:%|km|kg|g|m|cm|mm|ml|l|h|min|uhr|am|pm|euro?s?|eur|usd|dollars?|pounds?|years?|days?|weeks?|months?|people|jahre|tage|leute|ans|años|anos|anni|jaar|lat|лет|年|月|日|円|元|원|살|人|个|本|度",
        r"|people|pages?|seiten|pieces|times|steps|°)\b",
    ))
});

pub(super) fn find(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    for word in WORD.find_iter(text) {
        let value = word.as_str().trim_end_matches(['.', '-']);
        let span = word.start()..word.start() + value.len();
        let certain = shape(value);
        if certain == Shape::Password
            || (certain == Shape::Possible && is_near(&ACCESS, text, &span))
        {
            found.push(Finding { span, class: Class::Credential });
        }
    }
    for captures in NUMBER.captures_iter(text) {
        let Some(number) = captures.get(1) else { continue };
        let year = matches!(number.as_str().parse::<u32>(), Ok(1900..=2100));
        if !year
            && !COUNTED.is_match(&text[number.end()..])
            && is_near(&LOCK, text, &number.range())
        {
            found.push(Finding { span: number.range(), class: Class::Code });
        }
    }
    found
}

fn is_near(cue: &Regex, text: &str, span: &std::ops::Range<usize>) -> bool {
    let start = text.floor_char_boundary(span.start.saturating_sub(NEAR));
    let end = text.ceil_char_boundary((span.end + NEAR).min(text.len()));
    cue.is_match(&text[start..span.start]) || cue.is_match(&text[span.end..end])
}

/// What a word looks like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// No word, name or number looks like this.
    Password,
    /// A password, a user name or a product.
    Possible,
    /// Anything else.
    Ordinary,
}

/// The shape of a word: runs of letters, digits and signs.
fn shape(word: &str) -> Shape {
    let is_sign = |c: char| "!#$%&*+^~_@".contains(c);
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let signs = word.chars().filter(|c| is_sign(*c)).count();
    let address = word.contains("://")
        || word.contains('/')
        || word.contains('=')
        || word.starts_with(['@', '#'])
        || (word.contains('@') && word.contains('.'));
    if word.chars().all(|c| c.is_ascii_hexdigit())
        || letters < 4
        || digits == 0
        || address
        || word.chars().any(|c| c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase())
    {
        return Shape::Ordinary;
    }
    let trimmed = word.trim_matches(|c: char| c.is_ascii_digit());
    let inner = trimmed.chars().filter(char::is_ascii_digit).count();
    // Letters behind the digits: "Halcyon10x" is a name, "gorrion76mar" is none.
    let behind = trimmed.chars().rev().take_while(|c| !c.is_ascii_digit()).count();
    let lower = word.chars().filter(|c| c.is_lowercase()).count();
    let plain = word.chars().all(|c| c.is_alphanumeric() || is_sign(c) || c == '.' || c == '-');
    let identifier = word.contains('_') && signs == 1 && digits < 2;
    if !plain || identifier || lower < 2 {
        return Shape::Ordinary;
    }
    if (signs > 0 && digits >= 2 && !word.contains('.'))
        || (inner >= 2 && inner + behind >= 4 && !word.contains(['-', '.']))
    {
        return Shape::Password;
    }
    if digits >= 2 { Shape::Possible } else { Shape::Ordinary }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<&str> {
        find(text).into_iter().map(|it| &text[it.span]).collect()
    }

    #[test]
    fn what_opens_something_is_found_without_a_label() {
        for (text, value) in [
            ("gorrion7666mar opens dad's laptop", "gorrion7666mar"),
            ("the guest wifi is kestrel2970", "kestrel2970"),
            ("the gate keypad wants 4411", "4411"),
            ("der Koffer geht mit 438 auf", "438"),
        ] {
            assert_eq!(values(text), [value], "{text}");
        }
    }

    #[test]
    fn names_products_and_measures_stay() {
        for text in [
            "I bought an iPhone15 and a RTX4090",
            "my gamer tag is duke1987",
            "the suitcase weighs 438 kg",
            "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
            "write to ada99@example.org",
            "I upgraded to Windows11 in 2024",
            "my boat is called Halcyon10x",
        ] {
            assert!(values(text).is_empty(), "{text} {:?}", values(text));
        }
    }
}
