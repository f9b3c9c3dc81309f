//! Which memories say a text, and what became of them in a request.

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

/// The memories that hold nearly all of a text's words, the best first; of equals the one that says least besides.
pub(super) fn those_saying(memories: impl Iterator<Item = Memory>, text: &str) -> Vec<Memory> {
    let wanted: HashSet<String> = token_set(text);
    let held = |memory: &Memory| {
        let words = token_set(&memory.text());
        let held = wanted.intersection(&words).count() as f32 / wanted.len().max(1) as f32;
        (held, words.len())
    };
    let ranked = memories.map(|memory| (held(&memory), memory));
    let mut saying: Vec<_> = ranked.filter(|((held, _), _)| *held >= SAME).collect();
    saying.sort_by(|((a, more), _), ((b, less), _)| b.total_cmp(a).then_with(|| more.cmp(less)));
    saying.into_iter().map(|(_, memory)| memory).collect()
}
