use std::{collections::BTreeSet, fs, path::Path, sync::Mutex};

use memgate_text::rules::pattern::{Found, Pattern};
use proptest::prelude::*;
use regex::Regex;

use crate::{Action, Class, MAX_MESSAGE_BYTES, Policy, Screened, Screener};

/// The sources of the patterns that are compiled.
pub(crate) static COMPILED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// The texts of all test rows.
fn rows() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/screening");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|file| file.extension().is_some_and(|it| it == "jsonl"));
    let texts: Vec<String> = files.map(|file| fs::read_to_string(file).unwrap()).collect();
    let row = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap();
    let lines = texts.iter().flat_map(|text| text.lines()).map(row);
    lines.map(|row| row["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn in_every_test_row_each_pattern_finds_what_the_regex_crate_finds() {
    let rows = rows();
    let drop = Screener::new(Policy {
        addresses: Action::Drop,
        health: Action::Drop,
        ..Policy::default()
    });
    // Some patterns are compiled where another one has a match.
    rows.iter().for_each(|row| _ = drop.screen(row, MAX_MESSAGE_BYTES));
    let sources = COMPILED.lock().unwrap().clone();
    assert!(rows.len() > 1000 && sources.len() > 50, "{} {}", rows.len(), sources.len());
    for source in sources {
        let (regex, pattern) = (Regex::new(&source).unwrap(), Pattern::constant(&source));
        for row in &rows {
            let found = regex.captures_iter(row).map(|it| {
                let whole = it.get_match();
                let value = it.iter().skip(1).flatten().next().unwrap_or(whole);
                Found { whole: whole.range(), value: value.range() }
            });
            assert!(pattern.values(row).eq(found), "{source}: {row}");
        }
    }
}

fn screen(text: &str, max: usize) -> Screened {
    Screener::default().screen(text, max)
}

fn kept(text: &str) -> String {
    screen(text, MAX_MESSAGE_BYTES).text
}

#[test]
fn removes_secrets_and_keeps_the_sentences_around_them() {
    for (text, left) in [
        ("use sk-proj-abcDEF1234567890xyz for it", "use [removed: token] for it"),
        ("ghp_0123456789abcdefghijABCDEFGHIJ012345 fails", "[removed: token] fails"),
        ("id AKIAIOSFODNN7EXAMPLE!", "id [removed: token]!"),
        ("bot xoxb-123456789012-abcdefGHIJ", "bot [removed: token]"),
        ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl end", "jwt [removed: token] end"),
        ("Authorization: Bearer abcdef0123456789abcdef", "Authorization: Bearer [removed: token]"),
        ("card 4111 1111 1111 1111 ok", "card [removed: card number] ok"),
        ("ghр_0123456789abcdefghijABCDEFGHIJ012345 fails", "[removed: token] fails"),
    ] {
        assert_eq!(kept(text), left);
    }
}

#[test]
fn removes_private_keys_entirely_even_when_truncated_or_in_json() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7";
    for text in [
        format!("-----BEGIN PRIVATE KEY-----\n{body}\n{body}==\n-----END PRIVATE KEY-----"),
        format!("-----BEGIN RSA PRIVATE KEY-----\\n{body}\\n-----END RSA PRIVATE KEY-----"),
        format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{body}\n{body}"),
    ] {
        assert_eq!(kept(&format!("my key: {text}")), "my key: [removed: private key]");
    }
    assert_eq!(
        kept("what does -----BEGIN PRIVATE KEY----- mean?"),
        "what does [removed: private key] mean?"
    );
}

#[test]
fn keeps_ordinary_words_and_numbers() {
    for text in [
        "My budget for the Hawaii trip is $10,000",
        "I use sk-learn-compatible-estimators at work",
        "bearer of good tidings, everyone",
        "the token economy is failing us all",
        "call me on +49 170 1234567 after 17:30",
        "ISBN 978-3-16-148410-0",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    ] {
        assert_eq!(kept(text), text);
    }
}

