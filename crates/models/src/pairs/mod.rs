//! Models that judge a message beside one older sentence: by features of the pair, and by the passage vectors of both.

mod forgetting;
mod pair;
mod standing;
mod update;

pub use forgetting::ForgettingModel;
pub use pair::Pair;
pub use standing::Standing;
pub use update::{Outdated, UpdateFeatures, UpdateModel};

use crate::{
    Unreadable,
    tensors::{Tensors, wrong},
};

/// Standardised numbers further from the mean than this many standard deviations say no more.
const FARTHEST: f32 = 8.0;

/// Logistic regression over features of a pair and the vectors of both sides.
#[derive(Debug)]
struct PairModel {
    /// The mean of many vectors.
    centre: Vec<f32>,
    /// One for each feature and each number of [`PairModel::between`], in this order.
    mean: Vec<f32>,
    scale: Vec<f32>,
    weights: Vec<f32>,
    bias: f32,
}

impl PairModel {
    /// The model whose tensors' names begin with `name`, over this many features.
    fn read(tensors: &Tensors, name: &str, features: usize) -> Result<Self, Unreadable> {
        let numbers = |part: &str| tensors.numbers(&format!("{name}.{part}"));
        let model = Self {
            centre: numbers("centre")?,
            mean: numbers("mean")?,
            scale: numbers("scale")?,
            weights: numbers("weights")?,
            bias: tensors.number(&format!("{name}.bias"))?,
        };
        let seen = features + 4 * model.centre.len();
        let fits = [&model.mean, &model.scale, &model.weights].iter().all(|it| it.len() == seen);
        if fits { Ok(model) } else { Err(wrong(&format!("{name}.weights"), "not one a number")) }
    }

    /// A passage vector less the mean of many, of length 1.
    fn centred(&self, vector: &[f32]) -> Vec<f32> {
        let less: Vec<f32> = vector.iter().zip(&self.centre).map(|(x, mean)| x - mean).collect();
        let length = less.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
        less.into_iter().map(|x| x / length).collect()
    }

    /// The probability by features and centred vectors; without vectors the features alone decide.
    fn likelihood(&self, features: &[f32], new: &[f32], old: &[f32]) -> f32 {
        let seen = features.iter().copied().chain(Self::between(new, old));
        let weighed = seen.zip(&self.mean).zip(self.scale.iter().zip(&self.weights));
        let sum: f32 = weighed
            .map(|((x, mean), (scale, weight))| {
                ((x - mean) * scale).clamp(-FARTHEST, FARTHEST) * weight
            })
            .sum();
        1.0 / (1.0 + (-(sum + self.bias)).exp())
    }

    /// The numbers of two vectors: their difference, their product, and both.
    fn between<'a>(new: &'a [f32], old: &'a [f32]) -> impl Iterator<Item = f32> + use<'a> {
        let both = || new.iter().zip(old);
        let differences = both().map(|(a, b)| (a - b).abs());
        let products = both().map(|(a, b)| a * b);
        differences.chain(products).chain(new.iter().copied()).chain(old.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::e5;

    #[test]
    fn a_centred_vector_has_length_1() {
        let pairs = &e5().update;
        let vector: Vec<f32> =
            (0_u8..128).cycle().take(384).map(|at| f32::from(at).sin()).collect();
        let length: f32 = pairs.centred(&vector).iter().map(|x| x * x).sum();
        assert!((length - 1.0).abs() < 1e-4, "{length}");
    }
}
