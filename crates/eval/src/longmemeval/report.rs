//! The figures, by type of question.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{chats::Shown, messages::Rankings, question::Question};
use crate::{count::Count, data::Digests, table::Sheet};

/// Result of a question.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outcome {
    Ranked(Rankings),
    Shown(Shown),
}

/// The result, as `--json` prints it: by type of question.
#[derive(Debug, Serialize)]
pub struct Report {
    groups: BTreeMap<String, Figures>,
    #[serde(flatten)]
    digests: Digests,
}

#[derive(Debug, Default, Serialize)]
struct Figures {
    questions: usize,
    /// Stored as chats.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    counts: BTreeMap<&'static str, Count>,
    /// Stored as messages: means over the questions.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    means: BTreeMap<&'static str, f64>,
}

impl Report {
    pub(super) fn of(outcomes: &[(&Question, Outcome)], digests: Digests) -> Self {
        let mut groups: BTreeMap<String, Figures> = BTreeMap::new();
        for (question, outcome) in outcomes {
            let answerable = question.is_answerable();
            let names: &[&str] = match answerable {
                true => &["all", &question.kind],
                false => &["unanswerable"],
            };
            for &name in names {
                groups.entry(name.to_owned()).or_default().add(outcome, answerable);
            }
        }
        groups.values_mut().for_each(Figures::finish);
        Self { groups, digests }
    }

    pub(super) fn text(&self) -> String {
        let mut sheet = Sheet::of(&self.digests);
        for (name, figures) in &self.groups {
            let title = format!("{name}: {} questions", figures.questions);
            sheet.counts(&title, figures.counts.iter().map(|(what, count)| (*what, *count)));
            let means = figures.means.iter();
            let means = means.map(|(what, mean)| [(*what).to_owned(), format!("{mean:.3}")]);
            sheet.table([&title, "mean"], means);
        }
        sheet.end()
    }
}

impl Figures {
    fn add(&mut self, outcome: &Outcome, answerable: bool) {
        self.questions += 1;
        match outcome {
            Outcome::Ranked(it) => {
                for (messages, sessions, found) in [
                    ("messages @5", "all sessions @5", it.ours),
                    ("messages @5, cosine", "all sessions @5, cosine", it.cosine),
                    ("messages @5, BM25", "all sessions @5, BM25", it.bm25),
                ] {
                    *self.means.entry(messages).or_default() += found.messages;
                    *self.means.entry(sessions).or_default() += f64::from(found.all_sessions);
                }
            }
            Outcome::Shown(it) if answerable => {
                self.count("searched", it.searched);
                self.count("answer stored", it.is_stored);
                self.count("answer shown", it.answered);
                self.count("all sessions shown", it.all_sessions);
                self.mean("lines", it.lines);
                self.mean("tokens", it.tokens);
            }
            Outcome::Shown(it) => self.count("nothing shown", it.lines == 0),
        }
    }

    fn count(&mut self, name: &'static str, is: bool) {
        self.counts.entry(name).or_default().add(is);
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of lines and tokens")]
    fn mean(&mut self, name: &'static str, value: usize) {
        *self.means.entry(name).or_default() += value as f64;
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of questions")]
    fn finish(&mut self) {
        let questions = self.questions.max(1) as f64;
        self.means.values_mut().for_each(|sum| *sum /= questions);
    }
}