#[test]
fn finds_a_secret_split_by_hidden_characters() {
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ";
    assert_eq!(kept("gh\u{200B}p_0123456789abcdefg\u{2060}hijABCDEFGHIJ"), "[removed: token]");
    for mark in ["\u{FE0F}", "\u{FE00}", "\u{E0101}", "\u{FFFA}", "\u{180B}", "\u{200D}\u{FE0E}"] {
        let split: String = token.chars().flat_map(|c| [c.to_string(), mark.to_owned()]).collect();
        assert_eq!(kept(&split), "[removed: token]", "{mark:?}");
    }
    assert_eq!(kept("my password:\u{2800}hunter2x9"), "my password: [removed: credential]");
}

#[test]
fn a_number_is_found_in_the_digits_of_every_script() {
    for (text, class, left) in [
        ("pay with ５５００００００００００００００４, please", Class::Card, "pay with "),
        ("Das Finanzamt kennt mich als ８６ ０９５ ７４２ ７１９", Class::NationalId, "Das Fin"),
        ("De gemeente heeft ١١١٢٢٢٣٣٣ van mij", Class::NationalId, "De gemeente heeft "),
        ("मेरा नंबर २३४१ २३४१ २३४६ है", Class::NationalId, "मेरा नंबर "),
    ] {
        let screened = screen(text, 1000);
        assert_eq!(screened.removed, [class], "{text}: {}", screened.text);
        assert!(screened.text.starts_with(left), "{}", screened.text);
    }
}

#[test]
fn digits_of_two_scripts_in_one_number_are_screened_as_one_number() {
    for text in ["De gemeente heeft 11122233٣ van mij", "pay with 4111 1111 ११११ 1111"] {
        assert_eq!(screen(text, 99).removed.len(), 1, "{text}");
    }
    for text in [
        "Mijn bsn bij de gemeente is 12345678٩x",
        "das Finanzamt kennt mich als 1２３４５６７８９０1 seit 2019",
    ] {
        assert!(!screen(text, 1000).text.is_empty(), "{text}");
    }
}

#[test]
fn a_telephone_number_in_arabic_digits_needs_neither_label_nor_leading_zero() {
    let redact = Screener::new(Policy { phones: Action::Redact, ..Policy::default() });
    for number in ["٠٥٠٥٣٤٩٣٦٩", "٩٦٦٥٠٥٣٤٩٣٦٩", "٥٠٥٣٤٩٣٦٩"] {
        let screened = redact.screen(&format!("رقمي {number} وشكرا"), 1000);
        assert_eq!(screened.removed, [Class::Phone], "{}", screened.text);
        assert!(screened.text.starts_with("رقمي [") && screened.text.ends_with("] وشكرا"));
    }
}

#[test]
fn a_label_is_found_whose_letters_are_of_two_alphabets() {
    for (text, left) in [
        ("pаsswоrd: hunter2x9", "pаsswоrd: [removed: credential]"),
        ("мой пaрoль: hunter2x9", "мой пaрoль: [removed: credential]"),
        ("𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝: ｈｕｎｔｅｒ２ｘ９", "𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝: [removed: credential]"),
        ("ⓟⓐⓢⓢⓦⓞⓡⓓ: hunter2x9", "ⓟⓐⓢⓢⓦⓞⓡⓓ: [removed: credential]"),
    ] {
        assert_eq!(kept(text), left);
    }
    for text in [
        "Наш пароход PCшный, GitHubом и SMSками не пользуюсь",
        "Ο κωδικός του VPN είναι στο συρτάρι",
        "GitHubのトークンは引き出しにある",
        "Мой рост 183, соседа зовут Макс",
    ] {
        assert_eq!(kept(text), text);
    }
}

#[test]
fn removes_overlapping_findings_once() {
    let screened = screen("API_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345 x", 1000);
    assert_eq!(screened.text, "API_TOKEN=[removed: token] x");
    assert_eq!(screened.removed, [Class::Token]);
}

#[test]
fn truncation_leaves_no_half_of_a_secret() {
    let text = "note ghp_0123456789abcdefghijABCDEFGHIJ012345 more";
    for max in 5..text.len() {
        let screened = screen(text, max);
        assert!(screened.clipped);
        assert!(!screened.text.contains("ghp_"), "{max}: {}", screened.text);
    }
}

