//! Which sentences ask to forget something that was told, in free words, and which older sentences they mean.
//! `tools/train_forgetting.py` trains it. Commands in set words are read by rules (`memgate_text::command`).

use crate::{Features, Standing, Unreadable, linear::Linear, pairs::PairModel, tensors::Tensors};
use memgate_text::pieces::Piece;

/// Features of a pair beside its vectors, see [`numbers`].
const FEATURES: usize = 6;

/// Two logistic regressions: whether a sentence asks, by its words and by what the reader sees of it; and whether it means
/// one older sentence.
#[derive(Debug)]
pub struct ForgettingModel {
    asks: Linear,
    /// A sentence above this probability asks.
    asks_least: f64,
    pairs: PairModel,
    /// An older sentence above this likelihood is meant.
    means_least: f32,
}

impl ForgettingModel {
    pub(crate) fn read(tensors: &Tensors) -> Result<Self, Unreadable> {
        let threshold = |name: &str| tensors.number(&format!("forgetting.threshold.{name}"));
        Ok(Self {
            asks: Linear::read(tensors, "forgetting.asks")?,
            asks_least: threshold("asks")?.into(),
            pairs: PairModel::read(tensors, "forgetting", FEATURES)?,
            means_least: threshold("means")?,
        })
    }

    /// Whether a sentence of a message asks to forget something. `reading`: its [`reader::features`](crate::reader::features);
    /// those of another embedding model tell nothing.
    #[must_use]
    pub fn asks(&self, sentence: &Piece<'_>, reading: &[f32]) -> bool {
        let features = || Features::within(sentence.before(), sentence.words(), sentence.after());
        reading.len() == self.asks.dense()
            && self.asks.probability(&features(), &[reading]) > self.asks_least
    }

    /// Whether a request means each of several older sentences, all given by their passage vectors.
    #[must_use]
    pub fn means(&self, request: &[f32], olds: &[impl AsRef<[f32]>]) -> Vec<bool> {
        let request = self.pairs.centred(request);
        let olds: Vec<Vec<f32>> = olds.iter().map(|old| self.pairs.centred(old.as_ref())).collect();
        let cosine = |old: &Vec<f32>| old.iter().zip(&request).map(|(a, b)| a * b).sum::<f32>();
        let cosines: Vec<(f32, f32)> =
            olds.iter().map(cosine).map(|cosine| (cosine, cosine)).collect();
        let standings = Standing::among(&cosines);
        let likely = |(old, standing): (&Vec<f32>, &Standing)| {
            self.pairs.likelihood(&numbers(standing, olds.len()), &request, old)
        };
        olds.iter().zip(&standings).map(|pair| likely(pair) > self.means_least).collect()
    }
}

/// How near an older sentence is, among how many.
#[expect(clippy::cast_precision_loss, reason = "counts of sentences")]
fn numbers(standing: &Standing, count: usize) -> [f32; FEATURES] {
    let Standing { cosine, rank, gap, deviations, .. } = *standing;
    let rank = rank as f32;
    [cosine, 1.0 / (1.0 + rank), rank.ln_1p(), gap, deviations, (count as f32).sqrt()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{e5, minilm};

    #[test]
    fn what_another_embedding_model_reads_asks_for_nothing() {
        let message = "Please erase everything about my ex from your memory.";
        let sentences = Piece::sentences(message);
        for models in [e5(), minilm()] {
            assert!(!models.forgetting.asks(&sentences[0], &[0.0; 3]));
        }
    }

    #[test]
    fn of_older_sentences_the_one_in_the_requests_own_words_is_likelier_than_its_opposite() {
        let model = &e5().forgetting.pairs;
        let request: Vec<f32> =
            (0_u8..128).cycle().take(384).map(|at| f32::from(at).sin()).collect();
        let request = model.centred(&request);
        let opposite: Vec<f32> = request.iter().map(|x| -x).collect();
        let [near, far] = Standing::among(&[(1.0, 1.0), (-1.0, -1.0)])[..] else { panic!() };
        let likely = |standing, old: &[f32]| model.likelihood(&numbers(standing, 2), &request, old);
        assert!(likely(&near, &request) > likely(&far, &opposite));
        assert!(e5().forgetting.means(&request, &[] as &[Vec<f32>]).is_empty());
    }
}
