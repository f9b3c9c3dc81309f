//! Scores decisions against labels, with confidence intervals.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    count::{Count, share, wilson},
    data::Digests,
    signals::row::Row,
    table::Sheet,
};
use memgate_recall::{Decided, Decision};

/// The result, as `--json` prints it.
#[derive(Debug, PartialEq, Serialize)]
pub struct Report {
    /// Share of the messages decided as labelled.
    accuracy: Option<f64>,
    /// Share of the personal messages where memory could help that were skipped.
    personal_skipped: Option<f64>,
    /// 95% intervals (Wilson) of both.
    accuracy_interval: Option<[f64; 2]>,
    personal_skipped_interval: Option<[f64; 2]>,
    counts: Counts,
    /// By language of the message.
    by_lang: BTreeMap<String, Counts>,
    /// By the label `signal`.
    by_signal: BTreeMap<String, Counts>,
    /// By source of the decision.
    by_decider: BTreeMap<String, Counts>,
    /// Ids of the rows decided differently from their label.
    errors: Vec<String>,
    #[serde(flatten)]
    digests: Digests,
    /// Digest of the decision model.
    weights_sha256: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct Counts {
    rows: usize,
    /// Searched, and memory could help.
    searched_rightly: usize,
    /// Searched although memory could not help: the cost is a search.
    searched_needlessly: usize,
    /// Skipped, and memory could not help.
    skipped_rightly: usize,
    /// Skipped although memory could help: the cost is the answer.
    skipped_wrongly: usize,
    /// Personal, and memory could help.
    personal: usize,
    /// Number of these that were skipped.
    personal_skipped: usize,
}

impl Counts {
    fn add(&mut self, row: &Row, searched: bool) {
        self.rows += 1;
        *match (searched, row.search) {
            (true, true) => &mut self.searched_rightly,
            (true, false) => &mut self.searched_needlessly,
            (false, false) => &mut self.skipped_rightly,
            (false, true) => &mut self.skipped_wrongly,
        } += 1;
        if row.personal && row.search {
            self.personal += 1;
            self.personal_skipped += usize::from(!searched);
        }
    }

    fn right(&self) -> usize {
        self.searched_rightly + self.skipped_rightly
    }

    /// Its line of a table.
    fn line(&self, name: &str) -> [String; 4] {
        let agreement = Count { hits: self.right(), of: self.rows };
        let skipped = Count { hits: self.personal_skipped, of: self.personal };
        [name.to_owned(), self.rows.to_string(), agreement.told(), skipped.told()]
    }
}

impl Report {
    pub(super) fn of(
        rows: &[Row],
        decided: &[Decided],
        digests: Digests,
        weights_sha256: String,
    ) -> Self {
        let mut counts = Counts::default();
        let mut groups = [(); 3].map(|()| BTreeMap::<String, Counts>::new());
        let mut errors = Vec::new();
        for (row, decided) in rows.iter().zip(decided) {
            let searched = decided.decision == Decision::Search;
            counts.add(row, searched);
            let names = [&*row.lang, &*row.signal, decided.by.as_str()];
            for (group, name) in groups.iter_mut().zip(names) {
                group.entry(name.to_owned()).or_default().add(row, searched);
            }
            if searched != row.search {
                errors.push(row.id.clone());
            }
        }
        let [by_lang, by_signal, by_decider] = groups;
        Self {
            accuracy: share(counts.right(), counts.rows),
            personal_skipped: share(counts.personal_skipped, counts.personal),
            accuracy_interval: wilson(counts.right(), counts.rows),
            personal_skipped_interval: wilson(counts.personal_skipped, counts.personal),
            counts,
            by_lang,
            by_signal,
            by_decider,
            errors,
            digests,
            weights_sha256,
        }
    }

