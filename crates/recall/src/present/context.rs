//! The context: the text put before the model. First the user's preferences, then one line a hit, within a budget of
//! tokens. `memory::fence` writes the fence around them.

use std::sync::LazyLock;

use jiff::{Timestamp, tz::TimeZone};

use crate::{
    decision::Skip,
    hit::{Hit, PresentedMemory, Why},
    present::{line, snippet::Wanted},
    request::Budget,
    text::tokens::tokens,
};
use memgate_core::{
    fence,
    memory::{Memory, MemoryId, Owner, PreferenceInForce},
};

/// Characters of one memory that are shown; a turn with a pasted document must
/// not push out everything else.
const MAX_MEMORY_CHARS: usize = 1_200;
/// A memory is cut to fit where there is room for this many tokens of it, about three sentences; else a shorter one
/// behind it may fit.
const LEAST_PART: usize = 64;

/// Tokens of the fence and its words around the lines, without preferences and with.
static FENCE: LazyLock<[usize; 2]> =
    LazyLock::new(|| [tokens(&fence::render(&[], &[""])), tokens(&fence::render(&[""], &[]))]);

/// The content of a context.
#[derive(Clone, Copy, Debug)]
pub struct ContextContent<'a> {
    /// The user's preferences, the newest first.
    pub preferences: &'a [PreferenceInForce],
    /// The user's wishes about every answer, the newest first.
    pub wishes: &'a [Memory],
    /// The selected hits, best first.
    pub hits: &'a [Hit],
    /// The query that they were found for.
    pub query: &'a str,
    /// The time of asking.
    pub now: Timestamp,
    /// The user's time zone.
    pub zone: &'a TimeZone,
}

/// The context for one ask.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context {
    /// The fenced text; empty when nothing is presented.
    pub text: String,
    /// The memories in it, in their order.
    pub shown: Vec<MemoryId>,
    /// Why each of them is there.
    pub scores: Vec<PresentedMemory>,
    /// Those of them that others share.
    pub shared: Vec<Shared>,
    /// Number of them that belong to another project than the request.
    pub cross_project: usize,
    /// Why memory was not searched, where at most preferences are presented.
    pub skipped: Option<Skip>,
}

/// A memory that others share, as it is presented.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// Its owner.
    pub owner: Owner,
    /// Its id.
    pub id: MemoryId,
    /// The version that is presented.
    pub version: u32,
}

impl Context {
    /// The number of memories that were found and are presented; preferences do not count.
    #[must_use]
    pub fn hits(&self) -> usize {
        self.scores.iter().filter(|it| matches!(it.why, Why::Found { .. })).count()
    }

    /// No context, because memory was not searched.
    pub(crate) fn skipped(why: Skip) -> Self {
        Self { skipped: Some(why), ..Self::default() }
    }
}

/// Writes a context: preferences first, then hits. The best hits are chosen first; of those chosen, those that are over or
/// may be come last. The first hit is always shown, cut if it must be; a preference is shown whole or not at all. What
/// others share gets the room that the user's own hits leave.
#[must_use]
pub fn write(content: &ContextContent<'_>, budget: Budget) -> Context {
    write_apart(content, budget).0
}

/// As [`write`]; returns also the hits that are shown, best first.
pub(crate) fn write_apart<'a>(
    content: &ContextContent<'a>,
    budget: Budget,
) -> (Context, Vec<&'a Hit>) {
    let mut standing = budget.standing;
    let (preferences, wanted): (Vec<&MemoryId>, Vec<String>) =
        chosen_preferences(content.preferences, &mut standing).unzip();
    let fence = FENCE[usize::from(!wanted.is_empty())];
    let wishes = chosen_wishes(content, standing);
    let hits = chosen_hits(content, budget.context.saturating_sub(fence));
    let chosen: Vec<&Hit> = hits.iter().map(|(hit, _)| *hit).collect();
    let ended = |hit: &Hit| {
        let memory = &hit.memory;
        memory.valid_until.is_some_and(|until| until <= content.now)
            || memory.may_have_changed().is_some()
    };
    let (past, current): (Vec<_>, Vec<_>) = hits.into_iter().partition(|(hit, _)| ended(hit));
    let (found, lines): (Vec<&MemoryId>, Vec<String>) =
        current.into_iter().chain(past).map(|(hit, line)| (&hit.memory.id, line)).unzip();
    let (wishes, mut shown_lines): (Vec<&MemoryId>, Vec<String>) = wishes.into_iter().unzip();
    shown_lines.extend(lines);
    let known: Vec<MemoryId> = preferences.into_iter().chain(wishes).cloned().collect();
    let context = Context {
        text: fence::render(&wanted, &shown_lines),
        scores: presented(&known, &chosen),
        shown: known.into_iter().chain(found.into_iter().cloned()).collect(),
        shared: chosen.iter().copied().filter_map(Shared::of).collect(),
        cross_project: 0,
        skipped: None,
    };
    (context, chosen)
}

