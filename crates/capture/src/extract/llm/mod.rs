//! Facts out of turns, by the helper model with the role `memory_extraction`: asked once for all
//! that is to be known of them, and once more when its answer cannot be read.

mod answer;
mod dating;
mod fact;
mod particulars;
mod parts;
mod prompt;
mod redact;
mod support;

use answer::{Elements, State};
pub(crate) use dating::date;
use fact::{Evidence, Unfit};
pub(crate) use parts::{PART_BYTES, Shown, parts};

use crate::candidate::Candidate;
use memgate_embed::{
    client::RemoteError,
    llm::{Helper, LlmError, Message, Role},
};

/// The most candidates taken of one part. Fifteen turns hold a few; a model
/// that finds hundreds is repeating itself.
const MOST: usize = 50;

/// The most of its own answer that a model is shown again, in bytes.
const MAX_SHOWN_AGAIN: usize = 8 * 1024;

/// Content of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Found {
    pub(crate) candidates: Vec<Candidate>,
    /// Dropped: of a type that is not asked for.
    pub(crate) unknown_type: u64,
    /// Dropped: without content.
    pub(crate) unusable: u64,
    /// Dropped: not supported by what the user typed.
    pub(crate) unsupported: u64,
    /// Dropped: beyond the most that one part may give.
    pub(crate) too_many: u64,
    /// Lost: the one in which the answer broke off.
    pub(crate) broken_off: u64,
}

/// Why a part gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ExtractError {
    /// The model could not be asked, or did not answer.
    #[error(transparent)]
    Llm(LlmError),
    /// Its answer is not what it was asked for.
    #[error("the answer is {0}")]
    Malformed(&'static str),
}

/// Asks the model for the facts in a part of some turns. `known` are stored contents that the
/// user may have corrected.
pub(crate) async fn extract(
    helper: &Helper,
    part: &[Shown],
    known: &[String],
) -> Result<Found, ExtractError> {
    // A stored fact that only the assistant repeats is nothing new.
    let news: Vec<Shown> = part.iter().map(|shown| shown.without_repeats(known)).collect();
    let elements = ask(helper, &prompt::request(&news, known)).await?;
    Ok(candidates(&elements, &Evidence::of(part, known)))
}

async fn ask(helper: &Helper, request: &str) -> Result<Elements, ExtractError> {
    let mut messages = vec![
        Message { role: Role::System, content: prompt::INSTRUCTIONS },
        Message { role: Role::User, content: request },
    ];
    let (words, first) = words_and_elements(helper, &messages).await?;
    let reason = match &first {
        // More of it would be cut off again.
        Ok(elements) if elements.state != State::Garbled => return first.map_err(malformed),
        Ok(_) => "no valid JSON",
        Err(reason) => *reason,
    };
    tracing::debug!(reason, "the answer cannot be read, the model is asked once more");
    let complaint = prompt::complaint(reason);
    let words = &words[..words.floor_char_boundary(MAX_SHOWN_AGAIN)];
    if !words.is_empty() {
        messages.push(Message { role: Role::Assistant, content: words });
        messages.push(Message { role: Role::User, content: &complaint });
    }
    match (words_and_elements(helper, &messages).await, first) {
        (Ok((_, Ok(second))), Ok(first)) if second.items.len() < first.items.len() => Ok(first),
        (Ok((_, Ok(second))), _) => Ok(second),
        (_, Ok(first)) => Ok(first),
        (Ok((_, Err(reason))), Err(_)) => Err(malformed(reason)),
        (Err(error), Err(_)) => Err(error),
    }
}

/// Asks the model, and reads its answer. No completion at all is a malformed answer without words.
async fn words_and_elements(
    helper: &Helper,
    messages: &[Message<'_>],
) -> Result<(String, Result<Elements, &'static str>), ExtractError> {
    match helper.converse(messages, Some(&prompt::FORM)).await {
        Ok(said) => {
            let elements = answer::read(&said.text);
            Ok((said.text, elements))
        }
        Err(LlmError::Unreadable(_)) => Ok((String::new(), Err("no chat completion"))),
        Err(LlmError::Server(RemoteError::TooLarge { .. })) => Ok((String::new(), Err("too long"))),
        Err(error) => Err(ExtractError::Llm(error)),
    }
}

fn malformed(reason: &'static str) -> ExtractError {
    ExtractError::Malformed(reason)
}

fn candidates(elements: &Elements, evidence: &Evidence<'_>) -> Found {
    let mut found =
        Found { broken_off: u64::from(elements.state != State::Whole), ..Found::default() };
    for item in &elements.items {
        if found.candidates.len() == MOST {
            found.too_many += 1;
            continue;
        }
        match evidence.candidate(item) {
            Ok(candidate) if found.candidates.iter().any(|c| c.content == candidate.content) => {}
            Ok(candidate) => found.candidates.push(candidate),
            Err(Unfit::Type) => found.unknown_type += 1,
            Err(Unfit::Content) => found.unusable += 1,
            Err(Unfit::Unsupported) => found.unsupported += 1,
        }
    }
    found
}

/// Reads an answer as that of a helper model. Returns how many facts are taken and how many bytes they
/// have. For the fuzzer, which only sees what is public.
#[cfg(fuzzing)]
pub fn fuzz(answer: &str, said: &str, known: &[String]) -> (usize, usize) {
    let part = [Shown { date: String::new(), user: said.to_owned(), assistant: answer.to_owned() }];
    let found = answer::read(answer)
        .map(|elements| candidates(&elements, &Evidence::of(&part, known)).candidates)
        .unwrap_or_default();
    let bytes = found.iter().map(|c| c.content.len() + c.raw.as_ref().map_or(0, String::len));
    (found.len(), bytes.sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Found {
        let shown = Shown {
            date: String::new(),
            user: "Answers in German, with every fact.".to_owned(),
            assistant: String::new(),
        };
        candidates(&answer::read(text).unwrap(), &Evidence::of(&[shown], &[]))
    }

    #[test]
    fn elements_that_do_not_fit_are_dropped_and_counted() {
        let found = found(
            r#"[{"type":"episodic","content":"x"}, {"content":"x"}, 7,
                {"type":"Procedural","content":" Answers\n in German. "},
                {"type":"procedural","content":"Answers in German."},
                {"type":"semantic"}, {"type":"semantic","content":" "}, {"type":"#,
        );
        let kept = Candidate {
            memory_type: "procedural".into(),
            content: "Answers in German.".into(),
            ..Candidate::default()
        };
        let dropped = Found { unknown_type: 2, unusable: 2, broken_off: 1, ..Found::default() };
        assert_eq!(found, Found { candidates: vec![kept], ..dropped });
    }

    #[test]
    fn thousands_of_facts_are_cut_to_the_bound() {
        let fact = |n| format!("a fact {}", "x".repeat(n));
        let items: Vec<_> = (1..=1000)
            .map(|n| serde_json::json!({"type": "semantic", "content": fact(n)}))
            .collect();
        let found = found(&serde_json::Value::Array(items).to_string());
        assert_eq!((found.candidates.len(), found.too_many), (MOST, 1000 - MOST as u64));
    }
}
