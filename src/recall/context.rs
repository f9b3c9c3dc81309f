//! From hits to the text put before the model: what the user wants in every conversation, then one line a memory,
//! within a budget. `memory::fence` writes the fence.

use std::sync::LazyLock;

use jiff::Timestamp;

use super::{Hit, Skip, excerpt::Wanted, line, scored::Scored, tokens::tokens};
use crate::memory::{Memory, MemoryId, fence};

/// Characters of one memory that are shown; a turn with a pasted document must
/// not push out everything else.
const MAX_MEMORY_CHARS: usize = 1_200;
/// A memory is cut to fit where there is room for so many tokens of it, about three sentences; else a shorter one
/// behind it may fit.
const LEAST_PART: usize = 64;

/// Tokens of the fence and its words around the lines, without standing ones and with.
static FENCE: LazyLock<[usize; 2]> =
    LazyLock::new(|| [tokens(&fence::render(&[], &[""])), tokens(&fence::render(&[""], &[]))]);

/// How much may be presented, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Of the fence and of what was found; 64 or more.
    pub context: usize,
    /// Of what the user wants in every conversation, besides; 0: none of it.
    pub standing: usize,
}

/// What is to be presented.
#[derive(Clone, Copy, Debug)]
pub struct Presented<'a> {
    /// What the user wants in every conversation, the newest first.
    pub wishes: &'a [Memory],
    /// What was found, best first.
    pub hits: &'a [Hit],
    /// For which query.
    pub query: &'a str,
    /// The time of asking.
    pub now: Timestamp,
}

/// The context for one ask.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context {
    /// The fenced text; empty when nothing is presented.
    pub text: String,
    /// The memories in it, in their order.
    pub shown: Vec<MemoryId>,
    /// Why each of them is there.
    pub scores: Vec<Scored>,
    /// Why memory was not looked at, where only how the user wants to be answered was.
    pub skipped: Option<Skip>,
}

impl Context {
    /// Writes the context: wishes first, then hits. The best hits are chosen first; of those chosen, what holds no
    /// more comes last. The first hit is always shown, cut if it must be; a wish is shown whole or not at all.
    #[must_use]
    pub fn of(what: &Presented<'_>, budget: Budget) -> Self {
        let (wishes, standing): (Vec<&MemoryId>, Vec<String>) =
            chosen_wishes(what.wishes, budget.standing).unzip();
        let fence = FENCE[usize::from(!standing.is_empty())];
        let hits = chosen_hits(what, budget.context.saturating_sub(fence));
        let ended = |hit: &Hit| hit.memory.valid_until.is_some_and(|until| until <= what.now);
        let (past, current): (Vec<_>, Vec<_>) = hits.into_iter().partition(|(hit, _)| ended(hit));
        let (found, lines): (Vec<&MemoryId>, Vec<String>) =
            current.into_iter().chain(past).map(|(hit, line)| (&hit.memory.id, line)).unzip();
        Self {
            text: fence::render(&standing, &lines),
            shown: wishes.into_iter().chain(found).cloned().collect(),
            scores: Vec::new(),
            skipped: None,
        }
    }
}

/// The newest wishes that there is room for.
fn chosen_wishes(wishes: &[Memory], mut left: usize) -> impl Iterator<Item = (&MemoryId, String)> {
    wishes.iter().filter_map(move |wish| {
        // Four bytes are a token or more, but for runs of one character.
        if wish.content.len() > 16 * left {
            return None;
        }
        let line = line::wish(wish);
        left = left.checked_sub(cost(&line))?;
        Some((&wish.id, line))
    })
}

/// The best hits that there is room for.
fn chosen_hits<'a>(what: &Presented<'a>, mut left: usize) -> Vec<(&'a Hit, String)> {
    let mut chosen = Vec::new();
    if what.hits.is_empty() {
        return chosen;
    }
    let wanted = Wanted::by(what.query);
    for hit in what.hits {
        let whole = line::line(hit, &wanted, MAX_MEMORY_CHARS);
        let whole_cost = cost(&whole);
        let line = if whole_cost <= left {
            Some(whole)
        } else if left >= LEAST_PART {
            in_part(hit, &wanted, whole, left)
        } else if chosen.is_empty() {
            Some(beginning(&whole, left))
        } else {
            None
        };
        if let Some(line) = line {
            left = left.saturating_sub(cost(&line));
            chosen.push((hit, line));
        }
    }
    chosen
}

/// A hit's line, with less and less of its content until it fits.
fn in_part(hit: &Hit, wanted: &Wanted, mut line: String, max_tokens: usize) -> Option<String> {
    let mut chars = MAX_MEMORY_CHARS.min(line.chars().count());
    loop {
        let cost = cost(&line);
        if cost <= max_tokens {
            return Some(line);
        }
        // Each time a little less than what should fit: ends after a few times.
        chars = (chars * max_tokens / cost).saturating_sub(8);
        if chars == 0 {
            return None;
        }
        line = line::line(hit, wanted, chars);
    }
}

/// Tokens of a line as it stands in the context. No token reaches over its end, so lines add up.
fn cost(line: &str) -> usize {
    tokens(&format!("- {line}\n"))
}

/// The beginning of a line, in at most so many tokens.
fn beginning(line: &str, max_tokens: usize) -> String {
    let mut end = line.len();
    loop {
        let kept = format!("{}…", &line[..line.floor_char_boundary(end)]);
        let cost = cost(&kept);
        if cost <= max_tokens || end == 0 {
            return kept;
        }
        end = (end * max_tokens / cost).saturating_sub(1);
    }
}

#[cfg(test)]
mod tests;
