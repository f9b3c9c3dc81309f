//! The words that a model meant: small models think aloud, label and quote.

use std::sync::LazyLock;

use regex::Regex;

/// The longest rewritten question, in characters: a question that can be understood alone is a sentence or two.
const LONGEST: usize = 400;

#[expect(clippy::expect_used, reason = "the pattern is a constant; the tests compile it")]
static LABEL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)^[\s*_#>`-]*(?:(?:here is |here's )?(?:the |my )?(?:rewritten|standalone|self-contained|search|hypothetical)?\s*",
        r"(?:query|question|message|answer|sentence|note|output|result|rewrite|rewritten))\s*[*_]*\s*[:：]\s*[*_]*",
    ))
    .expect("a constant pattern compiles")
});

/// The words, without labels and quotes around them; none where nothing is left, or too much.
pub(super) fn of(answer: &str) -> Option<String> {
    let lines = without_thoughts(answer)
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.trim().starts_with("```"));
    // The label may have a line of its own.
    let line = lines
        .map(|line| LABEL.replace(line, ""))
        .find(|line| line.chars().any(char::is_alphanumeric))?;
    let around = |c: char| c.is_whitespace() || "\"'`*_“”„«»「」『』".contains(c);
    let words = line.trim_matches(around);
    let fits = words.chars().any(char::is_alphanumeric) && words.chars().nth(LONGEST).is_none();
    fits.then(|| words.to_owned())
}

/// The answer of a model without its thinking.
pub(super) fn without_thoughts(answer: &str) -> &str {
    // A server that takes the beginning of a thought away leaves its end.
    let said = answer.rsplit_once("</think>").map_or(answer, |(_, said)| said);
    // A thought that was cut off is all there is.
    said.split("<think>").next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_labels_and_quotes_are_no_words() {
        for answer in [
            "What is the budget for Hawaii?",
            "\"What is the budget for Hawaii?\"",
            "<think>The user wants…\n\nHm.</think>\n\nWhat is the budget for Hawaii?",
            "The user wants…</think>What is the budget for Hawaii?",
            "Rewritten query: \"What is the budget for Hawaii?\"",
            "**Rewritten question:** What is the budget for Hawaii?\n\nI kept the language.",
            "Here is the rewritten question:\n“What is the budget for Hawaii?”",
            "```\nWhat is the budget for Hawaii?\n```",
        ] {
            assert_eq!(of(answer).as_deref(), Some("What is the budget for Hawaii?"), "{answer}");
        }
        assert_eq!(of("「夏威夷的预算是多少？」").as_deref(), Some("夏威夷的预算是多少？"));
        assert_eq!(of("My question: is it red?").as_deref(), Some("is it red?"));
        assert_eq!(of("User's budget: $10,000").as_deref(), Some("User's budget: $10,000"));
    }

    #[test]
    fn of_nothing_and_of_too_much_there_are_no_words() {
        for answer in
            ["", "  \n", "<think>cut off", "<think></think>", "\"\"", "…", &"word ".repeat(200)]
        {
            assert_eq!(of(answer), None, "{answer}");
        }
    }
}
