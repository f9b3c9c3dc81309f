//! The result of the ordinary conversations, by rows and by language.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{figures::Figures, row::Story};
use crate::{
    count::{Count, percent, share},
    data::Digests,
    table::Sheet,
};

/// The rows of a file that are measured, by the number of their id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Rows {
    Even,
    Odd,
    All,
}

impl Rows {
    pub(super) fn hold(self, story: &Story) -> bool {
        match self {
            Self::Even => story.is_even(),
            Self::Odd => !story.is_even(),
            Self::All => true,
        }
    }
}

/// The result, as `--json` prints it.
#[derive(Debug, Serialize)]
pub struct Report {
    #[serde(flatten)]
    digests: Digests,
    /// By name of the rows.
    rows: BTreeMap<&'static str, Group>,
    /// One story in detail, where it is asked for.
    #[serde(skip)]
    shown: Option<String>,
}

#[derive(Debug, Default, Serialize)]
struct Group {
    #[serde(flatten)]
    all: Figures,
    by_lang: BTreeMap<String, Figures>,
}

impl Group {
    fn of<'a>(results: impl Iterator<Item = &'a (&'a Story, Figures)>) -> Self {
        let mut group = Self::default();
        for (story, figures) in results {
            group.all.add(figures);
            group.by_lang.entry(story.lang.clone()).or_default().add(figures);
        }
        group
    }
}

impl Report {
    /// Over the rows that were measured, and over the even and the odd ones of them.
    pub(super) fn of(rows: Rows, results: &[(&Story, Figures)], digests: Digests) -> Self {
        let sets: &[(&str, Rows)] = match rows {
            Rows::Even => &[("even", Rows::Even)],
            Rows::Odd => &[("odd", Rows::Odd)],
            Rows::All => &[("even", Rows::Even), ("odd", Rows::Odd), ("all", Rows::All)],
        };
        let group = |rows: Rows| Group::of(results.iter().filter(|(story, _)| rows.hold(story)));
        let rows = sets.iter().map(|(name, rows)| (*name, group(*rows))).collect();
        Self { digests, rows, shown: None }
    }

    /// One story in detail instead of figures.
    pub(super) fn of_story(shown: String, digests: Digests) -> Self {
        Self { digests, rows: BTreeMap::new(), shown: Some(shown) }
    }

    pub(super) fn text(&self) -> String {
        if let Some(shown) = &self.shown {
            return shown.clone();
        }
        let mut sheet = Sheet::of(&self.digests);
        for (name, group) in &self.rows {
            told(&mut sheet, name, group);
            by_lang(&mut sheet, group);
        }
        sheet.end()
    }
}

fn told(sheet: &mut Sheet, name: &str, group: &Group) {
    let Figures { stories, sessions, store, asks } = &group.all;
    let a_session = |number| share(number, *sessions).unwrap_or(0.0);
    let line = |name: &str, count: Count| (name.to_owned(), count);
    let mut counts = vec![line("fact recall", store.fact_recall)];
    let kinds = &store.fact_recall_by_kind;
    counts.extend(kinds.iter().map(|(kind, count)| (format!("  {}", kind.name()), *count)));
    counts.extend([
        line("facts in any memory", store.held),
        line("junk share", store.junk),
        line("fragments", store.fragments),
        line("past shown as active", store.past_active),
        line("forgotten kept", store.forgotten_kept),
        line("duplicates", store.duplicates),
        line("context recall", asks.context_recall),
        line("context precision by line", asks.precision),
        line("must_not shown", asks.must_not_shown),
        line("silence kept", asks.silence_kept),
        line("  with an empty context", asks.silence_empty),
        line("  shown what is not clean", asks.unrelated_shown),
        line("duplicates in context", asks.duplicates),
        line("raw-turn lines", asks.raw_turns),
    ]);
    sheet.counts(&format!("{name} rows: {stories} stories, {sessions} sessions"), counts);
    sheet.line(format_args!(
        "clean memories {} ({:.2} a session)\n\
         not clean, a session: turns {:.2}, summaries {:.2}, contributed {:.2}, long {:.2}",
        store.clean,
        a_session(store.clean),
        a_session(store.turns),
        a_session(store.summaries),
        a_session(store.contributed),
        a_session(store.long),
    ));
    let tokens = |pair: Option<[f64; 2]>| match pair {
        Some([mean, p95]) => format!("mean {mean:.0}, p95 {p95:.0}"),
        None => "-".to_owned(),
    };
    sheet.line(format_args!(
        "tokens (characters / 4) per context: {}; over all questions: {}",
        tokens(asks.tokens.with_context()),
        tokens(asks.tokens.over_all()),
    ));
}

/// A table with a line for each language.
fn by_lang(sheet: &mut Sheet, group: &Group) {
    let row = |(lang, figures): (&String, &Figures)| {
        let Figures { stories, store, asks, .. } = figures;
        let of = |count: Count| percent(count.share());
        [
            lang.clone(),
            stories.to_string(),
            of(store.fact_recall),
            of(store.junk),
            of(store.fragments),
            of(store.past_active),
            of(asks.context_recall),
            of(asks.precision),
            of(asks.must_not_shown),
            of(asks.silence_kept),
        ]
    };
    let head = [
        "",
        "stories",
        "facts",
        "junk",
        "fragm.",
        "past",
        "recall",
        "precision",
        "must_not",
        "silence",
    ];
    sheet.table(head, group.by_lang.iter().map(row));
}
