//! Statements that the user asked to be remembered, word for word. They are not judged, only
//! admitted like any candidate.

use jiff::civil::Date;

use crate::{candidate::Candidate, extract::local};
use memgate_core::memory::Source;
use memgate_embed::{EmbedError, Embedder};
use memgate_models::Models;

/// How sure it is: the user said so, and said that it matters.
const CONFIDENCE: f32 = 0.95;

/// How much it matters, where 0.5 is usual.
const IMPORTANCE: f32 = 0.8;

/// The candidates of statements said on a day.
pub(crate) async fn extract(
    embedder: &dyn Embedder,
    models: &Models,
    statements: Vec<String>,
    said: Date,
) -> Result<Vec<Candidate>, EmbedError> {
    let found = local::as_they_are(embedder, models, statements, said).await?;
    let asked = |found: Candidate| Candidate {
        source: Some(Source::ExplicitUserInput),
        confidence: Some(CONFIDENCE),
        importance: Some(IMPORTANCE),
        ..found
    };
    Ok(found.into_iter().map(asked).collect())
}
