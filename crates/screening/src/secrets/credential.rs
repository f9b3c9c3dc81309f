//! Detects labelled credentials: "password: …", `API_KEY=…`, `"password": "…"`, and passwords in URLs and
//! command lines. A value without a sign between it and the label must look like a password.

use std::sync::LazyLock;

use memgate_text::rules::pattern::Pattern;

use crate::{
    finding::{Finding, collect, pattern},
    policy::Class,
};

/// The word "password" and its like, in the supported languages.
const LABEL: &str = concat!(
    r"(?:(?:wi-?fi|wlan|login|admin|root|db|database|mail|e-?mail|account|bank|router)[ _-]?)?",
    r"(?:pass(?:word|phrase)|passwd|pwd|passwor[dt]|kennwort|(?:wlan|netzwerk)-?schl(?:ü|ue)ssel|contrase(?:ñ|n)a|clave|senha",
    r"|mot de passe|mdp|parola d'ordine|wachtwoord|has(?:ło|ła|łem)|şifre\p{L}{0,4}|parola\p{L}{0,4})",
    r"|(?:api|access|secret|auth|bot|account|wi-?fi|encryption|license|licence)[ _-]?(?:key|token|secret)|client[ _-]?secret",
);

/// Labels in scripts without word boundaries.
const LABEL_UNSPACED: &str = r"密码|密碼|口令|密钥|密鑰|パスワード|パスフレーズ|暗証|비밀번호|암호|पासवर्ड|парол\p{L}{1,3}|كلمة المرور|كلمة السر";

/// A label, an optional "for …", a word or sign for "is", and the value.
static LABELLED: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(&format!(
        concat!(
            r"(?i)(?:\b(?:{label})\b|{unspaced})",
            r"(?:\s+(?:for|of|to|on|at|in|zur?|zum|f(?:ü|ue)rs?|von|vom|del?|da|do|des|du|pour|para|per|voor|van|от|для|к)\s[^\n.!?;:=]{{1,40}}?)?",
            r"\s*(?:[:=：＝]|\b(?:is|are|was|its|it's|now|ist|lautet|es|est|c'est|é|è|e|hai)\s|है|是|为|為|は|는|은|이|—|- )\s*",
            r#"["'“„«`]?([^\s"'”“»`,;，。、]{{3,128}})"#,
        ),
        label = LABEL,
        unspaced = LABEL_UNSPACED,
    ))
});

/// A label and, later in the clause, a value that no word looks like: "the new password I set is Moss!Hill9".
static NEAR: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(&format!(
        r#"(?i)(?:\b(?:{LABEL}|log-?in|inloggen)\b|{LABEL_UNSPACED})[^\n.!?;]{{1,48}}?[\s"'“„«`]([^\s"'”“»`,;，。、:=/\d]{{0,40}}\d[^\s"'”“»`,;，。、:=/]{{0,40}})"#
    ))
});

/// A label and a passphrase in quotation marks: 'the passphrase was "seven purple kettles"'.
static QUOTED: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(&format!(
        concat!(
            r#"(?i)(?:\b(?:{label})\b|{unspaced})[^\n.!?;"“„«「]{{0,48}}?(?:\b(?:is|was|to|ist|war|es|era|est|était|è|é)\b|[:=：]|是|は|が)\s*"#,
            r#"["“„«「]([^"”“»」\n]{{4,80}})["”“»」]"#,
        ),
        label = LABEL,
        unspaced = LABEL_UNSPACED,
    ))
});

/// A label and, directly after it, a word of letters with digits or signs: "password hunter2hunter2".
static DIRECT: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(&format!(
        r#"(?i)(?:\b(?:{LABEL})\b|{LABEL_UNSPACED})\s+["'“„«`]?([^\s"'”“»`,;，。、:=]{{6,128}})"#
    ))
});

/// An assignment in shell, .env, YAML, JSON or properties syntax.
static ASSIGNED: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)\b[a-z0-9_.-]*(?:secret|token|passwo?r?d|passwd|pwd|api_?key|access_?key|private_?key|secret_?key|credentials?|_pass|sessionid|session_?id)[a-z0-9_]*",
        r#"["']?\s*(?:=|:\s*["']|"\s*:)\s*["']?([^\s"',;]{6,512})"#,
    ))
});

/// `scheme://user:password@host`
static URL: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s/:@]{0,128}:([^\s/@]{1,128})@")
});

/// `curl -u user:password`, `mysql -psecret`, `sshpass -p secret`.
static COMMAND: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        r#"(?:\b(?:ldap\w+|plink|pscp|psftp|rdesktop|xfreerdp|snmpwalk)\b[^\n]{0,200}?\s-(?:w|p|pw|A)\s+|"#,
        r#"\bcurl\b[^\n]{0,200}?\s(?:-u|--user)[ =]["']?[^\s:"']{1,128}:|\bsshpass\s+-p\s*|"#,
        r#"\bmysql(?:dump)?\b[^\n]{0,100}?\s-p|--password[ =])["']?([^\s"']{4,128})"#,
    ))
});

/// A cookie that carries a session.
static COOKIE: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:set-)?cookie\s*[:=]\s*[^\n]*?(?:sess|sid|auth|token|remember)[a-z0-9_.-]*=([^\s;]{8,512})",
    )
});

