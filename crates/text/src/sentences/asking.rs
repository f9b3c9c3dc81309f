//! Which sentences only ask. By rules, in the languages we claim; when in doubt a sentence tells something, and is kept.

use std::{collections::HashSet, sync::LazyLock};

use crate::{
    lang,
    sentences::{boundaries::is_end, sentences, words},
};

/// Words that ask, wherever they stand in a clause.
static ASKS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| lang::all(|file| &file.sentences.asking).collect());
/// Words that ask when they come first.
static ASKS_FIRST: LazyLock<HashSet<&str>> =
    LazyLock::new(|| lang::all(|file| &file.sentences.asking_first).collect());
/// Words a sentence may begin with before it asks or tells.
static LEADS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| lang::all(|file| &file.sentences.leading).collect());
/// Words with which a speaker tells of himself.
static TELLS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| lang::all(|file| &file.sentences.telling).collect());

/// Whether a text holds nothing but questions: nothing that could be kept.
pub fn only_asks(text: &str) -> bool {
    let sentences = sentences(text);
    !sentences.is_empty() && sentences.into_iter().all(asks)
}

/// The most words of a question without a verb that asks.
const SHORT_QUESTION: usize = 4;

/// Whether a sentence asks and tells nothing: the question is its last clause,
/// and no clause before tells anything.
fn asks(sentence: &str) -> bool {
    let marked = sentence.contains(['?', '？', '؟', '¿']);
    let clauses: Vec<&str> = sentence
        .split([',', ';', ':', '—', '–', '，', '、', '；', '：'])
        .filter(|clause| clause.chars().any(char::is_alphanumeric))
        .collect();
    let Some((last, before)) = clauses.split_last() else { return false };
    let asking = match marked {
        // "My dog's name?" begins like telling, and is too short to tell anything before it asks.
        true => !tells(last) || asks_somewhere(last) || words(last).len() <= SHORT_QUESTION,
        false => asks_plainly(last),
    };
    asking && before.iter().all(|clause| leads(clause) || asks_plainly(clause))
}

/// A clause before the question that tells nothing: "hey", a name that is
/// called, "for dinner". Nobody tells a fact in two words without naming himself.
fn leads(clause: &str) -> bool {
    let words = words(clause);
    words.iter().all(|word| LEADS.contains(word.as_str())) || (words.len() <= 2 && !tells(clause))
}

/// Whether the words alone show that a clause asks, without a question mark.
fn asks_plainly(clause: &str) -> bool {
    let bare = clause.trim().trim_end_matches(is_end);
    let first = words(bare).into_iter().find(|word| !LEADS.contains(word.as_str()));
    first.is_some_and(|word| ASKS.contains(&*word) || ASKS_FIRST.contains(&*word))
        || lang::all(|file| &file.sentences.asking_last).any(|end| bare.ends_with(end))
}

fn asks_somewhere(clause: &str) -> bool {
    words(clause).iter().any(|word| ASKS.contains(word.as_str()))
        || lang::all(|file| &file.sentences.asking_within).any(|part| clause.contains(part))
        || asks_plainly(clause)
}

/// Whether a clause begins with the speaker.
pub(crate) fn tells(clause: &str) -> bool {
    let first = words(clause).into_iter().find(|word| !LEADS.contains(word.as_str()));
    first.is_some_and(|word| TELLS.contains(word.as_str()))
        || lang::all(|file| &file.sentences.telling_first)
            .any(|start| clause.trim_start().starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_questions_are_known_in_every_language() {
        for text in [
            "What's my budget for the trip?",
            "what is my budget",
            "And the other one?",
            "Hey, when does my flight leave?",
            "Do I like olives? Which kind?",
            "My dog's name?",
            "So, um, how much was it",
            "Can you tell me where I parked?",
            "¿Cuál es mi presupuesto?",
            "Wie hoch ist mein Budget?",
            "Mon budget est de combien ?",
            "Qual é o meu orçamento?",
            "मेरा बजट क्या है?",
            "我的预算是多少？",
            "你知道我的预算吗",
            "私の予算はいくらですか？",
        ] {
            assert!(only_asks(text), "{text}");
        }
    }

    #[test]
    fn whatever_tells_something_is_more_than_a_question() {
        for text in [
            "What's my budget? I earn 3k",
            "I earn 3k, what can I afford?",
            "My flight is at 9, ok?",
            "I live in Lyon now. Any tips?",
            "My daughter is allergic to nuts, what should I cook?",
            "我对花生过敏，能吃这个吗？",
            "Ich bin Vegetarier, was kann ich kochen?",
            "Plan a trip to Rome",
            "Remember that my car is blue",
            "Book the table for four",
            "",
        ] {
            assert!(!only_asks(text), "{text}");
        }
    }
}
