use proptest::prelude::*;

use crate::{Action, Class, MAX_MESSAGE_BYTES, Policy, Screened, Screener};

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
    assert_eq!(kept("gh\u{200B}p_0123456789abcdefg\u{2060}hijABCDEFGHIJ"), "[removed: token]");
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
