//! From evidence to a relevance between 0 and 1 that a threshold can act on.
//!
//! A logistic regression on the cosine and on the part of the query's weight in
//! rare words that was found: `1 / (1 + exp(-(bias + cosine·c + coverage·l)))`.

/// Added to every sum.
pub const BIAS: f32 = -3.2;
/// Weight of the best cosine of a memory's parts.
pub const COSINE: f32 = 6.0;
/// Weight of the lexical coverage.
pub const COVERAGE: f32 = 3.0;

/// How likely it is that a memory matters to the query.
#[must_use]
pub fn relevance(cosine: f32, coverage: f32) -> f32 {
    let sum = BIAS + COSINE * cosine.max(0.0) + COVERAGE * coverage;
    1.0 / (1.0 + (-sum).exp())
}
