//! Detects passwords that no label names: by the shape of the word, and by words near it that speak of what it opens.
//! "gorrion7666mar opens dad's laptop". A word after "is called" is a name.

use std::sync::LazyLock;

use memgate_text::rules::pattern::Pattern;

use memgate_text::introduced::is_name;

use super::near::is_near;
use crate::{
    finding::{Finding, pattern},
    policy::Class,
};

/// A word that may be a password. Scripts without cases have none, and the words beside it may follow without a space.
static WORD: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r#"[^\s"'“”„«»「」`,;，。、()<>\[\]{}:：？！?\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Devanagari}\p{Arabic}]{6,48}"#,
    )
});

/// Words for what a password opens (networks, accounts), for opening it, and for using one everywhere.
static ACCESS: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        // Networks and accounts.
        r"(?i)wi-?fi|вай-?фай|와이파이|वाई-?फाई|واي ?فاي|интернет|인터넷|इंटरनेट|[连連联聯][网網]|\b(?:wlan|hotspot|internet|router|nas",
        r"|log-?ins?|logs? in|sign in|accounts?|admin|portal|portail|konto|zugang|anmeld\w*|identifiant|compte|accès|cuenta|acceso|registro",
        r"|accesso|gestionale|acesso|conta|netwerk|boekhouding|panel|hesab\w*|laptop|passwd|paswrd|pass",
        // Opening.
        r"|open[st]?|gets? (?:\w+ )?in(?:to)?|unlock\w*|aufgeht|geht (?:\w+ ){0,3}mit|läuft|rein|inlogg\w*|ouvre|entrer|entra|abre|apre|otwiera|açan|girerken|khul\w*",
        // Devices and services that ask for it again and again.
        r"|keeps asking|still (?:asks|wants)|fragt immer|will immer|blijft vragen|demande (?:encore|toujours)|vuole (?:ancora|sempre)|continua (?:a chiedere|pedindo)",
        r"|sigue pidiendo",
        // One word for all accounts, and how it is typed.
        r"|everywhere|for everything|für alles|pour tout|para todo|para tudo|per tutto|voor alles|i (?:type|enter)|same (?:one|thing)|überall|dasselbe|overal|hetzelfde|partout|mon truc|la même|en todas partes|lo mismo|la misma|dappertutto",
        r"|ovunque|sempre quella|la stessa|em todo lugar|a mesma|o mesmo|har jagah|top row|keyboard layout)\b",
        r"|(?:ещё|всё|снова) (?:ещё )?просит|везде|раскладк|открыва|зайди|войти|доступ|аккаунт|[账帳][号號]|登[录錄入]|密码|[电電][脑腦]|后台|後台|[进進]去?\b|就能[进進]|到处|到處|[输輸]入?",
        r"|ログイン|入れる|入れて|開く|開き|つなが|パソコン|合言葉|どこでも|로그인|비번|개인|노트북|들어가|열[리려어]|접속|연결|치면|다 똑같|खुल|लॉग|हर जगह|लैपटॉप|पासवर्ड",
    ))
});

/// Words that stand before a product and not before a password; between them may be its maker's name: "an HP Envy6022e".
static PRODUCT: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        r"(?:^|[^\p{L}])(?i:an?|eine?n?|een|un[ae]?|uma?|runs?|running|installed|issue|ticket)\s",
        r"(?:\p{Lu}[\p{L}\d-]*\s){0,2}$",
    ))
});

/// How far before a product its article may be, in bytes.
const MAKER: usize = 40;

pub(super) fn find(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    for word in WORD.find_iter(text) {
        // Marks of emphasis and punctuation around a word are no part of it.
        let value = text[word.clone()].trim_end_matches(['.', '-', '!', '*', '_', '~', '%', '…']);
        let inner = value.trim_start_matches(['*', '_', '~', '-']);
        let start = word.start + value.len() - inner.len();
        let span = start..start + inner.len();
        let secret = match shape(inner) {
            Shape::Password => true,
            Shape::Possible => is_near(&ACCESS, text, &span),
            Shape::Ordinary => false,
        };
        if secret && !is_name(text, span.start) && !is_product(text, span.start) {
            found.push(Finding::bare(span, Class::Credential));
        }
    }
    found
}

/// Whether the word that begins at `start` follows an article or the like.
fn is_product(text: &str, start: usize) -> bool {
    PRODUCT.is_match(&text[text.floor_char_boundary(start.saturating_sub(MAKER))..start])
}

/// The shape of a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// No word, name or number looks like this: letters, digits and a sign that joins no names.
    Password,
    /// A password, a user name or a product.
    Possible,
    /// Anything else.
    Ordinary,
}

/// The shape of a word: runs of letters, digits and signs.
fn shape(word: &str) -> Shape {
    let count = |kind: fn(char) -> bool| word.chars().filter(|c| kind(*c)).count();
    let letters = count(char::is_alphabetic);
    let digits = count(|c| c.is_ascii_digit());
    let (lower, upper) = (count(char::is_lowercase), count(char::is_uppercase));
    // Numbers of issues have a `#`, user names a `_`.
    let signs = count(|c| "!$%&*^~@".contains(c));
    let joints = count(|c| "_#+".contains(c));
    let address = word.contains(['/', '='])
        || word.starts_with(['@', '#'])
        || (word.contains('@') && word.contains('.'));
    let plain = letters + digits + signs + joints + count(|c| c == '.' || c == '-');
    if address
        || letters < 4
        || digits == 0
        || lower < 2
        || lower + upper < letters
        || plain < word.chars().count()
        || word.chars().all(|c| c.is_ascii_hexdigit())
        || word.trim_end_matches(|c: char| c.is_ascii_digit()).ends_with('#')
    {
        return Shape::Ordinary;
    }
    let certain = signs > 0 && (digits >= 2 || letters >= 6) && !word.contains('.');
    // "user_1" is an identifier, "Samosa_Chutney3" is none.
    let joined = joints > 0 && upper > 0;
    match certain {
        true => Shape::Password,
        false if digits >= 2 || joined || signs > 0 => Shape::Possible,
        false => Shape::Ordinary,
    }
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
            ("my sister still gets into my spotify with hedgeh0g$", "hedgeh0g$"),
            ("il portale si apre con Melanzane*Fritte6", "Melanzane*Fritte6"),
            ("부모님 댁은 Tteokbokki_Joah8로 들어가면 돼", "Tteokbokki_Joah8"),
            ("客人来了连网就输hongshaorou2020wu，全小写", "hongshaorou2020wu"),
            ("I use the same thing everywhere, qwer8891", "qwer8891"),
            ("I always use Fennel2009! for everything", "Fennel2009"),
            ("for the gym app I type kayak_Orange4", "kayak_Orange4"),
            ("la stampante vuole ancora Fattur3-2023!", "Fattur3-2023"),
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
            "My boat is called Canary10xy.",
            "My camera has the XF35mmF2 lens.",
            "On chess.com I'm knightfall_0413.",
            "Chez nous le wifi s'appelle Freebox-Mesange12.",
            "hamare wifi ka naam Koyal_2G7 hai",
            "see **Version2024** and issue Backend#441",
            "my printer is a LaserJet4050",
            "Our wifi router is a FritzBox7590 in the hall.",
            "Issue Gateway#2211 opens again every week.",
            "My wife's wifi printer is an HP Envy6022e.",
            "Unser Admin hat einen Lenovo Thinkpad1490x gekauft.",
            "El router es un TP-Link Archer5500ax.",
        ] {
            assert!(values(text).is_empty(), "{text} {:?}", values(text));
        }
    }
}
