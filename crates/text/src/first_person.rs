//! Does a message refer to the speaker? Pronouns of the first person in the
//! languages we claim; what stands in quotation marks, back-ticks or code
//! blocks is somebody else's, and so are countries and file names.

use std::sync::LazyLock;

use regex::Regex;

use crate::lang;

/// Words of the first person, whole, and what shows it within a text.
#[expect(clippy::expect_used, reason = "the patterns are constants; the test below compiles them")]
static FIRST_PERSON: LazyLock<Regex> = LazyLock::new(|| {
    let words: Vec<String> =
        lang::all(|file| &file.first_person.words).map(regex::escape).collect();
    let within: Vec<&str> = lang::all(|file| &file.first_person.within).collect();
    Regex::new(&format!(
        r"(?i)(?:^|[^\p{{L}}\p{{M}}\p{{N}}'’])(?:{})(?:$|[^\p{{L}}\p{{M}}\p{{N}}./\\_-]|[./\\_-](?:$|[^\p{{L}}\p{{N}}]))|{}",
        words.join("|"),
        within.join("|")
    ))
    .expect("a pattern of the first person compiles")
});

#[expect(clippy::expect_used, reason = "the pattern is a constant; the test below compiles it")]
static NOT_OURS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?s)```.*?(?:```|$)|`[^`]*`|"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|《[^》]*》|\bUS\b|我[国國]"#)
        .expect("a constant pattern compiles")
});

/// Bytes of each end of a longer message that are read: between the ends stands what was pasted,
/// which is somebody else's. Finding quotations takes time squared, so it must be bounded.
const END: usize = 2048;

/// Whether the speaker speaks of themselves.
#[must_use]
pub fn is_personal(text: &str) -> bool {
    let (head, tail) = match text.len() {
        0..=END => (text, ""),
        length => text.split_at(text.floor_char_boundary(END.min(length / 2))),
    };
    let tail = &tail[tail.ceil_char_boundary(tail.len().saturating_sub(END))..];
    [head, tail].into_iter().any(|end| FIRST_PERSON.is_match(&NOT_OURS.replace_all(end, " ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_any_size_is_judged_by_its_ends() {
        let pasted = "«`x` ".repeat(100_000);
        assert!(!is_personal(&pasted));
        assert!(is_personal(&format!("Is my name in here? {pasted}")));
        assert!(is_personal(&format!("{pasted} » Is my name in there?")));
        let hindi = "आज मौसम बहुत अच्छा है। ".repeat(10_000);
        assert!(!is_personal(&hindi));
    }

    #[test]
    fn first_person_words_are_found_in_every_language() {
        for text in [
            "What's my budget?",
            "am I late",
            "I’ve moved",
            "tell me",
            "our flight",
            "it belongs to me.",
            "who invited us?",
            "Wo ist mein Schlüssel",
            "was hat mir gefallen",
            "¿cuál es mi talla?",
            "quel est mon code",
            "j'habite où ?",
            "qual é o meu peso",
            "मेरा बजट क्या है",
            "mera budget kya hai",
            "我的预算是多少",
            "私の予算は？",
            "僕の誕生日",
        ] {
            assert!(is_personal(text), "{text}");
        }
    }

    #[test]
    fn what_is_quoted_or_coded_is_not_the_speakers() {
        for text in [
            "Who wrote \"I, Robot\"?",
            "who sings “My Way”",
            "《我不是药神》讲的是什么",
            "explain `let me = my(x)`",
            "capital of France?",
            "What is HTTP/2?",
            "```\nmy $x = 1;\n``` what language",
            "Michigan population",
            "how large is the US",
            "我国有多少个省",
            "vim ./my.conf",
            "what does I/O mean",
            "open /home/me/notes",
        ] {
            assert!(!is_personal(text), "{text}");
        }
    }
}
