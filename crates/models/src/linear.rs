//! Logistic regression over hashed features and over what an embedding model gives, and judges made of two of them.

use crate::{
    Features, Unreadable,
    tensors::{Tensors, wrong},
};

/// Logistic regression.
#[derive(Debug)]
pub(super) struct Linear {
    bias: f64,
    /// Value of one step of a hashed feature's weight.
    scale: f64,
    /// Weights of the numbers that an embedding model gives; empty for a model of words alone.
    dense: Vec<f32>,
    /// Weights of hashed features, signed bytes.
    hashed: &'static [u8],
}

impl Linear {
    /// The model whose tensors' names begin with `name`.
    pub(super) fn read(tensors: &Tensors, name: &str) -> Result<Self, Unreadable> {
        let of = |part: &str| format!("{name}.{part}");
        let dense = of("dense");
        let (hashed, _) = tensors.bytes(&of("hashed"))?;
        if hashed.len() != Features::BUCKETS {
            return Err(wrong(&of("hashed"), "not one weight a bucket"));
        }
        Ok(Self {
            bias: f64::from(tensors.number(&of("bias"))?),
            scale: f64::from(tensors.number(&of("scale"))?),
            dense: if tensors.has(&dense) { tensors.numbers(&dense)? } else { Vec::new() },
            hashed,
        })
    }

    /// How many numbers of an embedding model it weighs.
    pub(super) fn dense(&self) -> usize {
        self.dense.len()
    }

    /// The probability for a text with these features, of which an embedding model gave these
    /// numbers. Missing numbers count as zero.
    pub(super) fn probability(&self, features: &Features, dense: &[&[f32]]) -> f64 {
        let weight = |bucket: usize| self.hashed.get(bucket).map_or(0, |w| w.cast_signed());
        let words: f64 = features.iter().map(|(b, value)| value * f64::from(weight(b))).sum();
        let given = dense.iter().copied().flatten();
        let meaning: f64 =
            self.dense.iter().zip(given).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        1.0 / (1.0 + (-(self.bias + self.scale * words + meaning)).exp())
    }
}

/// Decides by two models over one space of features: with the embedding model's layers and vector, and by words alone.
#[derive(Debug)]
pub(super) struct Judge {
    whole: Decider,
    words: Decider,
}

/// A model, and the probability above which it says yes.
#[derive(Debug)]
struct Decider {
    model: Linear,
    threshold: f64,
}

impl Judge {
    /// The judge whose tensors' names begin with `name`.
    pub(super) fn read(tensors: &Tensors, name: &str) -> Result<Self, Unreadable> {
        let decider = |part: &str| {
            let name = format!("{name}.{part}");
            let threshold = tensors.number(&format!("{name}.threshold"))?.into();
            Ok::<_, Unreadable>(Decider { model: Linear::read(tensors, &name)?, threshold })
        };
        Ok(Self { whole: decider("whole")?, words: decider("words")? })
    }

    /// By words alone.
    pub(super) fn by_words(&self, features: &Features) -> bool {
        self.words.model.probability(features, &[]) > self.words.threshold
    }

    /// With the inner layers and the vector of the embedding model that it was trained with; by words where their numbers are
    /// fewer than that model gives.
    pub(super) fn by_layers(&self, features: &Features, layers: &[f32], vector: &[f32]) -> bool {
        let Decider { model, threshold } = &self.whole;
        if layers.len() + vector.len() != model.dense() {
            return self.by_words(features);
        }
        model.probability(features, &[layers, vector]) > *threshold
    }
}
