//! Text to vectors: the [`Embedder`] trait and its implementations.
//!
//! Every vector is `f32`, has length 1 and depends only on its text, never on the other texts of a
//! batch. This module must not depend on memories or users.

pub mod cache;
pub mod client;
pub mod deterministic;
pub mod ensemble;
mod error;
pub mod llm;
pub mod onnx;
mod reading;
pub mod remote;
mod space;
pub mod timed;

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::time::{Instant, timeout_at};

pub use self::error::EmbedError;
pub use self::reading::{Layers, Missing, Partial, Reading};
pub use self::space::{Member, Pooling, Precision, Run, Space};
pub use memgate_text::question::asking_part::{Asking, asking_part};

/// An embedding: `f32`, normalised to length 1; its size is the space's dimension.
pub type Vector = Arc<[f32]>;

/// Maximum number of tokens of an embedded query, including special tokens. A longer message is cut
/// to the part that asks.
pub const QUERY_TOKENS: usize = 64;
/// Maximum number of tokens of an embedded passage, including special tokens; the rest is cut off.
/// This is the length all-MiniLM-L6-v2 was published with (sentence_bert_config.json).
pub const PASSAGE_TOKENS: usize = 256;

/// Maximum number of tokens that are read at once with [`Embedder::read_spans`], including special tokens: as many as the
/// models have positions for.
pub const READ_TOKENS: usize = 512;

/// Turns text into vectors of one [`Space`].
///
/// Dropping a future cancels its request, unless it was already sent to a server.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// The space of all vectors of this embedder.
    fn space(&self) -> &Space;

    /// Embeds a query, of which at most [`QUERY_TOKENS`] are used.
    ///
    /// # Errors
    /// [`EmbedError`], but not [`EmbedError::Load`].
    async fn embed_query(&self, text: &str) -> Result<Vector, EmbedError>;

    /// Embeds a query and returns its inner layers too, if the embedder provides them.
    ///
    /// # Errors
    /// As [`Embedder::embed_query`].
    async fn read_query(&self, text: &str) -> Result<Reading, EmbedError> {
        Ok(Reading::whole(self.embed_query(text).await?, None))
    }

    /// As [`Embedder::read_query`], with a deadline. An ensemble returns the results of the models
    /// that are done by then.
    ///
    /// # Errors
    /// As [`Embedder::embed_query`], and [`EmbedError::Late`].
    async fn read_query_by(&self, text: &str, until: Instant) -> Result<Reading, EmbedError> {
        timeout_at(until, self.read_query(text)).await.unwrap_or(Err(EmbedError::Late))
    }

    /// Embeds texts to be stored, in their order; at most [`PASSAGE_TOKENS`] of each are used.
    /// Queries take precedence over passages.
    ///
    /// # Errors
    /// As [`Embedder::embed_query`]; one failing text fails the call.
    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vector>, EmbedError>;

    /// Reads a text whole and returns the inner layers of each of `spans`, means over its tokens. `None` from models that do
    /// not provide them. The spans are byte ranges of the text in ascending order of their starts, and may nest. A
    /// span of a text longer than [`READ_TOKENS`] is read with the text that follows it.
    ///
    /// # Errors
    /// As [`Embedder::embed_query`].
    async fn read_spans(
        &self,
        _text: &str,
        _spans: &[Range<usize>],
    ) -> Result<Option<Vec<Layers>>, EmbedError> {
        Ok(None)
    }

    /// Checks that embedding works now by embedding a text.
    ///
    /// # Errors
    /// As [`Embedder::embed_query`].
    async fn check(&self) -> Result<(), EmbedError> {
        self.embed_query("ready").await.map(drop)
    }

    /// The embedders of an ensemble; empty for a single model.
    fn models(&self) -> &[Arc<dyn Embedder>] {
        &[]
    }

    /// Stops the embedder; later requests fail with [`EmbedError::Closed`].
    async fn close(&self) {}
}

/// The embedder whose space matches `is`: this one or a member of the ensemble.
pub fn model_of(embedder: &dyn Embedder, is: impl Fn(&Space) -> bool) -> Option<&dyn Embedder> {
    if is(embedder.space()) {
        return Some(embedder);
    }
    embedder.models().iter().map(AsRef::as_ref).find(|model| is(model.space()))
}

/// The names of an embedder's models: its own, or those of the ensemble in their order.
#[must_use]
pub fn model_names(embedder: &dyn Embedder) -> Vec<&str> {
    match embedder.models() {
        [] => vec![embedder.space().model.as_str()],
        models => models.iter().map(|model| model.space().model.as_str()).collect(),
    }
}

/// Dot product; for vectors of length 1 this is their cosine.
#[must_use]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Scales `vector` to length 1.
///
/// # Errors
/// A vector without a direction: zero or not finite.
fn normalise(vector: &mut [f32]) -> Result<(), EmbedError> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if !length.is_finite() || length <= f32::MIN_POSITIVE {
        return Err(EmbedError::Failed(format!(
            "the vector has length {length} and cannot be normalised"
        )));
    }
    for x in vector {
        *x /= length;
    }
    Ok(())
}