/// A signature or key in the query of a URL: presigned links.
static SIGNED: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"(?i)[?&](?:sig|signature|x-amz-signature|x-goog-signature|access_token|token|key|api_?key)=([A-Za-z0-9%._~+/=-]{12,512})",
    )
});

/// Whether a value looks like a password rather than a word.
fn looks_secret(value: &str) -> bool {
    value.chars().any(|c| c.is_ascii_digit())
        || (value.len() >= 8 && value.chars().any(|c| "_!#$%&*+^~\\".contains(c)))
        // "correct-horse-battery-staple"
        || value.matches('-').count() >= 2 && value.len() >= 14
        // One long run of letters is a passphrase without spaces: longer than nearly every word.
        || value.len() >= 18 && value.bytes().all(|b| b.is_ascii_lowercase())
}

/// Names that mix letters and digits and are no passwords.
const NAMES: [&str; 10] = [
    "1password",
    "wpa2",
    "wpa3",
    "base64",
    "sha256",
    "sha512",
    "argon2",
    "oauth2",
    "fido2",
    "pbkdf2",
];

/// Whether a value is one that no ordinary word looks like: letters with digits and a sign, or digits within letters.
fn strong(value: &str) -> bool {
    let value = value.trim_end_matches([')', ']', '.', '!', '?']);
    let lower = value.to_lowercase();
    let letters = value.chars().filter(|c| c.is_alphabetic()).count();
    let digits = value.chars().filter(char::is_ascii_digit).count();
    let sign = value.chars().any(|c| "_!#$%&*+^~\\@".contains(c));
    let within = value.trim_matches(|c: char| c.is_ascii_digit()).len() < value.len()
        || digits > 0 && sign
        || value
            .chars()
            .skip_while(|c| c.is_alphabetic())
            .skip_while(char::is_ascii_digit)
            .any(char::is_alphabetic);
    letters >= 3
        && digits >= 1
        && within
        && value.len() >= 7
        && !NAMES.iter().any(|name| lower.contains(name))
        && !lower.contains('@')
        && !value.contains('.')
}

/// A value directly after its label must mix letters with digits or signs, so that "password manager" is none.
fn mixed(value: &str) -> bool {
    looks_secret(value) && value.chars().any(char::is_alphabetic)
}

/// Values with a sign between them and their label, and those in addresses and cookies.
pub(super) fn find_assigned(text: &str) -> Vec<Finding> {
    let any = |_: &str| true;
    let mut found = Vec::new();
    let value = |value: &str| looks_secret(value) && !is_placeholder(value);
    collect(&LABELLED, Class::Credential, text, value, &mut found);
    collect(&ASSIGNED, Class::Credential, text, |value| !is_placeholder(value), &mut found);
    collect(&URL, Class::Credential, text, any, &mut found);
    collect(&COOKIE, Class::Credential, text, any, &mut found);
    collect(&SIGNED, Class::Credential, text, any, &mut found);
    found
}

pub(super) fn find(text: &str) -> Vec<Finding> {
    let mut found = find_assigned(text);
    collect(&NEAR, Class::Credential, text, strong, &mut found);
    collect(&QUOTED, Class::Credential, text, |value| !is_placeholder(value), &mut found);
    collect(&DIRECT, Class::Credential, text, mixed, &mut found);
    collect(&COMMAND, Class::Credential, text, |_| true, &mut found);
    found
}

/// A call or an index: the value is elsewhere.
static CALL: LazyLock<Pattern> = LazyLock::new(|| pattern(r"^[A-Za-z_][A-Za-z0-9_.]*[(\[]"));

/// A reference to a value that is elsewhere: `${DB_PASSWORD}`, `os.environ[…]`, `<your-token>`.
fn is_placeholder(value: &str) -> bool {
    value.starts_with(['$', '<', '{', '%', '('])
        || CALL.is_match(value)
        || value.chars().all(|c| c == 'x' || c == '*' || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_labelled_values_and_ignores_mentions() {
        for (text, value) in [
            ("the garage password is otter_rain", Some("otter_rain")),
            ("Password for the printer: blau42", Some("blau42")),
            ("my wifi password is correcthorsebattery", Some("correcthorsebattery")),
            ("password hunter2hunter2", Some("hunter2hunter2")),
            ("mein Passwort lautet Eule77!", Some("Eule77!")),
            ("我的密码是990817a。", Some("990817a")),
            ("パスワードはneko-88です", Some("neko-88です")),
            ("postgres://app:s3cr3t@db/x", Some("s3cr3t")),
            ("redis://:s3cr3t@db/0", Some("s3cr3t")),
            ("export DEPLOY_TOKEN=abcdefgh && run", Some("abcdefgh")),
            ("db_password=abcdefgh", Some("abcdefgh")),
            (r#"{"user": "a", "password": "abcdefgh"}"#, Some("abcdefgh")),
            ("curl -u admin:letmein https://x", Some("letmein")),
            ("https://x.example/f?sig=abcDEF123%2Babc", Some("abcDEF123%2Babc")),
            ("I changed my password yesterday", None),
            ("my password manager is Bitwarden", None),
            ("the password is too weak", None),
            ("a password is at least 12 characters", None),
            ("password = os.environ['DB_PASSWORD']", None),
            ("DB_PASSWORD=${SECRET}", None),
            ("see https://example.org:8080/path", None),
        ] {
            let found: Vec<&str> = find(text).into_iter().map(|f| &text[f.span]).collect();
            assert_eq!(found.first().copied(), value, "{text}");
        }
    }
}
