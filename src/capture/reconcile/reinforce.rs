//! The same again: what is stored is surer of it, and counts how often.

use serde_json::{Value, json};

use super::origin::Origin;
use crate::memory::Memory;

/// How often it was said again.
const COUNT: &str = "reinforced";

/// By what: the last turns or sessions, so that a job that runs twice counts once.
const BY: &str = "reinforced_by";

/// Other words for it, as they were said: nothing is lost by keeping one row.
const WORDINGS: &str = "wordings";

/// How many of these are kept.
const MOST: usize = 8;

/// The part of the doubt that is left after another time.
const DOUBT_LEFT: f32 = 0.8;

/// Nothing is surer.
const SUREST: f32 = 0.99;

/// The memory, said again in these words; `None` where that was counted already, or is no other
/// time: batches of one session overlap, and two extractors may find one sentence.
pub(super) fn reinforced(memory: &Memory, origin: &Origin, words: &str) -> Option<Memory> {
    let overlaps = origin.extractor.waits_for_vectors
        || memory.provenance.extractor.as_deref() != Some(origin.extractor.name);
    let same_session = memory.session_id.as_deref() == Some(&*origin.session);
    let own = memory.provenance.turn.as_deref() == Some(&*origin.turn);
    let by = if overlaps { &origin.session } else { &origin.turn };
    let by: String = by.chars().take(64).collect();
    let mut known = texts(memory, BY);
    if own || (overlaps && same_session) || known.contains(&by) {
        return None;
    }
    known.push(by);
    let mut reinforced = memory.clone();
    let count = memory.metadata.get(COUNT).and_then(Value::as_u64).unwrap_or(0);
    reinforced.metadata.insert(COUNT.into(), json!(count + 1));
    reinforced.metadata.insert(BY.into(), json!(last(&known)));
    if words != memory.content && memory.raw.as_deref() != Some(words) {
        let mut wordings = texts(memory, WORDINGS);
        if !wordings.iter().any(|known| known == words) {
            wordings.push(words.to_owned());
            reinforced.metadata.insert(WORDINGS.into(), json!(last(&wordings)));
        }
    }
    reinforced.confidence =
        memory.confidence.map(|sure| SUREST.min(1.0 - (1.0 - sure) * DOUBT_LEFT).max(sure));
    Some(reinforced)
}

fn texts(memory: &Memory, name: &str) -> Vec<String> {
    let listed = memory.metadata.get(name).and_then(Value::as_array);
    listed.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn last(texts: &[String]) -> &[String] {
    &texts[texts.len().saturating_sub(MOST)..]
}