#[test]
fn a_kept_class_stays_and_is_named_and_a_dropped_one_takes_its_sentence() {
    let keep = Screener::new(Policy { codes: Action::Keep, ..Policy::default() });
    let screened = keep.screen("The alarm code at home is 7703#.", 1000);
    assert_eq!(screened.text, "The alarm code at home is 7703#.");
    assert!(screened.kept.contains(&"7703#".to_owned()));
    let drop =
        Screener::new(Policy { phones: Action::Drop, health: Action::Drop, ..Policy::default() });
    let screened =
        drop.screen("I'm vegan. Call me on +49 170 1234567. I have diabetes. I like tea.", 1000);
    assert_eq!(
        screened.text.split_whitespace().collect::<Vec<_>>().join(" "),
        "I'm vegan. I like tea."
    );
    assert_eq!(screened.removed, [Class::Phone, Class::Health]);
}

proptest! {
    #[test]
    fn any_text_is_screened_within_the_limit(text in "\\PC{0,200}", max in 0usize..300) {
        let screened = screen(&text, max);
        prop_assert_eq!(screened.clipped, text.len() > max);
        if screened.removed.is_empty() {
            prop_assert!(screened.text.len() <= max);
        }
    }

    #[test]
    fn never_keeps_a_card_number(prefix in "[a-z ]{0,20} ", body in "[0-9]{14}", suffix in " [a-z ]{0,20}") {
        let partial = format!("4{body}");
        let check = (0..10).map(|d| format!("{partial}{d}")).find(|n| {
            let sum: u32 = n.bytes().rev().enumerate().map(|(i, b)| {
                let d = u32::from(b - b'0');
                if i % 2 == 0 { d } else if d > 4 { d * 2 - 9 } else { d * 2 }
            }).sum();
            sum.is_multiple_of(10)
        });
        let number = check.unwrap_or_default();
        let left = kept(&format!("{prefix}{number}{suffix}"));
        prop_assert!(!left.contains(&number), "{}", left);
    }
}

#[test]
fn a_name_holds_a_secret_by_its_format_or_label_and_not_by_being_random() {
    for name in [
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "ops/ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "ghp_0123456789\u{200b}abcdefghijABCDEFGHIJ012345",
        "projekt-glpat-Ab12Cd34Ef56Gh78Ij90",
        "会话 AKIAIOSFODNN7EXAMPLQ",
        "sk-proj-abcDEF1234567890xyz",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.c2lnbmF0dXJl",
        "password=Moss!Hill9",
        "Passwort: Eule77!",
        "密码：990817a",
        "postgres://app:s3cr3t@db/x",
        "https://files.example/report.pdf?token=abcDEF123456",
        "-----BEGIN RSA PRIVATE KEY----- MIIEowIBAAKCAQEA7Zq",
    ] {
        assert!(crate::name_holds_secret(name), "{name}");
    }
    for name in [
        "ops",
        "chat-2026-11-28",
        "0f8fad5b-d9cb-469f-a165-70867728950e",
        "api:0f8fad5b-d9cb-469f-a165-70867728950e",
        "key-0f8fad5bd9cb469fa16570867728950e",
        "resp_68a1f0c2b7d48190a5b3c4d5e6f708190f8fad5bd9cb469f",
        "chatcmpl-BqX7fLh29sKzYt4RmWcV8pNd3GuJa",
        "msg_01XFDUDYJgAACzvnptvVoYEL",
        "conv_abcDEF123ghiJKL456mnoPQR789stu",
        "thread_Q2xhdWRlIGlzIGhlcmU1Njc4",
        "mem_01939d3c5f2b7c1e8a4b6d0f1e2a3c4d",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "admin/da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "discord:112233445566778899",
        "asana:1203456789012345",
        "auth0|5f7c8ec7c33c6c004bbafe82",
        "user_2NNEqL2nrIRdJ194ndJqAHwEfxC",
        "https://docs.example.org/document/d/1AbCdEfGhIjKlMnOpQrStUvWxYz0123456789/edit",
        "Password Policy2024.pdf",
        "api-key-rotation-2026-q3",
        "login-service/v2",
        "Passwort",
        "token",
        "deterministic-64",
        "会话-2026-11-28",
        "проект «Океан» 2",
        "परियोजना 7",
    ] {
        assert!(!crate::name_holds_secret(name), "{name}");
    }
}
