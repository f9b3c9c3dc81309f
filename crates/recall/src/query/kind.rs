//! Which type of memory a question asks for, by how it asks: "how do I" wants a procedure, "when did"
//! what happened. That is a hint and never a filter. English, German, Spanish, French, Portuguese, Hindi, Chinese and
//! Japanese.

use std::sync::LazyLock;

use regex::Regex;

use memgate_core::memory::MemoryType;

#[expect(clippy::expect_used, reason = "the pattern is a constant; the tests compile it")]
static PROCEDURE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)\bhow (?:do|can|should|would|must) (?:i|we|you)\b|\bhow to\b|\bwalk me through\b",
        r"|\b(?:steps|procedure|instructions|recipe|checklist)\b",
        r"|\bwie (?:mache?|macht|geht|kann|muss|soll|bekomme?)\b|\b(?:schritte|anleitung|rezept)\b",
        r"|\bcómo (?:hago|hacer|se|puedo|debo|tengo)\b|\b(?:pasos|instrucciones|receta)\b",
        r"|\bcomment (?:faire|faut|dois|puis|on|je)\b|\b(?:étapes|recette)\b",
        r"|\bcomo (?:faço|fazer|se|posso|devo)\b|\b(?:passos|instruções|receita)\b",
        r"|怎么(?:做|办|弄|用|处理)|如何|步骤|どうやって|やり方|手順|कैसे|kaise",
    ))
    .expect("a constant pattern compiles")
});

#[expect(clippy::expect_used, reason = "the pattern is a constant; the tests compile it")]
static EVENT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)\b(?:when|on (?:which|what) (?:day|date)|how long ago|since when) (?:did|was|were|had|have|has)\b",
        r"|\bwhat (?:happened|did (?:i|we) (?:do|say|tell))\b|\blast time\b",
        r"|\bwann (?:hab|hat|war|bin|ist|wurde)|\bwas (?:ist|war) passiert\b|\bletztes mal\b",
        r"|\b(?:cuándo|qué día) (?:fue|fui|hice|me|se|empec)|\bqué pasó\b|\búltima vez\b",
        r"|\bquand (?:ai|est-ce que|a-t|était|avons)|\bdernière fois\b",
        r"|\bquando (?:foi|fui|eu|fiz|comec)|\bo que aconteceu\b",
        r"|什么时候|什麼時候|哪天|哪一天|何时|上次|いつ|前回|कब|kab\b",
    ))
    .expect("a constant pattern compiles")
});

/// The type that is asked for, where the question tells.
pub(super) fn asked_for(query: &str) -> Option<&'static str> {
    if PROCEDURE.is_match(query) {
        Some(MemoryType::PROCEDURAL)
    } else if EVENT.is_match(query) {
        Some(MemoryType::EPISODIC)
    } else {
        None
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
            assert_eq!(asked_for(query), Some(MemoryType::PROCEDURAL), "{query}");
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
            assert_eq!(asked_for(query), Some(MemoryType::EPISODIC), "{query}");
        }
    }

    #[test]
    fn other_questions_ask_for_no_type() {
        for query in
            ["What is my budget?", "How old is Ana?", "when will it be due?", "我的预算是多少"]
        {
            assert_eq!(asked_for(query), None, "{query}");
        }
    }
}
