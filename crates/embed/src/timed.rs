//! Measures the calls of an embedder.

use std::{ops::Range, sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::time::Instant;

use crate::{EmbedError, Embedder, Layers, Reading, Space, Vector};

/// Called with the duration of every successful call.
pub type Observe = Arc<dyn Fn(Duration) + Send + Sync>;

/// Measures the calls of another embedder. Placed below a cache, it measures the model itself.
pub struct Timed<E> {
    inner: E,
    observe: Observe,
}

impl<E: Embedder> Timed<E> {
    /// Reports the calls of `inner` to `observe`.
    pub fn new(inner: E, observe: Observe) -> Self {
        Self { inner, observe }
    }

    async fn timed<T>(
        &self,
        call: impl Future<Output = Result<T, EmbedError>>,
    ) -> Result<T, EmbedError> {
        let began = Instant::now();
        let given = call.await?;
        (self.observe)(began.elapsed());
        Ok(given)
    }
}

#[async_trait]
impl<E: Embedder> Embedder for Timed<E> {
    fn space(&self) -> &Space {
        self.inner.space()
    }

    async fn embed_query(&self, text: &str) -> Result<Vector, EmbedError> {
        self.timed(self.inner.embed_query(text)).await
    }

    async fn read_query(&self, text: &str) -> Result<Reading, EmbedError> {
        self.timed(self.inner.read_query(text)).await
    }

    async fn read_query_by(&self, text: &str, until: Instant) -> Result<Reading, EmbedError> {
        self.timed(self.inner.read_query_by(text, until)).await
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vector>, EmbedError> {
        self.timed(self.inner.embed_passages(texts)).await
    }

    async fn read_spans(
        &self,
        text: &str,
        spans: &[Range<usize>],
    ) -> Result<Option<Vec<Layers>>, EmbedError> {
        self.timed(self.inner.read_spans(text, spans)).await
    }

    async fn check(&self) -> Result<(), EmbedError> {
        self.inner.check().await
    }

    fn models(&self) -> &[Arc<dyn Embedder>] {
        self.inner.models()
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::deterministic::DeterministicEmbedder;

    #[tokio::test]
    async fn reports_each_successful_call_once() {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let observe = Arc::new(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        let timed = Timed::new(DeterministicEmbedder::new(8), observe);
        assert!(timed.embed_query("a").await.is_ok());
        assert!(timed.read_query("b").await.is_ok());
        assert!(timed.embed_passages(vec!["c".into(), "d".into()]).await.is_ok());
        assert!(timed.check().await.is_ok());
        assert_eq!(calls.load(Ordering::Relaxed), 3);
    }
}
