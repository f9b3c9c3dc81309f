//! An embedder without a model: hashes words into the vector. For tests and machines without a
//! model; it matches shared words, not meaning.

use async_trait::async_trait;
use sha2::{Digest, Sha256};
use unicode_segmentation::UnicodeSegmentation;

use crate::{EmbedError, Embedder, Pooling, Precision, Run, Space, Vector, normalise};

/// A bag of hashed words. Equal texts have equal vectors on every machine.
#[derive(Debug)]
pub struct DeterministicEmbedder {
    space: Space,
}

impl DeterministicEmbedder {
    /// Creates vectors of `dimension` numbers (at least 1).
    pub fn new(dimension: usize) -> Self {
        Self {
            space: Space {
                model: "hashed-words".into(),
                dimension: dimension.max(1),
                run: Run::Here { pooling: Pooling::Mean, precision: Precision::Fp32 },
                query_prefix: String::new(),
                passage_prefix: String::new(),
            },
        }
    }

    fn embed(&self, text: &str) -> Result<Vector, EmbedError> {
        let mut vector = vec![0.0; self.space.dimension];
        for word in text.unicode_words() {
            let digest = Sha256::digest(word.to_lowercase());
            let place = digest.iter().take(4).fold(0, |sum, &byte| sum << 8 | usize::from(byte));
            // The sign comes from other bits, so that colliding words do not always add up.
            let sign = if digest[4] & 1 == 0 { 1.0 } else { -1.0 };
            vector[place % self.space.dimension] += sign;
        }
        if vector.iter().all(|&x| x == 0.0) {
            vector[0] = 1.0;
        }
        normalise(&mut vector)?;
        Ok(vector.into())
    }
}

#[async_trait]
impl Embedder for DeterministicEmbedder {
    fn space(&self) -> &Space {
        &self.space
    }

    async fn embed_query(&self, text: &str) -> Result<Vector, EmbedError> {
        self.embed(text)
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vector>, EmbedError> {
        texts.iter().map(|text| self.embed(text)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &str, b: &str) -> f32 {
        let embedder = DeterministicEmbedder::new(256);
        let (a, b) = (embedder.embed(a).unwrap(), embedder.embed(b).unwrap());
        a.iter().zip(b.iter()).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn similarity_grows_with_shared_words() {
        assert!(cosine("my budget is $10,000", "My BUDGET is $10,000!") > 0.999);
        let near = cosine("the budget for Hawaii", "a budget for Hawaii");
        let far = cosine("the budget for Hawaii", "cats dislike rain");
        assert!(near > 0.6 && far < 0.4, "{near} {far}");
    }

    #[test]
    fn text_without_words_has_a_vector_of_length_one() {
        for text in ["", " \n", "!!!"] {
            assert!((cosine(text, text) - 1.0).abs() < 1e-6, "{text:?}");
        }
    }
}
