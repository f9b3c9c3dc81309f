//! The result of the ordinary conversations, by rows and by language.

use std::{collections::BTreeMap, fmt::Write as _};

use serde::Serialize;

use super::{figures::Figures, row::Story};
use crate::{
    count::Count,
    data::Digests,
    shares::{percent, share},
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
        let Digests { data_sha256, model_sha256 } = &self.digests;
        let mut text = format!(
            "data sha256  {data_sha256}\nmodel sha256 {model_sha256}\n\
             share, number and 95% interval (Wilson); tokens are characters / 4\n"
        );
        for (name, group) in &self.rows {
            _ = write!(text, "\n{}", told(name, group));
        }
        text.truncate(text.trim_end().len());
        text
    }
}

fn told(name: &str, group: &Group) -> String {
    let Figures { stories, sessions, store, asks } = &group.all;
    let a_session = |number| share(number, *sessions).unwrap_or(0.0);
    let mut text = format!(
        "{name} rows: {stories} stories, {sessions} sessions\n\
         clean memories {} ({:.2} a session)\n\
         not clean, a session: turns {:.2}, summaries {:.2}, contributed {:.2}, long {:.2}\n",
        store.clean,
        a_session(store.clean),
        a_session(store.turns),
        a_session(store.summaries),
        a_session(store.contributed),
        a_session(store.long),
    );
    let mut line = |name: &str, count: Count| _ = writeln!(text, "{name:<26} {}", count.told());
    line("fact recall", store.fact_recall);
    for (kind, count) in &store.fact_recall_by_kind {
        line(&format!("  {}", kind.name()), *count);
    }
    line("junk share", store.junk);
    line("fragments", store.fragments);
    line("past shown as active", store.past_active);
    line("forgotten kept", store.forgotten_kept);
    line("duplicates", store.duplicates);
    line("context recall", asks.context_recall);
    line("context precision by line", asks.precision);
    line("must_not shown", asks.must_not_shown);
    line("silence kept", asks.silence_kept);
    line("  with an empty context", asks.silence_empty);
    line("  shown what is not clean", asks.unrelated_shown);
    line("duplicates in context", asks.duplicates);
    line("raw-turn lines", asks.raw_turns);
    let tokens = |pair: Option<[f64; 2]>| match pair {
        Some([mean, p95]) => format!("mean {mean:.0}, p95 {p95:.0}"),
        None => "-".to_owned(),
    };
    _ = writeln!(text, "tokens per context         {}", tokens(asks.tokens.with_context()));
    _ = writeln!(text, "  over all questions       {}", tokens(asks.tokens.over_all()));
    text + &by_lang(group)
}

/// A table with a line for each language.
fn by_lang(group: &Group) -> String {
    let mut text = format!(
        "{:<5}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>10}{:>10}{:>8}\n",
        "",
        "stories",
        "facts",
        "junk",
        "fragm.",
        "past",
        "recall",
        "precision",
        "must_not",
        "silence"
    );
    for (lang, Figures { stories, store, asks, .. }) in &group.by_lang {
        let of = |count: Count| percent(count.share());
        _ = writeln!(
            text,
            "{lang:<5}{stories:>8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>10}{:>10}{:>8}",
            of(store.fact_recall),
            of(store.junk),
            of(store.fragments),
            of(store.past_active),
            of(asks.context_recall),
            of(asks.precision),
            of(asks.must_not_shown),
            of(asks.silence_kept),
        );
    }
    text
}
