//! Whether a message needs memory, and what kind of message it is. By its words; where an embedding model has read
//! it, by that model's inner layers and vector, too. `tools/train_signals.py` trains it.

use crate::{Features, Unreadable, linear::Linear, tensors::Tensors};

/// A kind of message is named when it is likelier than not.
const LIKELY: f64 = 0.5;

/// Five models over one space of features.
#[derive(Debug)]
pub struct NeedModel {
    thresholds: Thresholds,
    /// Whether memory could help, with the embedding model's layers and vector.
    search: Linear,
    /// The model by words alone.
    words: Linear,
    /// Whether the message asks for what a tool does.
    tool: Linear,
    /// Whether it is small talk.
    greeting: Linear,
    /// Whether it refers to the speaker's own life.
    personal: Linear,
}

/// Probabilities above which memory is searched. The trainer finds them by what mistakes cost.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Thresholds {
    /// By the whole model.
    search: f64,
    /// By words alone, where nothing better is available.
    words: f64,
    /// By words alone, where the whole model would hardly ever say otherwise.
    surely: f64,
}

impl NeedModel {
    pub(crate) fn read(tensors: &Tensors) -> Result<Self, Unreadable> {
        let number = |name: &str| tensors.number(name).map(f64::from);
        let linear = |name: &str| Linear::read(tensors, &format!("need.{name}"));
        Ok(Self {
            thresholds: Thresholds {
                search: number("need.search.threshold")?,
                words: number("need.words.threshold")?,
                surely: number("need.words.surely_below")?,
            },
            search: linear("search")?,
            words: linear("words")?,
            tool: linear("tool")?,
            greeting: linear("greeting")?,
            personal: linear("personal")?,
        })
    }

    /// Reads a message.
    #[must_use]
    pub fn opinion(&self, text: &str) -> Opinion<'_> {
        let features = Features::of_message(text);
        let words = self.words.probability(&features, &[]);
        Opinion { model: self, features, words }
    }
}

/// The model's opinion of one message.
pub struct Opinion<'a> {
    model: &'a NeedModel,
    features: Features,
    words: f64,
}

/// How likely it is that memory helps, and whether that is enough to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Need {
    /// Between 0 and 1, calibrated: of messages with 0.3, memory could help three in ten.
    pub probability: f32,
    /// Whether memory should be searched.
    pub searches: bool,
}

impl Opinion<'_> {
    /// The features of the message.
    #[must_use]
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// By words alone.
    #[must_use]
    pub fn by_words(&self) -> Need {
        need(self.words, self.model.thresholds.words)
    }

    /// Whether the words alone are enough to say that memory is of no use.
    #[must_use]
    pub fn is_surely_of_no_use(&self) -> bool {
        self.words <= self.model.thresholds.surely
    }

    /// By the words and by the inner layers and the vector of the embedding model that the model was trained with;
    /// `None` where there are not as many numbers as that gives.
    #[must_use]
    pub fn by_layers(&self, layers: &[f32], vector: &[f32]) -> Option<Need> {
        let search = &self.model.search;
        let fits = layers.len() + vector.len() == search.dense();
        let probability = || search.probability(&self.features, &[layers, vector]);
        fits.then(|| need(probability(), self.model.thresholds.search))
    }

    /// Whether it asks for what a tool does.
    #[must_use]
    pub fn asks_for_a_tool(&self) -> bool {
        self.is(&self.model.tool)
    }

    /// Whether it is small talk.
    #[must_use]
    pub fn is_small_talk(&self) -> bool {
        self.is(&self.model.greeting)
    }

    /// Whether it refers to the speaker's own life.
    #[must_use]
    pub fn is_personal(&self) -> bool {
        self.is(&self.model.personal)
    }

    fn is(&self, kind: &Linear) -> bool {
        kind.probability(&self.features, &[]) > LIKELY
    }
}

fn need(probability: f64, threshold: f64) -> Need {
    #[expect(clippy::cast_possible_truncation, reason = "between 0 and 1")]
    Need { probability: probability as f32, searches: probability > threshold }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde::Deserialize;

    use super::*;
    use crate::tests::e5;

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
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/signals/parity.json");
        let rows: Vec<Figures> = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let model = &e5().need;
        assert!(rows.len() >= 60);
        for row in rows {
            let opinion = model.opinion(&row.text);
            assert_eq!(opinion.features.len(), row.features, "{}", row.text);
            let of = |model: &Linear| model.probability(&opinion.features, &[]);
            for (ours, theirs) in [
                (opinion.words, row.words),
                (of(&model.tool), row.tool),
                (of(&model.greeting), row.greeting),
                (of(&model.personal), row.personal),
            ] {
                assert!((ours - theirs).abs() < 1e-4, "{ours}, not {theirs}: {}", row.text);
            }
        }
    }

    #[test]
    fn of_a_long_message_both_ends_are_read_and_no_more() {
        let models = e5();
        let of = |text: &str| models.need.opinion(text);
        let pasted = "语言 lorem ipsum, ".repeat(25_000);
        let ask =
            |middle: &str| of(&format!("{pasted}{middle}{pasted} when is my sister's birthday?"));
        let asking = ask("");
        assert!(asking.is_personal());
        assert_eq!(ask("Is my dentist in Lyon? ").features, asking.features);
        assert_ne!(of(&pasted).words, asking.words);
    }

    #[test]
    fn layers_of_another_model_are_not_judged() {
        let models = e5();
        let opinion = models.need.opinion("when is my sister's birthday?");
        assert_eq!(opinion.by_layers(&[0.0; 384], &[0.0; 384]), None);
        assert!(opinion.by_layers(&[0.0; 3 * 384], &[0.0; 384]).is_some());
        assert!(opinion.by_words().searches && !opinion.is_surely_of_no_use());
    }

    #[test]
    fn who_is_less_sure_must_have_a_better_reason_to_skip() {
        let of = e5().need.thresholds;
        assert!(of.surely < of.words && of.words < of.search, "{of:?}");
    }
}
