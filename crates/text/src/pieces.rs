//! A message in pieces that can be judged and kept alone.

use crate::sentences::sentences;

/// The most sentences that are looked at: more is pasted text.
const MOST: usize = 32;

/// What parts a clause from the next.
const BETWEEN: [char; 9] = [',', ';', ':', '—', '–', '，', '、', '；', '：'];

/// The sentences of a message.
pub fn sentences_of(text: &str) -> Vec<&str> {
    let mut found = sentences(text);
    found.truncate(MOST);
    found
}

/// Of a question, what stands before its last clause: "I'm coeliac, what can I
/// eat?" tells something before it asks. `None` when that is nothing.
pub fn told_before_asking(sentence: &str) -> Option<&str> {
    let last = [sentence.rfind(BETWEEN), sentence.rfind(" - "), opening(sentence)];
    let at = last.into_iter().flatten().max()?;
    let (before, asking) = sentence.split_at(at);
    let before = before.trim_end_matches(BETWEEN).trim_end_matches([' ', '-']);
    let before = before.trim_end_matches(BETWEEN).trim();
    (!before.is_empty() && asking.contains(['?', '？', '؟'])).then_some(before)
}

/// Where Spanish begins to ask.
fn opening(sentence: &str) -> Option<usize> {
    sentence.rfind('¿').filter(|at| *at > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_before_a_question_stands_alone() {
        for (sentence, told) in [
            ("I'm coeliac, what can I eat?", Some("I'm coeliac")),
            ("Soy celíaco ¿qué pan compro?", Some("Soy celíaco")),
            ("我吃素五年了，早餐吃什么好？", Some("我吃素五年了")),
            ("we've two kids - which car?", Some("we've two kids")),
            ("What can I eat?", None),
            ("¿Qué pan compro?", None),
            ("I'm coeliac, sadly.", None),
        ] {
            assert_eq!(told_before_asking(sentence), told, "{sentence}");
        }
    }
}
