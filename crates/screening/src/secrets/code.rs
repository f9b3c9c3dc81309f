//! Detects labelled codes: PINs, door and alarm codes, one-time codes.

use std::sync::LazyLock;

use memgate_text::rules::pattern::Pattern;

use super::unlabelled::DIGIT;
use crate::{
    finding::{Finding, collect, pattern},
    policy::Class,
};

/// Names of a code.
const LABEL: &str = concat!(
    r"p\.?i\.?n\.?(?:[ -]?(?:code|number|nummer)|im|imi|i)?|pincode|puk|otp|cvv2?|cvc2?|passcode|tan",
    r"|(?:alarm|door|gate|entry|entrance|recovery|backup|security|verification|one[ -]time|locker|safe|lock|garage|building|house",
    r"|unlock|bike|suitcase|2fa|mfa|access)(?: ?lock)?[ -]?(?:codes?|combination|combo)",
    r"|(?:(?:haus|keller|garagen)?tür|tor|alarm|zahlen|zugangs|sicherheits|bestätigungs|safe|tresor|schloss|spind|schließfach|garagen|koffer)-?(?:code|nummer|kombination)|geheimzahl",
    r"|(?:code|código|codigo|codice) (?:d[eiu]s?|del|da|do) (?:ma|mon|notre|mi|nuestra|nuestro|minha|meu|nossa|mia|mio|nostra|nostro) [^\n.!?\d]{2,20}?",
    r"|digicode|code (?:pin|secret|de la porte|du portail|d'accès|d'entrée)|c(?:ó|o)digo(?: (?:de|del|da|do)(?: la| el)? [^\s]{2,20}){1,2}|codice(?: (?:di |del |della |dell')[^\s]{2,20}){1,2}",
    r"|code (?:van|voor) (?:de|het) (?:poort|(?:voor|achter)?deur|garage|kluis|kaart|schuur|hek|alarm|slot|berging|kelder)",
    r"|code (?:der|des|vom|von der|für die|fürs|zur|zum) (?:haustür|tür|tor|hoftor|garage|keller|alarmanlage|karte|schranke|kasse)",
    r"|(?:deur|alarm|poort|toegangs|pin)-?code|kod(?: do [^\s]{2,20})?|kodu",
);

/// Names of a code in other scripts.
const LABEL_UNSPACED: &str = concat!(
    "验证码|驗證碼|暗証番号|認証コード|暗证|门禁(?:密码)?|開門碼|取件码|(?:金庫|ロッカー|ダイヤル|玄関|オートロック)(?:の)?(?:番号|コード)",
    "|비밀번호|인증번호|현관|пин-?код|код(?: от [^\\s]{2,20}){0,1}|पिन|ओटीपी|कोड",
);

/// A label, an optional place, a word or sign for "is", and a value with digits.
static LABELLED: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(&format!(
        concat!(
            r"(?i)(?:\b(?:{label})\b|{unspaced})",
            r"(?:\s+(?:for|of|to|on|at|in|from|zur?|zum|f(?:ü|ue)rs?|von|vom|am|im|del?|della|da|do|des|du|pour|para|per|voor|van|от|для)\s[^\n.!?;:=]{{1,40}}?)?",
            r"\s*(?:[:=：＝]|\b(?:is|are|was|its|it's|now|ist|lautet|sind|es|son|est|c'est|sont|é|è|e|hai|to|to jest)\s|है|是|为|為|は|는|은|이|—|-)?\s*",
            r#"["'“„«`]?([#*]?[A-Za-z]?\d[\d \-*#]{{1,14}}\d[#*]?|[A-Za-z0-9]*\d[A-Za-z0-9-]{{2,24}}[#*]?)"#,
        ),
        label = LABEL,
        unspaced = LABEL_UNSPACED,
    ))
});

/// A list of recovery codes, one a line or separated by commas.
static LIST: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)\b(?:recovery|backup|rescue|2fa|wiederherstellungs|ersatz|récupération|secours|recuperación|recuperação|recupero|herstel)",
        r"[ -]?(?:codes?|keys?|códigos|codici)?\b[^\n]{0,60}[:\n]\s*((?:[a-z0-9]{4,12}(?:[ -][a-z0-9]{4,12})?[\s,;]{1,3}){1,19}[a-z0-9]{4,12}(?:-[a-z0-9]{4,12})?)",
    ))
});

