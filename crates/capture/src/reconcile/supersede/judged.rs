//! How likely a message outdates older sentences, by trained models.

use crate::reconcile::turn_text::told;
use memgate_embed::{EmbedError, Embedder, Vector, dot};
use memgate_models::{Pair, UpdateFeatures, UpdateModel};
use memgate_text::compare::Statement;

/// How a message stands to one older sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// What was weighed.
    pub features: UpdateFeatures,
    /// Whether rules exclude it.
    pub is_excluded: bool,
    /// How likely the sentence is outdated, 0 to 1; 0 where rules exclude it.
    pub likelihood: f32,
    /// Whether that is enough to let the message hold in its place.
    pub is_outdated: bool,
}

/// Judges a message beside older sentences, all of which are embedded.
///
/// # Errors
/// [`EmbedError`] of the embedder.
pub async fn judged(
    embedder: &dyn Embedder,
    model: &UpdateModel,
    message: &str,
    olds: &[String],
) -> Result<Vec<Judged>, EmbedError> {
    let parts = told(message);
    if parts.is_empty() || olds.is_empty() {
        let features = UpdateFeatures::default();
        let nothing = Judged {
            features,
            is_excluded: true,
            likelihood: 0.0,
            is_outdated: model.is_enough(0.0),
        };
        return Ok(vec![nothing; olds.len()]);
    }
    let texts = parts.iter().copied().chain([message]).map(str::to_owned);
    let vectors = embedder.embed_passages(texts.chain(olds.iter().cloned()).collect()).await?;
    let (own, others) = vectors.split_at(parts.len() + 1);
    let best: Vec<f32> = others.iter().map(|other| best(own, other)).collect();
    let announced = model.announces(message, own.last().map_or(&[], |whole| whole));
    let message = Statement::of(message);
    let parts: Vec<Statement> = parts.into_iter().map(Statement::of).collect();
    let olds: Vec<Statement> = olds.iter().map(|old| Statement::of(old)).collect();
    let mut pairs: Vec<Pair<'_>> = Vec::with_capacity(olds.len());
    for (at, old) in olds.iter().enumerate() {
        let near = |part: &usize| dot(&own[*part], &others[at]);
        let nearest = (0..parts.len()).max_by(|a, b| near(a).total_cmp(&near(b))).unwrap_or(0);
        let (nearest, cosine) = (&parts[nearest], best[at]);
        pairs.push(Pair { message: &message, nearest, old, cosine, rank: 0, announced });
    }
    // What cannot be meant stands in nobody's way.
    let meant: Vec<f32> =
        pairs.iter().filter(|pair| !pair.is_excluded()).map(|pair| pair.cosine).collect();
    for pair in &mut pairs {
        pair.rank = meant.iter().filter(|cosine| **cosine > pair.cosine).count();
    }
    let judge = |pair: &Pair<'_>| {
        let likelihood = pair.likelihood(model);
        Judged {
            features: pair.features(),
            is_excluded: pair.is_excluded(),
            likelihood,
            is_outdated: model.is_enough(likelihood),
        }
    };
    Ok(pairs.iter().map(judge).collect())
}

fn best(own: &[Vector], other: &Vector) -> f32 {
    own.iter().map(|own| dot(own, other)).fold(f32::MIN, f32::max)
}
