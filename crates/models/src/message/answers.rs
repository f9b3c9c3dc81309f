//! Whether a message asks for what the assistant contributed to an earlier conversation: a step of its plan, an item of its
//! list, its advice. By the message's words; where an embedding model has read it, by that model's inner layers and vector, too.
//! `tools/train_answers.py` trains it.

use crate::{Features, Unreadable, linear::Judge, tensors::Tensors};

/// Tells messages that ask for the assistant's earlier words.
#[derive(Debug)]
pub struct AnswersModel(Judge);

impl AnswersModel {
    pub(crate) fn read(tensors: &Tensors) -> Result<Self, Unreadable> {
        Judge::read(tensors, "answers").map(Self)
    }

    /// Whether a message asks for them. `read`: the inner layers and the vector of the embedding model, where it has read the message.
    #[must_use]
    pub fn are_asked_for(&self, message: &str, read: Option<(&[f32], &[f32])>) -> bool {
        let features = Features::of_message(message);
        match read {
            Some((layers, vector)) => self.0.by_layers(&features, layers, vector),
            None => self.0.by_words(&features),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{e5, minilm};

    #[test]
    fn messages_that_want_an_answer_back_are_told_from_new_requests() {
        for models in [e5(), minilm()] {
            let asks = |message: &str| models.answers.are_asked_for(message, None);
            assert!(asks("What was the third exercise in the plan you made for me?"));
            assert!(!asks("Recommend me a hotel in Kyoto"));
            assert!(!asks("What's my budget for Hawaii?"));
        }
    }

    #[test]
    fn layers_of_another_model_are_not_judged() {
        let model = &e5().answers;
        let message = "What was the third exercise in the plan you made for me?";
        let read: (&[f32], &[f32]) = (&[9.0; 3], &[9.0; 3]);
        assert_eq!(model.are_asked_for(message, Some(read)), model.are_asked_for(message, None));
    }
}
