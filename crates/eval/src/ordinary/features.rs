//! Training data for the calibration: the evidence of every candidate of a question, and whether it helps.

use std::fmt::Write as _;

use anyhow::Result;
use serde_json::{Value, json};

use super::{
    matching::Text,
    play::Played,
    row::{Ask, Story},
};
use crate::scenarios::evidence;
use memgate_recall::Hit;

/// Appends one line for each question that was searched, for `tools/calibrate.py`.
///
/// # Errors
/// Never in practice: a string takes what is written.
pub(super) fn append(to: &mut String, story: &Story, played: &Played) -> Result<()> {
    let questions = story.asks.iter().zip(&played.answers).zip(0..);
    for ((ask, answer), number) in questions.filter(|((_, answer), _)| answer.skipped.is_none()) {
        let candidates: Vec<Value> = answer.ranked.iter().map(|hit| candidate(ask, hit)).collect();
        let line = json!({
            "id": format!("{}-{number}", story.id),
            "lang": story.lang,
            "needed": ask.must.len(),
            "query": ask.user,
            "candidates": candidates,
        });
        writeln!(to, "{line}")?;
    }
    Ok(())
}

/// A line of the context would hold what the user said of it.
fn candidate(ask: &Ask, hit: &Hit) -> Value {
    let said = hit.memory.content.as_str();
    let text = Text::new(said);
    let helps = text.holds_one(&ask.relevant);
    let items = ask.must.iter().zip(0..).filter(|(item, _)| helps && text.holds_any(item));
    let items: Vec<usize> = items.map(|(_, at)| at).collect();
    let mut candidate = evidence(hit);
    candidate["items"] = json!(items);
    candidate["helps"] = json!(helps);
    candidate
}
