//! Training data for the calibration: the evidence of every candidate, and whether it was needed.

use std::{fs, io::Write, path::Path};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::{
    replay::{Recalled, Scenario},
    scenarios::score::{is_stale, items_in},
};
use memgate_recall::Hit;

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
                let mut candidate = evidence(hit);
                candidate["items"] = json!(items_in(scenario, hit));
                candidate["stale"] = json!(is_stale(scenario, hit));
                candidate
            })
            .collect();
        let line = json!({
            "id": scenario.id,
            "kind": scenario.kind,
            "lang": scenario.lang,
            "needed": scenario.must_recall.len(),
            "searched": recalled.skipped.is_none(),
            "query": recalled.query,
            "candidates": candidates,
        });
        writeln!(text, "{line}")?;
    }
    fs::write(file, text).with_context(|| format!("{}", file.display()))
}

/// The evidence that relevance is made of.
pub(crate) fn evidence(hit: &Hit) -> Value {
    json!({
        "cosine": hit.breakdown.cosine,
        "coverage": hit.breakdown.coverage,
        "bm25": hit.breakdown.bm25,
        "score": hit.score,
        "gap": hit.breakdown.gap,
        "length": hit.breakdown.length,
        "turn": hit.memory.as_turn().is_some(),
        "idle": hit.memory.is_idle_turn(),
        "content": hit.memory.text(),
    })
}
