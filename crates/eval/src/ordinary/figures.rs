//! The figures over the store and over the questions, summed over stories.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{
    judged::Judged,
    play::Played,
    row::{Kind, State, Story},
    stored::{Class, Stored},
};
use crate::count::{Count, Tokens};

/// All figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Figures {
    pub(super) stories: usize,
    pub(super) sessions: usize,
    pub(super) store: StoreFigures,
    pub(super) asks: AskFigures,
}

/// Figures over the store after the last session.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct StoreFigures {
    /// Active statements and preferences that are short.
    pub(super) clean: usize,
    /// Active statements and preferences that are long.
    pub(super) long: usize,
    pub(super) turns: usize,
    pub(super) summaries: usize,
    /// Memories of documents and imports.
    pub(super) contributed: usize,
    /// Facts that hold, found in a clean memory of few facts.
    pub(super) fact_recall: Count,
    pub(super) fact_recall_by_kind: BTreeMap<Kind, Count>,
    /// Facts that hold, found in any memory in use: in turns and answers, too.
    pub(super) held: Count,
    /// Clean memories that hold nothing labelled.
    pub(super) junk: Count,
    /// Clean memories that cannot be read alone.
    pub(super) fragments: Count,
    /// Facts that are over, in an active memory as if they held.
    pub(super) past_active: Count,
    /// Facts to forget, in an active memory or a turn.
    pub(super) forgotten_kept: Count,
    /// Active memories that hold the same facts as another one.
    pub(super) duplicates: Count,
}

/// Figures over the questions.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct AskFigures {
    /// Wanted items in a relevant line.
    pub(super) context_recall: Count,
    /// Lines that are relevant.
    pub(super) precision: Count,
    /// Questions with a line that must not be shown as current.
    pub(super) must_not_shown: Count,
    /// Questions that want silence, with relevant lines at most.
    pub(super) silence_kept: Count,
    /// Questions that want silence, without any line.
    pub(super) silence_empty: Count,
    /// Questions that want silence and are shown a turn, a summary or something contributed.
    pub(super) unrelated_shown: Count,
    /// Lines that hold the same facts as an earlier one.
    pub(super) duplicates: Count,
    /// Lines that are a stored turn.
    pub(super) raw_turns: Count,
    pub(super) tokens: Tokens,
}

/// A fact counts as found in a memory of at most so many.
const MOST_FACTS: usize = 3;

impl Figures {
    pub(super) fn of(story: &Story, played: &Played) -> Self {
        let memories: Vec<Stored<'_>> =
            played.memories.iter().map(|it| Stored::of(it, story, played.ended)).collect();
        Self {
            stories: 1,
            sessions: story.sessions.len(),
            store: StoreFigures::of(story, &memories),
            asks: AskFigures::of(story, played),
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.stories += other.stories;
        self.sessions += other.sessions;
        self.store.append(&other.store);
        self.asks.append(&other.asks);
    }
}

/// Whether a fact is found in one clean memory of few facts.
pub(super) fn is_found(fact: usize, memories: &[Stored<'_>]) -> bool {
    let mut few = memories.iter().filter(|it| it.is_clean() && it.facts.len() <= MOST_FACTS);
    few.any(|it| it.facts.contains(&fact))
}

/// Whether an active memory gives a fact that is over as if it held.
pub(super) fn is_shown_as_active(fact: usize, story: &Story, memories: &[Stored<'_>]) -> bool {
    let mut active = memories.iter().filter(|it| it.class.is_active());
    active.any(|it| it.facts.contains(&fact) && it.is_stale(story))
}

/// Whether an active memory or a turn holds a fact.
pub(super) fn is_kept(fact: usize, memories: &[Stored<'_>]) -> bool {
    let mut shown = memories.iter().filter(|it| it.class != Class::Inactive);
    shown.any(|it| it.facts.contains(&fact))
}

impl StoreFigures {
    fn of(story: &Story, memories: &[Stored<'_>]) -> Self {
        let number = |class| memories.iter().filter(|it| it.class == class).count();
        let mut figures = Self {
            clean: number(Class::Clean),
            long: number(Class::Long),
            turns: number(Class::Turn),
            summaries: number(Class::Summary),
            contributed: number(Class::Contributed),
            ..Self::default()
        };
        for (at, fact) in story.facts.iter().enumerate() {
            match fact.state {
                State::Now => {
                    let found = is_found(at, memories);
                    figures.fact_recall.add(found);
                    figures.held.add(is_kept(at, memories));
                    figures.fact_recall_by_kind.entry(fact.kind).or_default().add(found);
                }
                State::Past => figures.past_active.add(is_shown_as_active(at, story, memories)),
                State::Gone => figures.forgotten_kept.add(is_kept(at, memories)),
            }
        }
        for memory in memories.iter().filter(|it| it.is_clean()) {
            figures.junk.add(memory.is_junk());
            figures.fragments.add(memory.fragment.is_some());
        }
        let mut seen: BTreeSet<&BTreeSet<usize>> = BTreeSet::new();
        for memory in memories.iter().filter(|it| it.class.is_active()) {
            figures.duplicates.add(!memory.facts.is_empty() && !seen.insert(&memory.facts));
        }
        figures
    }

    fn append(&mut self, other: &Self) {
        self.clean += other.clean;
        self.long += other.long;
        self.turns += other.turns;
        self.summaries += other.summaries;
        self.contributed += other.contributed;
        self.fact_recall += other.fact_recall;
        self.held += other.held;
        for (kind, count) in &other.fact_recall_by_kind {
            *self.fact_recall_by_kind.entry(*kind).or_default() += *count;
        }
        self.junk += other.junk;
        self.fragments += other.fragments;
        self.past_active += other.past_active;
        self.forgotten_kept += other.forgotten_kept;
        self.duplicates += other.duplicates;
    }
}

impl AskFigures {
    fn of(story: &Story, played: &Played) -> Self {
        let mut figures = Self::default();
        for (ask, answer) in story.asks.iter().zip(&played.answers) {
            let judged = Judged::of(story, ask, answer);
            judged.met.iter().for_each(|met| figures.context_recall.add(*met));
            for line in &judged.lines {
                figures.precision.add(line.relevant);
                figures.duplicates.add(line.repeats);
                figures.raw_turns.add(line.is_turn);
            }
            figures.must_not_shown.add(judged.lines.iter().any(|line| line.wrong));
            if ask.want_silence {
                figures.silence_kept.add(judged.lines.iter().all(|line| line.relevant));
                figures.silence_empty.add(judged.lines.is_empty());
                figures.unrelated_shown.add(judged.lines.iter().any(|line| line.is_unclean));
            }
            figures.tokens.add(&answer.context);
        }
        figures
    }

    fn append(&mut self, other: &Self) {
        self.context_recall += other.context_recall;
        self.precision += other.precision;
        self.must_not_shown += other.must_not_shown;
        self.silence_kept += other.silence_kept;
        self.silence_empty += other.silence_empty;
        self.unrelated_shown += other.unrelated_shown;
        self.duplicates += other.duplicates;
        self.raw_turns += other.raw_turns;
        self.tokens.append(&other.tokens);
    }
}

#[cfg(test)]
mod tests;
