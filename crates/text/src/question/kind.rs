//! What a question asks for by how it asks: "how do I" asks for a procedure, "when did" for an event.

use std::sync::LazyLock;

use regex::RegexSet;

use crate::lang;

/// What a question asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// How something is done.
    Procedure,
    /// What happened, or when.
    Event,
}

static PROCEDURE: LazyLock<RegexSet> =
    LazyLock::new(|| set(lang::all(|file| &file.questions.procedure)));
static EVENT: LazyLock<RegexSet> = LazyLock::new(|| set(lang::all(|file| &file.questions.event)));

#[expect(clippy::expect_used, reason = "the patterns are constants; the test compiles them")]
fn set<'a>(patterns: impl Iterator<Item = &'a str>) -> RegexSet {
    RegexSet::new(patterns.map(|pattern| format!("(?i){pattern}"))).expect("a pattern compiles")
}

/// What a question asks for, where that shows.
#[must_use]
pub fn of(question: &str) -> Option<Kind> {
    if PROCEDURE.is_match(question) {
        Some(Kind::Procedure)
    } else {
        EVENT.is_match(question).then_some(Kind::Event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_asks_for_a_procedure_and_when_for_what_happened() {
        for query in [
            "How do I bake scones?",
            "Wie mache ich den Teig?",
            "¿Cómo hago la masa?",
            "Comment faire la pâte ?",
            "Como faço a massa?",
            "这个怎么做",
            "パンのやり方",
            "रोटी कैसे बनाऊँ",
        ] {
            assert_eq!(of(query), Some(Kind::Procedure), "{query}");
        }
        for query in [
            "When did I last repot the monstera?",
            "Wann war das mit dem Milchzahn?",
            "¿Qué día me pusieron los brackets?",
            "Quand ai-je vu Ana ?",
            "Quando foi a consulta?",
            "我是哪天交的初稿",
            "更新したのはいつですか",
            "मैं कब गया था",
        ] {
            assert_eq!(of(query), Some(Kind::Event), "{query}");
        }
    }

    #[test]
    fn other_questions_ask_for_no_type() {
        for query in
            ["What is my budget?", "How old is Ana?", "when will it be due?", "我的预算是多少"]
        {
            assert_eq!(of(query), None, "{query}");
        }
    }
}
