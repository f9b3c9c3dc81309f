//! Whether a word is somebody's or something's name: "my boat is called Canary10xy", "I'm knightfall_0413". Names with
//! digits look like passwords.

use std::{borrow::Cow, ops::Range, sync::LazyLock};

use regex::Regex;

/// A word of letters, digits and signs.
static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"[A-Za-z0-9][A-Za-z0-9_.#&*!$%-]*"));

/// How far back the name of a secret undoes "is called", in bytes: "das Passwort heißt Eule77!".
const SECRET_BEFORE: usize = 60;

/// Words that introduce a name, directly before it.
static INTRODUCES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)(?:(?:^|[^\p{L}\p{M}])(?:called|named|nick(?:name)?(?: is)?|user ?name(?: is)?|handle(?: is)?|gamer ?tag(?: is)?|i'?m|i am",
        r"|hei(?:ß|ss)(?:e|t)?(?: ich)?|genannt|ich bin|heet(?: ik)?|heten|genaamd|ik ben|s['’]appelle|nommée?|appelée?|je suis",
        r"|si chiama|mi chiamo|chiamat[oa]|sono|se llama|me llamo|llamad[oa]|soy|se chama|me chamo|chamad[oa]|(?:eu )?sou",
        r"|зовут|называется|ник|под ником|я|naam|नाम)|叫做?|名[叫为為]|我是|名前は|という名前|이름은|아이디는|닉네임은)[ :]*$",
    ))
});

/// Words that make the next word a secret all the same.
static SECRET: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)passwor|passphrase|passcode|\bpass\b|passwd|kennwort|schlüssel|wachtwoord|mot de passe|\bmdp\b|contrase|\bclave|senha|parola|password",
        r"|парол|密码|密碼|口令|パスワード|暗証|비밀번호|비번|पासवर्ड|\b(?:key|code|pin)\b",
    ))
});

#[expect(clippy::expect_used, reason = "the patterns are constants; the tests below compile them")]
fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("a pattern of names compiles")
}

/// Whether the word that begins at `start` is introduced as a name.
#[must_use]
pub fn is_name(text: &str, start: usize) -> bool {
    let from = text.floor_char_boundary(start.saturating_sub(SECRET_BEFORE));
    let Some(before) = text.get(from..start) else { return false };
    INTRODUCES.is_match(before) && !SECRET.is_match(before)
}

/// The text without the words that have a digit and are introduced as names.
pub(crate) fn without_names(text: &str) -> Cow<'_, str> {
    let names: Vec<Range<usize>> = WORD
        .find_iter(text)
        .filter(|word| {
            word.as_str().contains(|c: char| c.is_ascii_digit()) && is_name(text, word.start())
        })
        .map(|word| word.range())
        .collect();
    if names.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut rest = text.to_owned();
    names.into_iter().rev().for_each(|range| rest.replace_range(range, ""));
    Cow::Owned(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_after_is_called_is_a_name_and_what_a_password_is_called_is_none() {
        for (text, name) in [
            ("my boat is called X", true),
            ("Unser WLAN heißt X", true),
            ("我在B站叫X", true),
            ("Su Instagram sono X", true),
            ("mera naam X", true),
            ("das WLAN-Passwort heißt X", false),
            ("the wifi is X", false),
        ] {
            assert_eq!(is_name(text, text.find('X').unwrap()), name, "{text}");
        }
        assert_eq!(
            without_names("our wifi is called Plover2 and 5 fast"),
            "our wifi is called  and 5 fast"
        );
    }
}