/// A short code with words between it and its label: "PIN of the new card, 6120".
static LOOSE: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)\b(?:pin|puk|otp|cvv2?|cvc2?)\b(?:[\s,]+\p{L}+){0,5}?[\s,:]+(\d{3,8}(?: \d{3,4})?)\b",
        r"|\b(?:safe|tresor|locker|spind|coffre|cofre|caja fuerte|kluis|cassaforte|schloss|lock|padlock)\b[^.!?\n\d]{0,30}?\b(\d{1,2}[- ]\d{1,2}[- ]\d{1,2})\b",
        r"|\b(?:alarm|keypad|combination|combo|padlock)\b[^.!?\n\d]{0,30}?\b(\d{3,8}#?|\d{1,2}-\d{1,2}-\d{1,2})\b",
    ))
});

/// A code in words: "pin is three eight oh one".
static SPELLED: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(&format!(r"(?i)\b(?:{LABEL})\b[^.!?\n]{{0,30}}?\b((?:{DIGIT}[\s,-]+){{2,9}}{DIGIT})\b"))
});

/// The digits on the back of a card whose number is in the text, too.
static BACK: LazyLock<Pattern> = LazyLock::new(|| {
    let back = "(?:on the back|hinten|rückseite|achterkant|achterop|au dos|sul retro|dorso|no verso|atrás|на обороте|сзади|背面|裏面|裏の|뒷면|뒤에|पीछे)";
    pattern(&format!(
        r"(?i){back}[^\d\n]{{0,16}}(\d{{3}})(?-u:\b)|(?-u:\b)(\d{{3}})[^\d\n]{{0,16}}{back}"
    ))
});

/// Groups of digits as on a card.
static CARD: LazyLock<Pattern> =
    LazyLock::new(|| pattern(r"\d{4}[ -]?\d{4}[ -]?\d{4}|\d{4} \d{6} \d{5}"));

/// The code before its label: "445 013 is my verification code".
static BEFORE: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(&format!(
        r"(?i)\b(\d{{3,8}}(?:[ -]\d{{3,4}})?[#*]?)(?:,?\s+(?:that|ese|eso|das|dat|quello|esse))?\s+(?:is|as|ist|es|est|é|è|to)\s+(?:\p{{L}}+\s+){{0,4}}?(?:{LABEL})\b"
    ))
});

pub(super) fn find(text: &str) -> Vec<Finding> {
    // A year after "code" is one seldom; a value needs three digits.
    let digits = |value: &str| value.bytes().filter(u8::is_ascii_digit).count() >= 3;
    let mut found = Vec::new();
    collect(&LABELLED, Class::Code, text, digits, &mut found);
    collect(
        &LIST,
        Class::Code,
        text,
        |value| digits(value) && value.lines().count() > 1,
        &mut found,
    );
    // Far from its label, four digits are often a year.
    let year = |value: &str| matches!(value.parse::<u32>(), Ok(1900..=2100));
    collect(&LOOSE, Class::Code, text, |value| digits(value) && !year(value), &mut found);
    collect(&SPELLED, Class::Code, text, |_| true, &mut found);
    collect(&BEFORE, Class::Code, text, digits, &mut found);
    if CARD.is_match(text) {
        collect(&BACK, Class::Code, text, digits, &mut found);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_codes_and_ignores_other_numbers() {
        for (text, value) in [
            ("PIN 9917 for the bike lock", Some("9917")),
            ("the alarm code at home is 7703#", Some("7703#")),
            ("my PIN is 6120", Some("6120")),
            ("otp 445 013", Some("445 013")),
            ("Der Türcode ist 4417", Some("4417")),
            ("门禁密码是4417", Some("4417")),
            ("玄関の番号は5512です", Some("5512")),
            ("445013 is my verification code", Some("445013")),
            ("4030 3994 2579 4254, three on the back 418", Some("418")),
            ("the back of room 418", None),
            ("pin the 3 posters to the wall", None),
            ("I wrote code for 10 years", None),
            ("the alarm goes off at 7", None),
            ("my alarm contract ends on 2026-11-27", None),
            ("my house number is 146", None),
        ] {
            let found: Vec<&str> = find(text).into_iter().map(|f| &text[f.span]).collect();
            assert_eq!(found.first().copied(), value, "{text}");
        }
    }
}
