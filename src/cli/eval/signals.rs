//! `memgate eval signals`.

use std::path::PathBuf;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::{data, score::share};
use crate::{
    recall::{Decision, decide},
    signals::{Earlier, Signals},
};

/// Arguments of `memgate eval signals`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The messages: one JSON object a line with `id`, `text`, `personal` and `search`.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// A row, as far as it matters here.
#[derive(Debug, Deserialize)]
struct Row {
    id: String,
    text: String,
    personal: bool,
    search: bool,
}

/// The measurement, as `--json` prints it.
#[derive(Debug, PartialEq, Serialize)]
struct Report {
    /// Messages for which the decision is as labelled, of all.
    accuracy: Option<f64>,
    /// Messages skipped, of those about the speaker for which memory could help.
    personal_skipped: Option<f64>,
    counts: Counts,
    /// The rows decided otherwise than labelled.
    errors: Vec<String>,
}

#[derive(Debug, Default, PartialEq, Serialize)]
struct Counts {
    rows: usize,
    /// Searched, and memory could help.
    searched_rightly: usize,
    /// Searched in vain: costs a search.
    searched_needlessly: usize,
    /// Skipped, and memory could not help.
    skipped_rightly: usize,
    /// Skipped although memory could help: costs the answer.
    skipped_wrongly: usize,
}

impl Args {
    pub(super) fn run(self) -> Result<()> {
        let (rows, sha256) = data::rows::<Row>(&self.file)?;
        let report = Report::of(&rows);
        if self.json {
            return super::print(&serde_json::to_string(&report)?);
        }
        super::print(&report.told(&sha256))
    }
}

impl Report {
    fn of(rows: &[Row]) -> Self {
        let mut counts = Counts { rows: rows.len(), ..Counts::default() };
        let (mut personal, mut personal_skipped) = (0, 0);
        let mut errors = Vec::new();
        for row in rows {
            let searched = decide(&Signals::of(&row.text, &Earlier::default())) == Decision::Search;
            let count = match (searched, row.search) {
                (true, true) => &mut counts.searched_rightly,
                (true, false) => &mut counts.searched_needlessly,
                (false, false) => &mut counts.skipped_rightly,
                (false, true) => &mut counts.skipped_wrongly,
            };
            *count += 1;
            if row.personal && row.search {
                personal += 1;
                personal_skipped += usize::from(!searched);
            }
            if searched != row.search {
                errors.push(row.id.clone());
            }
        }
        Self {
            accuracy: share(rows.len() - errors.len(), rows.len()),
            personal_skipped: share(personal_skipped, personal),
            counts,
            errors,
        }
    }

    fn told(&self, sha256: &str) -> String {
        let percent = |share: Option<f64>| 100.0 * share.unwrap_or(0.0);
        format!(
            "data sha256 {sha256}\naccuracy {:.1}%, personal skipped {:.1}%\n\
             of {} messages: searched rightly {}, needlessly {}; skipped rightly {}, wrongly {}",
            percent(self.accuracy),
            percent(self.personal_skipped),
            self.counts.rows,
            self.counts.searched_rightly,
            self.counts.searched_needlessly,
            self.counts.skipped_rightly,
            self.counts.skipped_wrongly,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, text: &str, personal: bool, search: bool) -> Row {
        Row { id: id.into(), text: text.into(), personal, search }
    }

    #[test]
    fn agreement_is_counted_both_ways() {
        let report = Report::of(&[
            row("a", "hello!", false, false),
            row("b", "What's my budget?", true, true),
            row("c", "What is on my mind as I say this to you?", false, false),
            row("d", "thanks", true, true),
        ]);
        let counts = Counts {
            rows: 4,
            searched_rightly: 1,
            searched_needlessly: 1,
            skipped_rightly: 1,
            skipped_wrongly: 1,
        };
        assert_eq!(report.counts, counts);
        assert_eq!((report.accuracy, report.personal_skipped), (Some(0.5), Some(0.5)));
        assert_eq!(report.errors, ["c", "d"]);
    }
}