    /// The result as text.
    pub(super) fn told(&self) -> String {
        let mut sheet = Sheet::of(&self.digests);
        sheet.line(format_args!("weights sha256 {}", self.weights_sha256));
        let counts = &self.counts;
        let groups =
            [("language", &self.by_lang), ("signal", &self.by_signal), ("by", &self.by_decider)];
        let head = |title| [title, "rows", "agreement", "personal skipped"];
        sheet.table(head(""), [counts.line("all")]);
        sheet.line(format_args!(
            "searched correctly {}, needlessly {}; skipped correctly {}, wrongly {}",
            counts.searched_rightly,
            counts.searched_needlessly,
            counts.skipped_rightly,
            counts.skipped_wrongly,
        ));
        for (title, group) in groups {
            sheet.table(head(title), group.iter().map(|(name, counts)| counts.line(name)));
        }
        sheet.errors(&self.errors);
        sheet.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{self, Labelled};
    use memgate_embed::{Embedder, deterministic::DeterministicEmbedder};
    use memgate_models::Models;
    use memgate_recall::{decide, signals::Earlier};

    fn row(id: &str, text: &str, personal: bool, search: bool) -> Row {
        let value = serde_json::json!({
            "id": id, "lang": "en", "text": text, "signal": "none",
            "personal": personal, "search": search,
        });
        serde_json::from_value(value).unwrap()
    }

    /// The decisions without an embedding model.
    fn report(rows: &[Row]) -> Report {
        let models = Models::for_embedder(DeterministicEmbedder::new(8).space()).unwrap();
        let decided = |row: &Row| decide(&row.message(&Earlier::SILENT), &models);
        let decided: Vec<_> = rows.iter().map(decided).collect();
        Report::of(rows, &decided, Digests::default(), String::new())
    }

    #[test]
    fn counts_agreement_by_group() {
        let report = report(&[
            row("a", "hello!", false, false),
            row("b", "What's my budget for the trip to Rome?", true, true),
            row("c", "When does my sister arrive on Sunday?", false, false),
            row("d", "thanks", true, true),
        ]);
        let counts = Counts {
            rows: 4,
            searched_rightly: 1,
            searched_needlessly: 1,
            skipped_rightly: 1,
            skipped_wrongly: 1,
            personal: 2,
            personal_skipped: 1,
        };
        assert_eq!(report.counts, counts);
        assert_eq!((report.accuracy, report.personal_skipped), (Some(0.5), Some(0.5)));
        assert_eq!(report.errors, ["c", "d"]);
        assert_eq!(report.by_lang["en"], counts);
        assert_eq!(report.by_decider["rule"].rows, 2);
        assert!(report.told().contains("50.0% 1/2 [9.5, 90.5]"));
    }

    #[test]
    fn without_personal_messages_there_is_no_share() {
        let report = report(&[row("a", "hello!", false, false)]);
        assert_eq!(report.personal_skipped_interval, None);
        let told = report.told();
        assert!(told.contains("100.0% 1/1 [20.7, 100.0]") && told.contains("- 0/0"), "{told}");
    }

    #[test]
    fn reports_unknown_labels_and_accepts_missing_ones() {
        let of = |lang: &str, signal: &str| {
            let (lang, signal) = (lang.into(), signal.into());
            Row { lang, signal, ..row("a", "?", true, true) }.wrong()
        };
        assert_eq!((of("en", "tool"), of("", "")), (None, None));
        assert!(
            of("en", "tools").is_some_and(|told| told.starts_with("signal: \"tools\" is not one"))
        );
        assert!(of("english", "tool").is_some_and(|told| told.starts_with("lang: ")));
    }

    /// Each label has the text of another message, as a broken classifier would see it.
    #[test]
    fn a_broken_classifier_shows_in_the_results() {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../testdata/signals/everyday.jsonl");
        let (rows, _) = data::rows::<Row>(&file).unwrap();
        let right = report(&rows).accuracy.unwrap();
        assert!(right > 0.8, "{right}");
        let others = rows.iter().cycle().skip(7);
        let broken: Vec<Row> = rows
            .iter()
            .zip(others)
            .map(|(row, other)| Row { text: other.text.clone(), ..row.clone() })
            .collect();
        let broken = report(&broken).accuracy.unwrap();
        assert!(broken < 0.65, "{broken}");
    }
}
