//! What a small trained model thinks of a message: whether memory could help, and what kind of
//! message it is. By its words; where an embedding model has read it, by how it is put as well.
//!
//! `tools/train_signals.py` writes `weights.bin`. This module must never know what is decided.

mod weights;

use std::borrow::Cow;

pub use weights::weights_sha256;

use crate::classify::{Features, Linear};
use weights::Weights;

/// Characters of each end of a longer message that are looked at: between them stands what was
/// pasted, and the work is bounded. The trainer does the same.
const ENDS: usize = 600;

/// A kind of message is named when it is likelier than not.
const LIKELY: f64 = 0.5;

/// What is thought of one message.
pub struct Opinion {
    weights: &'static Weights,
    features: Features,
    words: f64,
}

/// What is thought, how likely it is that memory helps, and whether that is enough to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Need {
    /// Between 0 and 1, calibrated: of messages with 0.3, memory could help three in ten.
    pub probability: f32,
    /// Whether memory should be searched.
    pub searches: bool,
}

impl Opinion {
    /// Reads a message. `None` when the weights are damaged.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let weights = Weights::get()?;
        let features = Features::of(&ends(text.trim()), weights.bits);
        let words = weights.words.probability(&features, &[]);
        Some(Self { weights, features, words })
    }

    /// By words alone.
    #[must_use]
    pub fn by_words(&self) -> Need {
        need(self.words, self.weights.thresholds.words)
    }

    /// Whether the words alone are enough to say that memory is of no use.
    #[must_use]
    pub fn is_surely_of_no_use(&self) -> bool {
        self.words <= self.weights.thresholds.surely
    }

    /// By the words and what the embedding model's inner layers and its vector tell (all-MiniLM-L6-v2 as
    /// tools/export_onnx.py writes it); `None` where that is not what the weights are for.
    #[must_use]
    pub fn by_layers(&self, layers: &[f32], vector: &[f32]) -> Option<Need> {
        let fits = layers.len() + vector.len() == self.weights.dense;
        let probability = || self.weights.search.probability(&self.features, &[layers, vector]);
        fits.then(|| need(probability(), self.weights.thresholds.model))
    }

    /// Whether it asks for what a tool does.
    #[must_use]
    pub fn asks_for_a_tool(&self) -> bool {
        self.is(&self.weights.tool)
    }

    /// Whether it is small talk.
    #[must_use]
    pub fn is_small_talk(&self) -> bool {
        self.is(&self.weights.greeting)
    }

    /// Whether it refers to the speaker's own life.
    #[must_use]
    pub fn is_personal(&self) -> bool {
        self.is(&self.weights.personal)
    }

    fn is(&self, kind: &Linear) -> bool {
        kind.probability(&self.features, &[]) > LIKELY
    }
}

fn need(probability: f64, threshold: f64) -> Need {
    #[expect(clippy::cast_possible_truncation, reason = "between 0 and 1")]
    Need { probability: probability as f32, searches: probability > threshold }
}

/// The two ends of a long text, a short one whole.
fn ends(text: &str) -> Cow<'_, str> {
    let from = |mut places: Box<dyn Iterator<Item = usize> + '_>| places.nth(ENDS);
    let head = from(Box::new(text.char_indices().map(|(at, _)| at)));
    let behind = from(Box::new(text.char_indices().rev().map(|(at, c)| at + c.len_utf8())));
    match (head, behind) {
        (Some(head), Some(tail)) if head < tail => {
            Cow::Owned(format!("{} {}", &text[..head], &text[tail..]))
        }
        _ => Cow::Borrowed(text),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use std::path::Path;

    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Figures {
        text: String,
        features: usize,
        words: f64,
        tool: f64,
        greeting: f64,
        personal: f64,
    }

    #[test]
    fn features_and_figures_are_those_of_the_trainer() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/signals/parity.json");
        let rows: Vec<Figures> = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        assert!(rows.len() >= 60);
        for row in rows {
            let opinion = Opinion::of(&row.text).unwrap();
            assert_eq!(opinion.features.len(), row.features, "{}", row.text);
            let of = |model: &Linear| model.probability(&opinion.features, &[]);
            let weights = opinion.weights;
            for (ours, theirs) in [
                (opinion.words, row.words),
                (of(&weights.tool), row.tool),
                (of(&weights.greeting), row.greeting),
                (of(&weights.personal), row.personal),
            ] {
                assert!((ours - theirs).abs() < 1e-4, "{ours}, not {theirs}: {}", row.text);
            }
        }
    }

    #[test]
    fn of_a_long_message_both_ends_are_read_and_no_more() {
        let of = |text: &str| Opinion::of(text).unwrap();
        let pasted = "语言 lorem ipsum, ".repeat(200_000);
        let began = std::time::Instant::now();
        let asking = of(&format!("{pasted} when is my sister's birthday?"));
        assert!(began.elapsed() < std::time::Duration::from_secs(2));
        assert!(asking.is_personal());
        assert_ne!(of(&pasted).words, asking.words);
        let whole = "é".repeat(2 * ENDS);
        assert_eq!(ends(&whole), whole);
        assert_eq!(ends(&format!("{whole}é")).chars().count(), 2 * ENDS + 1);
    }

    #[test]
    fn layers_of_another_model_are_not_judged() {
        let opinion = Opinion::of("when is my sister's birthday?").unwrap();
        assert_eq!(opinion.by_layers(&[0.0; 384], &[0.0; 384]), None);
        assert!(opinion.by_layers(&[0.0; 4 * 384], &[0.0; 384]).is_some());
        assert!(opinion.by_words().searches && !opinion.is_surely_of_no_use());
    }
}
