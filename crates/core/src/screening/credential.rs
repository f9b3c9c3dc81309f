//! Detects labelled credentials: "password: …", "my PIN is …", `API_KEY=…`, and passwords in URLs.
//! Only a value that looks like a credential is removed.

use std::sync::LazyLock;

use regex::Regex;

use crate::screening::{Finding, Secret, pattern};

/// A label, an optional "for …", a word or sign for "is", and the value.
static LABELLED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)(?:\b(?:pass(?:word|code|phrase)|passwd|pwd|p\.?i\.?n\.?(?:[ -]?(?:code|number))?|puk|otp|cvv2?|cvc2?",
        r"|(?:api|access|secret|auth|bot|account|wi-?fi)[ _-]?(?:key|token|secret)|client[ _-]?secret",
        r"|(?:alarm|door|gate|entry|recovery|backup|security|verification|one[ -]time|locker|safe)[ -]?(?:code|combination|combo)",
        r"|passwor[dt]|kennwort|contrase(?:ñ|n)a|clave|senha|mot de passe|mdp|digicode|code (?:pin|secret)|parola)\b",
        r"|密码|密碼|口令|验证码|驗證碼|暗証番号|パスワード|पासवर्ड|पिन|ओटीपी)",
        r"(?:\s+(?:for|of|to|on|at|zur?|zum|f(?:ü|ue)rs?|von|vom|del?|da|do|des|du|pour|para|per)\s[^\n.!?;:=]{1,40}?)?",
        r"\s*(?:[:=：＝]|\b(?:is|are|was|its|it's|ist|lautet|es|est|c'est|é|e|hai)\s|है|是|为|為|は)\s*",
        r#"["'“„«`]?([^\s"'”“»`,;，。、]{3,128})"#,
    ))
});

/// A short code directly after its label: "PIN 6120", "otp 445 013".
static CODE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)\b(?:pin|puk|otp|cvv2?|cvc2?)(?:\s+\p{L}+){0,3}?\s+(\d{3,8}(?: \d{3,4})?)\b")
});

/// An assignment in shell or .env syntax.
static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b[A-Z0-9_]*(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|PRIVATE_KEY)[A-Z0-9_]*",
        r#"\s*=\s*["']?([^\s"']{6,256})"#,
    ))
});

/// `scheme://user:password@host`
static URL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s/:@]{1,128}:([^\s/@]{1,128})@")
});

pub(super) fn find(text: &str) -> Vec<Finding> {
    let looks_secret = |value: &str| {
        value.chars().any(|c| c.is_ascii_digit())
            || (value.len() >= 8 && value.chars().any(|c| "_!#$%&*+^~\\".contains(c)))
    };
    let any = |_: &str| true;
    let mut found = Vec::new();
    collect(&LABELLED, text, looks_secret, &mut found);
    collect(&CODE, text, any, &mut found);
    collect(&ASSIGNED, text, any, &mut found);
    collect(&URL, text, any, &mut found);
    found
}

fn collect(pattern: &Regex, text: &str, counts: impl Fn(&str) -> bool, found: &mut Vec<Finding>) {
    found.extend(
        pattern
            .captures_iter(text)
            .filter_map(|c| c.get(1))
            .filter(|value| counts(value.as_str()))
            .map(|value| Finding { span: value.range(), secret: Secret::Credential }),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_labelled_values_and_ignores_mentions() {
        for (text, value) in [
            ("the garage password is otter_rain", Some("otter_rain")),
            ("Password for the printer: blau42", Some("blau42")),
            ("PIN 9917 for the bike lock", Some("9917")),
            ("mein Passwort lautet Eule77!", Some("Eule77!")),
            ("我的密码是990817。", Some("990817")),
            ("パスワードはneko-88です", Some("neko-88です")),
            ("postgres://app:s3cr3t@db/x", Some("s3cr3t")),
            ("export DEPLOY_TOKEN=abcdefgh && run", Some("abcdefgh")),
            ("I changed my password yesterday", None),
            ("my password manager is Bitwarden", None),
            ("the password is too weak", None),
            ("a password is at least 12 characters", None),
            ("pin the 3 posters to the wall", None),
            ("see https://example.org:8080/path", None),
        ] {
            let found: Vec<&str> = find(text).into_iter().map(|f| &text[f.span]).collect();
            assert_eq!(found, Vec::from_iter(value), "{text}");
        }
    }
}
