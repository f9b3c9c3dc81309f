//! Whether a message takes up the last conversation as a whole: "where did we leave off?" By the message's words; where an
//! embedding model has read it, by that model's inner layers and vector, too. `tools/train_resuming.py` trains it.

use crate::{Features, Unreadable, linear::Judge, tensors::Tensors};

/// Tells messages that take up the last conversation, and name nothing else.
#[derive(Debug)]
pub struct ResumingModel(Judge);

impl ResumingModel {
    pub(crate) fn read(tensors: &Tensors) -> Result<Self, Unreadable> {
        Judge::read(tensors, "resuming").map(Self)
    }

    /// Whether a message does so. `read`: the inner layers and the vector of the embedding model, where it has read the message.
    #[must_use]
    pub fn takes_up(&self, message: &str, read: Option<(&[f32], &[f32])>) -> bool {
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
    fn messages_that_take_up_the_last_conversation_are_told_from_those_that_name_a_matter() {
        for models in [e5(), minilm()] {
            let resumes = |message: &str| models.resuming.takes_up(message, None);
            for message in ["What did we talk about last time?", "Where did we stop?"] {
                assert!(resumes(message), "{message}");
            }
            for message in [
                "The last time I saw my brother he was ill.",
                "When did we last discuss the budget?",
                "What's my budget for Hawaii?",
            ] {
                assert!(!resumes(message), "{message}");
            }
        }
    }
}
