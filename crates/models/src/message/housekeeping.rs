//! Whether a message is a client's own prompt: for a title, tags, follow-up questions, a summary to go on with. By its words;
//! where an embedding model has read it, by that model's inner layers and vector, too. `tools/train_housekeeping.py` trains it.

use crate::{Features, Unreadable, linear::Judge, tensors::Tensors};

/// Tells a client's prompts.
#[derive(Debug)]
pub struct HousekeepingModel(Judge);

impl HousekeepingModel {
    pub(crate) fn read(tensors: &Tensors) -> Result<Self, Unreadable> {
        Judge::read(tensors, "housekeeping").map(Self)
    }

    /// Whether the words alone say that a message is a client's prompt.
    #[must_use]
    pub fn by_words(&self, features: &Features) -> bool {
        self.0.by_words(features)
    }

    /// Decides with the inner layers and the vector of the embedding model that it was trained
    /// with; by words where their numbers are fewer than that model gives.
    #[must_use]
    pub fn by_layers(&self, features: &Features, layers: &[f32], vector: &[f32]) -> bool {
        self.0.by_layers(features, layers, vector)
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Features,
        tests::{e5, minilm},
    };

    #[test]
    fn a_clients_prompts_are_told_by_their_words_where_these_are_plain() {
        for models in [e5(), minilm()] {
            let is_prompt = |text: &str| models.housekeeping.by_words(&Features::of_message(text));
            assert!(is_prompt(
                "Generate a short title for the conversation above. Reply with the title only, no quotes."
            ));
            assert!(!is_prompt("What's a good title for my poem about the sea?"));
            assert!(!is_prompt("My dentist appointment is on Tuesday at nine"));
        }
    }

    #[test]
    fn layers_of_another_model_are_not_judged() {
        let model = &e5().housekeeping;
        let features = Features::of_message("What's a good title for my poem about the sea?");
        assert_eq!(model.by_layers(&features, &[9.0; 3], &[9.0; 3]), model.by_words(&features));
    }
}
