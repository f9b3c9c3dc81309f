//! Whether a message asks for something that the assistant said.

use std::sync::LazyLock;

use regex::Regex;

use crate::{lang, normal::plain};

static REPLIES: LazyLock<Regex> = LazyLock::new(|| {
    let patterns: Vec<&str> = lang::all(|file| &file.questions.replies).collect();
    compile(&patterns.join("|"))
});

#[expect(clippy::expect_used, reason = "the patterns are constants; the test compiles them")]
fn compile(source: &str) -> Regex {
    Regex::new(source).expect("a pattern of lang/*.toml compiles")
}

/// The longest message that is looked at, in bytes: a longer one brings its own material.
const LONGEST: usize = 1_000;

/// Whether a message asks for something that the assistant said: "which hotel did you recommend?".
#[must_use]
pub fn asks_about_replies(message: &str) -> bool {
    message.len() <= LONGEST && REPLIES.is_match(&plain(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_about_the_assistants_words_are_told_from_others() {
        for message in [
            "Which hotel did you recommend in Kyoto?",
            "what was the second book you suggested",
            "remind me of your advice about the loan",
            "Welches Hotel hast du mir in Kyoto empfohlen?",
            "¿Qué restaurante me recomendaste?",
            "Tu m'avais conseillé quel livre ?",
            "Che libro mi hai consigliato?",
            "Qual livro você me recomendou?",
            "Welk boek had je aangeraden?",
            "你上次推荐的餐厅叫什么？",
            "前に教えてくれた店はどこ？",
            "आपने कौन सी किताब बताई थी?",
        ] {
            assert!(asks_about_replies(message), "{message}");
        }
        for message in [
            "What's my budget for Hawaii?",
            "Can you recommend a hotel in Kyoto?",
            "Kannst du mir ein Buch empfehlen?",
            "¿Puedes recomendarme un restaurante?",
            "推荐一家餐厅",
            "おすすめの店は？",
        ] {
            assert!(!asks_about_replies(message), "{message}");
        }
    }
}
