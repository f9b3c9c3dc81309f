//! The memories that say a text, and their outcome in a request.

use std::collections::HashSet;

use crate::api::{WhyView, views::outcome};
use memgate_core::memory::{Memory, MemoryId};
use memgate_recall::{Cut, RecallRecord, Standing};
use memgate_text::index::token_set;

/// The share of the text's words that a memory must hold to say it. Below it, memories on the same topic say it, too.
const SAME: f32 = 0.7;

/// The outcome of these memories in a request, and the place of the one that it is about: one that is presented, else one that
/// was found.
pub(super) fn in_request(record: &RecallRecord, ids: &[MemoryId]) -> (usize, WhyView) {
    let candidates =
        ids.iter().enumerate().filter_map(|(at, id)| Some((at, record.candidate(id)?)));
    // What was collapsed into another memory says less about why than what became of that.
    let rank = |standing: Standing| match standing {
        Standing::Presented | Standing::Preference => 0,
        Standing::Cut(Cut::Collapsed) => 2,
        Standing::Cut(_) => 1,
    };
    let found = candidates.min_by_key(|(_, candidate)| rank(candidate.standing));
    let candidate = found.map(|(_, candidate)| candidate);
    let (result, reason) = match candidate.map(|it| it.standing) {
        Some(Standing::Presented | Standing::Preference) => ("presented", None),
        Some(standing @ Standing::Cut(_)) => ("cut", Some(outcome(standing))),
        None if record.decision == "searched" => ("not_found", None),
        None => ("not_searched", Some(&*record.decision)),
    };
    let view = WhyView {
        reason: reason.map(str::to_owned),
        request_id: Some(record.request_id.clone()),
        score: candidate.and_then(|it| it.score),
        threshold: Some(record.threshold),
        ..answer(result)
    };
    (found.map_or(0, |(at, _)| at), view)
}

/// An answer and nothing else.
pub(super) fn answer(answer: &str) -> WhyView {
    WhyView {
        answer: answer.to_owned(),
        reason: None,
        memory: None,
        request_id: None,
        score: None,
        threshold: None,
        turns: Vec::new(),
    }
}

/// The memories that hold nearly all of a text's words and all of its numbers, the best first; of equals the one that says
/// least besides.
pub(super) fn those_saying(memories: impl Iterator<Item = Memory>, text: &str) -> Vec<Memory> {
    let wanted: HashSet<String> = token_set(text);
    let is_number = |word: &&String| word.contains(char::is_numeric);
    let held = |memory: &Memory| {
        let words = token_set(&memory.text());
        // The same sentence with another number says another thing.
        let has_numbers = wanted.iter().filter(is_number).all(|number| words.contains(number));
        let held = wanted.intersection(&words).count() as f32 / wanted.len().max(1) as f32;
        has_numbers.then_some((held, words.len()))
    };
    let ranked = memories.filter_map(|memory| Some((held(&memory)?, memory)));
    let mut saying: Vec<_> = ranked.filter(|((held, _), _)| *held >= SAME).collect();
    saying.sort_by(|((a, more), _), ((b, less), _)| b.total_cmp(a).then_with(|| more.cmp(less)));
    saying.into_iter().map(|(_, memory)| memory).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use memgate_core::memory::{MemoryType, Owner, Source};

    #[test]
    fn a_memory_with_another_number_says_another_thing() {
        let memory = |content: &str| {
            let (owner, kind) = (Owner::of_user("u").unwrap(), MemoryType::new("semantic"));
            let (id, source) = (MemoryId::derived(&[content]), Source::ExplicitUserInput);
            Memory::new(id, owner, kind, content, source, jiff::Timestamp::UNIX_EPOCH)
        };
        let (old, new) = ("My budget for the trip is $10,000", "My budget for the trip is $12,000");
        let all = || [memory(old), memory(new)].into_iter();
        let saying = |text: &str| {
            let saying = those_saying(all(), text).into_iter();
            saying.map(|memory| memory.content).collect::<Vec<_>>()
        };
        assert_eq!(saying("the budget for my trip is $10,000"), [old]);
        assert_eq!(saying("my budget for the trip"), [old, new]);
    }
}
