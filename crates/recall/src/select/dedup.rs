//! Near-duplicates: hits that share nearly all their words.

use std::collections::HashSet;

use crate::hit::Hit;
use memgate_text::index;

/// Two memories that share this part of their words say the same.
const NEAR_DUPLICATE: f32 = 0.9;
/// Bytes of a memory that are compared: more than are shown of one.
const COMPARED: usize = 4_096;

/// The hits without those that say what a better one says. Lazy: a hit is compared when it is asked for.
pub(crate) fn deduplicated(hits: impl IntoIterator<Item = Hit>) -> impl Iterator<Item = Hit> {
    let mut before = Presented::default();
    hits.into_iter().filter(move |hit| before.is_new(hit))
}

/// The words of the hits so far.
#[derive(Default)]
pub(super) struct Presented(Vec<HashSet<String>>);

impl Presented {
    /// Whether a hit says something else than the hits before it; then it counts from now on.
    pub(super) fn is_new(&mut self, hit: &Hit) -> bool {
        let content = hit.memory.text_within(COMPARED);
        let tokens = index::token_set(&content[..content.floor_char_boundary(COMPARED)]);
        let is_new = !self.0.iter().any(|other| overlap(other, &tokens) >= NEAR_DUPLICATE);
        if is_new {
            self.0.push(tokens);
        }
        is_new
    }
}

/// Jaccard: shared tokens of all tokens.
fn overlap(a: &HashSet<String>, b: &HashSet<String>) -> f32 {
    let shared = a.intersection(b).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 1.0 } else { shared as f32 / all as f32 }
}
