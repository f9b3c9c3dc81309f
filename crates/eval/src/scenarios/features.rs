//! Training data for the calibration: the evidence of every candidate, and whether it was needed.

use std::{fs, io::Write, path::Path};

use anyhow::{Context, Result};
use serde_json::json;

use crate::{
    replay::{Recalled, Scenario},
    scenarios::score::{is_stale, items_in},
};

/// Writes one line per scenario, for `tools/calibrate.py`.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn write(file: &Path, results: &[(&Scenario, Recalled)]) -> Result<()> {
    let mut text = Vec::new();
    for (scenario, recalled) in results {
        let candidates: Vec<_> = recalled
            .ranked
            .iter()
            .map(|hit| {
                json!({
                    "cosine": hit.breakdown.cosine,
                    "coverage": hit.breakdown.coverage,
                    "bm25": hit.breakdown.bm25,
                    "score": hit.score,
                    "background": hit.breakdown.background,
                    "length": hit.breakdown.length,
                    "content": hit.memory.content,
                    "items": items_in(scenario, hit),
                    "stale": is_stale(scenario, hit),
                })
            })
            .collect();
        let line = json!({
            "id": scenario.id,
            "kind": scenario.kind,
            "lang": scenario.lang,
            "needed": scenario.must_recall.len(),
            "searched": recalled.searched,
            "query": recalled.query,
            "candidates": candidates,
        });
        writeln!(text, "{line}")?;
    }
    fs::write(file, text).with_context(|| format!("{}", file.display()))
}
