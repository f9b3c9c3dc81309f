//! The results as docs/figures.json keeps them.

use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::plan::{EVALUATIONS, Evaluation};
use crate::assets::{MODEL, digest, repository};

/// The file, below the repository.
pub(super) const FILE: &str = "docs/figures.json";

/// All results, and what they were measured with.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Results {
    pub date: String,
    pub commit: String,
    pub machine: String,
    pub models: Models,
    /// One for each of [`EVALUATIONS`], in their order.
    pub evaluations: Vec<Measured>,
}

/// The models that decided, by their manifest.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Models {
    pub embedder: String,
    pub embedder_sha256: String,
    pub weights_sha256: String,
}

/// One evaluation.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Measured {
    pub command: String,
    pub data_sha256: String,
    pub seconds: u64,
    /// In the order of the plan.
    pub figures: Vec<Share>,
}

/// A share with its 95% interval, and of how many.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Share {
    pub share: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
}

#[derive(Deserialize)]
struct Manifest {
    weights_sha256: String,
    embedder: Embedder,
}

#[derive(Deserialize)]
struct Embedder {
    model: String,
    sha256: String,
}

impl Models {
    /// Those of the default embedder, as they are in the repository.
    ///
    /// # Errors
    /// When the manifest cannot be read.
    pub(super) fn shipped() -> Result<Self> {
        let file = repository().join("models").join(MODEL).join("manifest.toml");
        let text = std::fs::read_to_string(&file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        let Manifest { weights_sha256, embedder } =
            toml::from_str(&text).with_context(|| format!("{}", file.display()))?;
        let Embedder { model, sha256 } = embedder;
        Ok(Self { embedder: model, embedder_sha256: sha256, weights_sha256 })
    }
}

impl Results {
    /// Reads docs/figures.json.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn read() -> Result<Self> {
        let text = std::fs::read_to_string(repository().join(FILE))
            .with_context(|| format!("cannot read {FILE}"))?;
        serde_json::from_str(&text).with_context(|| FILE.to_owned())
    }

    /// Writes docs/figures.json.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn write(&self) -> Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        std::fs::write(repository().join(FILE), text)
            .with_context(|| format!("cannot write {FILE}"))
    }

    /// Why these are not the figures of what is in the repository; `None` if they are.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub(super) fn outdated(&self) -> Result<Option<String>> {
        if self.models != Models::shipped()? {
            return Ok(Some("the models have changed".to_owned()));
        }
        if self.evaluations.len() != EVALUATIONS.len() {
            return Ok(Some("the evaluations have changed".to_owned()));
        }
        for (measured, evaluation) in self.evaluations.iter().zip(&EVALUATIONS) {
            let command = evaluation.command();
            if measured.command != command || measured.figures.len() != evaluation.figures.len() {
                return Ok(Some(format!("`{command}` has changed")));
            }
            if measured.data_sha256 != sha256(evaluation)? {
                return Ok(Some(format!("{} has changed", evaluation.file)));
            }
        }
        Ok(None)
    }
}

/// The digest of an evaluation's data.
fn sha256(evaluation: &Evaluation) -> Result<String> {
    digest::of_file(&repository().join(Path::new(evaluation.file)))
}

impl Measured {
    /// Takes the figures from the JSON of `memgate eval --json`.
    ///
    /// # Errors
    /// When a figure is missing, or another model or other data was measured.
    pub(super) fn of(
        evaluation: &Evaluation,
        report: &Value,
        seconds: u64,
        models: &Models,
    ) -> Result<Self> {
        let command = evaluation.command();
        let text = |key: &str| report[key].as_str().unwrap_or_default().to_owned();
        anyhow::ensure!(
            text("model_sha256") == models.embedder_sha256,
            "{command}: the embedding model is not the one of the manifest: cargo xtask assets"
        );
        let data_sha256 = text("data_sha256");
        anyhow::ensure!(data_sha256 == sha256(evaluation)?, "{command}: measured other data");
        let figures = evaluation.figures.iter().map(|figure| {
            share(report, figure.at).with_context(|| format!("{command}: no figure {}", figure.at))
        });
        let figures = figures.collect::<Result<_>>()?;
        Ok(Self { command, data_sha256, seconds, figures })
    }
}

/// The figure at a place of a report: a count, or a number with `…_interval` beside it.
fn share(report: &Value, at: &str) -> Option<Share> {
    let found = report.pointer(at)?;
    if found.is_object() {
        return serde_json::from_value(found.clone()).ok();
    }
    let interval = report.pointer(&format!("{at}_interval"));
    let interval = interval.and_then(|interval| serde_json::from_value(interval.clone()).ok());
    Some(Share { share: found.as_f64(), n: None, interval })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_figure_is_a_count_or_a_share_with_its_interval_beside_it() {
        let report = json!({
            "recall": 0.5, "recall_interval": [0.25, 0.75], "precision": 0.1,
            "store": {"junk": {"share": 0.2, "hits": 1, "n": 5, "interval": [0.1, 0.3]}},
        });
        let of = |at: &str| share(&report, at).unwrap();
        assert_eq!(of("/recall").interval, Some([0.25, 0.75]));
        assert_eq!((of("/precision").share, of("/precision").interval), (Some(0.1), None));
        assert_eq!((of("/store/junk").n, of("/store/junk").share), (Some(5), Some(0.2)));
        assert_eq!(share(&report, "/store/held"), None);
    }
}
