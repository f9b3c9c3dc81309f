//! The lines of one question's context, compared with its labels.

use std::collections::BTreeSet;

use super::{
    alone::says_over,
    play::{Answer, Line},
    row::{Ask, Story},
};
use memgate_core::memory::MemoryKind;

/// A line of a context.
#[derive(Debug)]
pub(super) struct JudgedLine {
    /// Whether it helps with the question.
    pub(super) relevant: bool,
    /// Whether it shows as current what must not be.
    pub(super) wrong: bool,
    /// Whether it holds the same facts as an earlier line.
    pub(super) repeats: bool,
    pub(super) is_turn: bool,
    /// Whether it is neither a statement nor a preference.
    pub(super) is_unclean: bool,
}

/// A question's context.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) lines: Vec<JudgedLine>,
    /// For each wanted item, whether a relevant line holds it.
    pub(super) met: Vec<bool>,
}

impl Judged {
    pub(super) fn of(story: &Story, ask: &Ask, answer: &Answer) -> Self {
        let mut seen: BTreeSet<BTreeSet<usize>> = BTreeSet::new();
        let lines: Vec<JudgedLine> = answer
            .lines
            .iter()
            .map(|line| {
                let facts = line.content().facts(&story.facts);
                let is = |kind| line.kind == Some(kind);
                JudgedLine {
                    relevant: line.content().holds_one(&ask.relevant),
                    wrong: is_wrong(story, ask, line),
                    repeats: !facts.is_empty() && !seen.insert(facts),
                    is_turn: is(MemoryKind::Turn),
                    is_unclean: !is(MemoryKind::Statement) && !is(MemoryKind::Preference),
                }
            })
            .collect();
        let met = |item: &Vec<String>| {
            let mut both = answer.lines.iter().zip(&lines);
            both.any(|(line, judged)| judged.relevant && line.marked().holds_any(item))
        };
        let met = ask.must.iter().map(met).collect();
        Self { lines, met }
    }
}

/// Whether a line shows what must not be shown, unless it answers the question or says that the matter is over.
fn is_wrong(story: &Story, ask: &Ask, line: &Line) -> bool {
    let over = || line.has_end() || says_over(line.words(), story.language());
    let meets = || ask.must.iter().any(|item| line.marked().holds_any(item));
    line.content().holds_any(&ask.must_not) && !meets() && !over()
}
