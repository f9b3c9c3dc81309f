//! Background similarity: the cosine of a question to unrelated everyday sentences of its language. The calibration
//! subtracts it as a baseline.
//!
//! A cosine means little by itself: a model that has mostly seen English puts any two Chinese
//! texts closer together than two English ones about the same thing.

use memgate_embed::{EmbedError, Embedder, Vector, dot};
use memgate_text::lang;

/// The background sentences in an embedder's space: the mean vector of each language.
#[derive(Clone, Debug)]
pub(crate) struct Background {
    means: Vec<Vec<f32>>,
}

impl Background {
    /// Embeds the sentences; takes about as long as fifty short passages.
    ///
    /// # Errors
    /// As [`Embedder::embed_passages`].
    pub(crate) async fn of(embedder: &dyn Embedder) -> Result<Self, EmbedError> {
        let groups: Vec<&[String]> = lang::background().collect();
        let vectors = embedder.embed_passages(groups.concat()).await?;
        let mut vectors = vectors.as_slice();
        let mut means = Vec::new();
        for group in groups {
            let (own, rest) = vectors.split_at(group.len().min(vectors.len()));
            means.push(mean(own));
            vectors = rest;
        }
        Ok(Self { means })
    }

    /// The mean cosine of a query with the background sentences of the language that it is nearest to.
    pub(super) fn similarity(&self, query: &[f32]) -> f32 {
        self.means.iter().map(|mean| dot(mean, query)).fold(0.0, f32::max)
    }
}

/// Not scaled to length 1: the product with it is then the mean of the products.
fn mean(vectors: &[Vector]) -> Vec<f32> {
    let mut sum = vec![0.0; vectors.first().map_or(0, |vector| vector.len())];
    for vector in vectors {
        sum.iter_mut().zip(vector.iter()).for_each(|(sum, value)| *sum += value);
    }
    let share = 1.0 / vectors.len().max(1) as f32;
    sum.iter_mut().for_each(|sum| *sum *= share);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use memgate_embed::deterministic::DeterministicEmbedder;

    #[tokio::test]
    async fn a_query_is_nearest_to_its_own_language() {
        let embedder = DeterministicEmbedder::new(512);
        let background = Background::of(&embedder).await.unwrap();
        let near =
            async |text: &str| background.similarity(&embedder.embed_query(text).await.unwrap());
        assert!(near("Bitte mach das Fenster zu.").await > 0.15);
        assert!(near("xylophone quartz").await < 0.1);
    }

    #[test]
    fn the_product_with_a_mean_is_the_mean_of_the_products() {
        let background = Background { means: vec![mean(&[[1.0, 0.0].into(), [0.0, 1.0].into()])] };
        assert!((background.similarity(&[0.6, 0.8]) - 0.7).abs() < 1e-6);
        assert!(background.similarity(&[-1.0, 0.0]).abs() < 1e-6, "never below zero");
    }
}
