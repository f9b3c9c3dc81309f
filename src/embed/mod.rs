//! Text to vectors: the [`Embedder`] trait and those who implement it.
//!
//! Every vector is f32, of length 1, and depends on its text alone, never on what else is
//! being embedded. This module must not know what a memory is, who asks, or why.

mod asking;
pub mod cache;
pub mod deterministic;
mod error;
pub mod joined;
pub mod onnx;
mod reading;
pub mod remote;
mod space;
pub mod timed;

use std::sync::Arc;

use async_trait::async_trait;
use tokio::time::{Instant, timeout_at};

pub use self::asking::{Asking, asking_part};
pub use self::error::EmbedError;
pub use self::reading::{Layers, Missing, Partial, Reading};
pub use self::space::{Member, Pooling, Precision, Run, Space};

/// An embedding: f32, length 1, as many numbers as the space has dimensions.
pub type Vector = Arc<[f32]>;

/// Tokens of a question that are embedded, special tokens included. A longer message is
/// cut to the part that asks.
pub const QUERY_TOKENS: usize = 64;
/// Tokens of a passage that are embedded, special tokens included; the rest is left out.
/// The length that all-MiniLM-L6-v2 was published with (sentence_bert_config.json).
pub const PASSAGE_TOKENS: usize = 256;

/// Turns text into vectors of one [`Space`].
///
/// A future that is dropped withdraws its request, unless that was sent to a server already.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// The space that all vectors of this embedder are in.
    fn space(&self) -> &Space;

    /// The vector of a question; at most [`QUERY_TOKENS`] of it count.
    ///
    /// # Errors
    /// [`EmbedError`], but not [`EmbedError::Load`].
    async fn embed_query(&self, text: &str) -> Result<Vector, EmbedError>;

    /// The vector of a question, and what else the model makes of it. Embedders that know
    /// no more than the vector need not do anything.
    ///
    /// # Errors
    /// As [`Embedder::embed_query`].
    async fn read_query(&self, text: &str) -> Result<Reading, EmbedError> {
        Ok(Reading::whole(self.embed_query(text).await?, None))
    }

    /// What is made of a question by then. Where several models embed, those that are done carry
    /// it.
    ///
    /// # Errors
    /// As [`Embedder::embed_query`], and [`EmbedError::Late`].
    async fn read_query_by(&self, text: &str, until: Instant) -> Result<Reading, EmbedError> {
        timeout_at(until, self.read_query(text)).await.unwrap_or(Err(EmbedError::Late))
    }

    /// The vectors of texts to be found later, in their order; at most [`PASSAGE_TOKENS`]
    /// of each count. Questions go first when both wait.
    ///
    /// # Errors
    /// As [`Embedder::embed_query`]; one failing text fails the call.
    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vector>, EmbedError>;

    /// Whether embedding works right now, found out by doing it.
    ///
    /// # Errors
    /// As [`Embedder::embed_query`].
    async fn check(&self) -> Result<(), EmbedError> {
        self.embed_query("ready").await.map(drop)
    }

    /// The embedders of the models that make its vectors together; none where one makes them alone.
    fn models(&self) -> &[Arc<dyn Embedder>] {
        &[]
    }

    /// Ends what runs for this embedder; later requests are [`EmbedError::Closed`].
    async fn close(&self) {}
}

/// The embedder of a model that `is` the one meant: this, or one of those that it is made of.
pub fn model_of(embedder: &dyn Embedder, is: impl Fn(&Space) -> bool) -> Option<&dyn Embedder> {
    if is(embedder.space()) {
        return Some(embedder);
    }
    embedder.models().iter().map(AsRef::as_ref).find(|model| is(model.space()))
}

/// The product of two vectors; of vectors of length 1, their cosine.
#[must_use]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Scales `vector` to length 1.
///
/// # Errors
/// A vector without a direction: zero, or not finite.
fn normalise(vector: &mut [f32]) -> Result<(), EmbedError> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if !length.is_finite() || length <= f32::MIN_POSITIVE {
        return Err(EmbedError::Failed(format!(
            "the vector has length {length}, so it has no direction"
        )));
    }
    for x in vector {
        *x /= length;
    }
    Ok(())
}
