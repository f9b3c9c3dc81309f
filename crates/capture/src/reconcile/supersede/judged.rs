//! How likely a message outdates older sentences, by trained models.

use crate::reconcile::turn_text::told;
use memgate_embed::{EmbedError, Embedder, Vector, dot};
use memgate_models::{Outdated, Pair, Standing, UpdateFeatures, UpdateModel};
use memgate_text::compare::Statement;

/// How a message stands to one older sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The features.
    pub features: UpdateFeatures,
    /// The message's sentence that is nearest to the older one.
    pub nearest: String,
    /// How likely the sentence is outdated, 0 to 1.
    pub likelihood: f32,
    /// The verdict.
    pub outdated: Outdated,
}

impl Judged {
    const NOT: Self = Self {
        features: UpdateFeatures::NONE,
        nearest: String::new(),
        likelihood: 0.0,
        outdated: Outdated::No,
    };
}

/// A sentence, as words and as vectors.
struct Told {
    statement: Statement,
    vector: Vector,
    centred: Vec<f32>,
}

impl Told {
    fn of(text: &str, vector: &Vector, model: &UpdateModel) -> Self {
        Self {
            statement: Statement::of(text),
            vector: vector.clone(),
            centred: model.centred(vector),
        }
    }
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
        return Ok(vec![Judged::NOT; olds.len()]);
    }
    let texts = parts.iter().copied().chain([message]).map(str::to_owned);
    let vectors = embedder.embed_passages(texts.chain(olds.iter().cloned()).collect()).await?;
    let (own, others) = vectors.split_at(parts.len() + 1);
    let read = |(text, vector): (&str, &Vector)| Told::of(text, vector, model);
    let sentences: Vec<Told> = parts.iter().copied().zip(own).map(read).collect();
    let Some(whole) = own.last().map(|vector| Told::of(message, vector, model)) else {
        return Ok(vec![Judged::NOT; olds.len()]);
    };
    let olds: Vec<Told> = olds.iter().map(String::as_str).zip(others).map(read).collect();
    let announced = model.announces(message, &whole.vector);
    let nearest: Vec<usize> = olds.iter().map(|old| nearest(&sentences, old)).collect();
    let cosines = olds.iter().zip(&nearest).map(|(old, at)| {
        (dot(&sentences[*at].centred, &old.centred), dot(&whole.centred, &old.centred))
    });
    let standings = Standing::among(&cosines.collect::<Vec<_>>());
    let judge = |((old, at), standing): ((&Told, usize), Standing)| {
        let near = &sentences[at];
        let raw = sentences.iter().chain([&whole]).map(|own| dot(&own.vector, &old.vector));
        let pair = Pair {
            message: &whole.statement,
            nearest: &near.statement,
            old: &old.statement,
            length: parts[at].len(),
            sentences: parts.len(),
            cosine: raw.fold(f32::MIN, f32::max),
            standing,
            announced,
        };
        let features = pair.features();
        let likelihood = if model.may_outdate(announced) {
            model.likelihood(&features, &near.centred, &old.centred)
        } else {
            0.0
        };
        Judged {
            features,
            nearest: parts[at].to_owned(),
            likelihood,
            outdated: model.verdict(likelihood, &features),
        }
    };
    Ok(olds.iter().zip(nearest).zip(standings).map(judge).collect())
}

/// The place of the sentence that is nearest to an older one.
fn nearest(sentences: &[Told], old: &Told) -> usize {
    let near = |at: &usize| dot(&sentences[*at].centred, &old.centred);
    (0..sentences.len()).max_by(|a, b| near(a).total_cmp(&near(b))).unwrap_or(0)
}