/// Why each memory is there: the preferences and wishes, then the hits, best first.
fn presented(known: &[MemoryId], found: &[&Hit]) -> Vec<PresentedMemory> {
    let known = known.iter().map(|id| PresentedMemory { id: id.clone(), why: Why::Preference });
    let found = found.iter().map(|hit| PresentedMemory {
        id: hit.memory.id.clone(),
        why: Why::Found { scope: hit.scope, score: hit.score, breakdown: Box::new(hit.breakdown) },
    });
    known.chain(found).collect()
}

impl Shared {
    /// A hit that is not the user's own.
    fn of(hit: &Hit) -> Option<Self> {
        let Memory { owner, id, version, .. } = &hit.memory;
        (!hit.scope.is_own()).then(|| Self {
            owner: owner.clone(),
            id: id.clone(),
            version: *version,
        })
    }
}

/// The newest preferences that there is room for.
fn chosen_preferences<'p, 'l>(
    preferences: &'p [PreferenceInForce],
    left: &'l mut usize,
) -> impl Iterator<Item = (&'p MemoryId, String)> + use<'p, 'l> {
    preferences.iter().filter_map(move |preference| {
        let line = line::preference(&preference.preference);
        *left = left.checked_sub(cost(&line))?;
        Some((&preference.id, line))
    })
}

/// The newest wishes about every answer that there is room for beside the preferences.
fn chosen_wishes<'a>(content: &ContextContent<'a>, mut left: usize) -> Vec<(&'a MemoryId, String)> {
    let lines = content.wishes.iter().filter_map(|wish| {
        let line = line::said(wish, content.zone);
        left = left.checked_sub(cost(&line))?;
        Some((&wish.id, line))
    });
    lines.collect()
}

/// The best hits that there is room for, the user's own before what others share; best first.
fn chosen_hits<'a>(content: &ContextContent<'a>, mut left: usize) -> Vec<(&'a Hit, String)> {
    let mut chosen = Vec::new();
    if content.hits.is_empty() {
        return Vec::new();
    }
    let wanted = Wanted::by(content.query);
    let (own, shared): (Vec<_>, Vec<_>) =
        content.hits.iter().enumerate().partition(|(_, hit)| hit.scope.is_own());
    for (place, hit) in own.into_iter().chain(shared) {
        let whole = line::line(hit, &wanted, content.zone, MAX_MEMORY_CHARS);
        let whole_cost = cost(&whole);
        let line = if whole_cost <= left {
            Some(whole)
        } else if left >= LEAST_PART {
            in_part(hit, &wanted, content.zone, whole, left)
        } else if chosen.is_empty() {
            Some(beginning(&whole, left))
        } else {
            None
        };
        if let Some(line) = line {
            left = left.saturating_sub(cost(&line));
            chosen.push((place, hit, line));
        }
    }
    chosen.sort_by_key(|(place, ..)| *place);
    chosen.into_iter().map(|(_, hit, line)| (hit, line)).collect()
}

/// A hit's line, with less and less of its content until it fits.
fn in_part(
    hit: &Hit,
    wanted: &Wanted,
    zone: &TimeZone,
    mut line: String,
    max_tokens: usize,
) -> Option<String> {
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
        line = line::line(hit, wanted, zone, chars);
    }
}

/// Tokens of a line in the context. No token reaches over its end, so lines add up.
fn cost(line: &str) -> usize {
    tokens(&format!("- {line}\n"))
}

/// The beginning of a line, in at most this many tokens.
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
