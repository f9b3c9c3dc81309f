//! Counts requests that forget what they mean, and what else they take.

use std::{collections::BTreeMap, fmt::Write as _};

use serde::Serialize;

use crate::{count::Count, data::Digests};

/// The effect of one message.
#[derive(Debug)]
pub(super) struct Outcome<'a> {
    pub(super) id: &'a str,
    pub(super) lang: &'a str,
    pub(super) asked: &'a str,
    /// Told parts that it asks to forget; none where it only looks so.
    pub(super) forgets: Vec<&'a str>,
    /// Told parts that were held before it and are not any more.
    pub(super) gone: Vec<&'a str>,
}

impl Outcome<'_> {
    /// Parts that are left and should be gone.
    fn left(&self) -> impl Iterator<Item = &str> {
        self.forgets.iter().copied().filter(|part| !self.gone.contains(part))
    }

    /// Parts that are gone and should not be.
    fn lost(&self) -> impl Iterator<Item = &str> {
        self.gone.iter().copied().filter(|part| !self.forgets.contains(part))
    }

    fn is_right(&self) -> bool {
        self.left().next().is_none() && self.lost().next().is_none()
    }
}

/// The result, as `--json` prints it.
#[derive(Debug, PartialEq, Serialize)]
pub struct Report {
    /// Requests after which all that they mean is gone, and nothing else.
    requests_right: Count,
    /// Requests that are right, by language.
    requests_by_lang: BTreeMap<String, Count>,
    /// Parts to be forgotten that are gone.
    gone: Count,
    /// Parts gone after a request that should have stayed.
    gone_wrongly: Count,
    /// Messages that only look like a request and take nothing.
    others_right: Count,
    /// The wrong ones, with `--show`.
    shown: Vec<String>,
    #[serde(flatten)]
    digests: Digests,
}

impl Report {
    pub(super) fn of(outcomes: &[Outcome<'_>], show: bool, digests: Digests) -> Self {
        let mut report = Self {
            requests_right: Count::default(),
            requests_by_lang: BTreeMap::new(),
            gone: Count::default(),
            gone_wrongly: Count::default(),
            others_right: Count::default(),
            shown: Vec::new(),
            digests,
        };
        for outcome in outcomes {
            let right = outcome.is_right();
            if show && !right {
                let Outcome { id, asked, .. } = outcome;
                let (left, lost): (Vec<_>, Vec<_>) =
                    (outcome.left().collect(), outcome.lost().collect());
                report.shown.push(format!("{id}: {asked:?} leaves {left:?} and takes {lost:?}"));
            }
            if outcome.forgets.is_empty() {
                report.others_right.add(right);
                continue;
            }
            report.requests_right.add(right);
            report.requests_by_lang.entry(outcome.lang.to_owned()).or_default().add(right);
            for part in &outcome.forgets {
                report.gone.add(outcome.gone.contains(part));
            }
            for part in &outcome.gone {
                report.gone_wrongly.add(!outcome.forgets.contains(part));
            }
        }
        report
    }

    pub(super) fn told(&self) -> String {
        let Digests { data_sha256, model_sha256 } = &self.digests;
        let mut text = format!(
            "data sha256  {data_sha256}\nmodel sha256 {model_sha256}\n\n\
             requests right            {}\nto forget, and gone       {}\ngone, but not to forget   {}\n\
             others that take nothing  {}\n",
            self.requests_right.told(),
            self.gone.told(),
            self.gone_wrongly.told(),
            self.others_right.told(),
        );
        for (lang, count) in &self.requests_by_lang {
            _ = writeln!(text, "  requests right, {lang}: {} of {}", count.hits, count.of);
        }
        for line in &self.shown {
            _ = writeln!(text, "{line}");
        }
        text.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_right_when_all_of_it_and_nothing_else_is_gone() {
        let outcome = |forgets: &[&'static str], gone: &[&'static str]| Outcome {
            id: "r",
            lang: "en",
            asked: "forget it",
            forgets: forgets.to_vec(),
            gone: gone.to_vec(),
        };
        let outcomes = [
            outcome(&["a", "b"], &["a", "b"]),
            outcome(&["a", "b"], &["a"]),
            outcome(&["a"], &["a", "c"]),
            outcome(&[], &[]),
            outcome(&[], &["c"]),
        ];
        let report = Report::of(&outcomes, true, Digests::default());
        assert_eq!(report.requests_right, Count { hits: 1, of: 3 });
        assert_eq!(report.gone, Count { hits: 4, of: 5 });
        assert_eq!(report.gone_wrongly, Count { hits: 1, of: 5 });
        assert_eq!(report.others_right, Count { hits: 1, of: 2 });
        assert_eq!(report.shown.len(), 3);
    }
}
