//! An LRU cache in front of an [`Embedder`].
//!
//! Keys are digests, so no text stays in memory. Capacity is a number of vectors; the layers of
//! queries have a smaller limit.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use lru::LruCache;
use sha2::{Digest, Sha256};

use crate::{EmbedError, Embedder, Layers, Reading, Space, Vector};

/// Longer texts (in bytes) bypass the cache: hashing them is too slow for the caller's thread, and
/// they rarely repeat.
const MAX_TEXT: usize = 64 * 1024;

/// Number of queries whose layers are cached, about 6 KB each. Layers are needed for the decision
/// and again for the search right after it; vectors stay useful longer.
const LAYERED: NonZeroUsize = NonZeroUsize::new(512).expect("it is not zero");

/// Digest of role and text. One cache serves one embedder, so the space is always the same.
type Key = [u8; 32];

#[derive(Clone, Copy)]
enum Role {
    Query,
    Passage,
}

/// An LRU cache in front of an embedder.
pub struct Cached<E> {
    inner: E,
    /// Locked for single look-ups only, never across an await.
    known: Mutex<Known>,
}

struct Known {
    vectors: LruCache<Key, Entry>,
    layers: LruCache<Key, Layers>,
}

#[derive(Clone)]
struct Entry {
    vector: Vector,
    /// Whether the embedder returned layers for it; they may have been evicted.
    layered: bool,
}

impl<E: Embedder> Cached<E> {
    /// Caches up to `entries` vectors of `inner`; each takes 4 bytes per dimension and about 100
    /// more.
    pub fn new(inner: E, entries: NonZeroUsize) -> Self {
        let layered = entries.min(LAYERED);
        let known = Known { vectors: LruCache::new(entries), layers: LruCache::new(layered) };
        Self { inner, known: Mutex::new(known) }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // After a panic the cache is incomplete but consistent.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn vector(&self, key: Option<&Key>) -> Option<Vector> {
        self.known().vectors.get(key?).map(|entry| entry.vector.clone())
    }

    fn reading(&self, key: Option<&Key>) -> Option<Reading> {
        let (key, mut known) = (key?, self.known());
        let Entry { vector, layered } = known.vectors.get(key)?.clone();
        let layers = known.layers.get(key).cloned();
        (layers.is_some() || !layered).then(|| Reading::whole(vector, layers))
    }

    fn put(&self, key: Option<Key>, reading: &Reading) {
        let Some(key) = key else { return };
        let Reading { vector, layers, .. } = reading.clone();
        let mut known = self.known();
        known.vectors.put(key, Entry { vector, layered: layers.is_some() });
        if let Some(layers) = layers {
            known.layers.put(key, layers);
        }
    }

    async fn ask(&self, key: Option<Key>, text: &str) -> Result<Reading, EmbedError> {
        let reading = self.inner.read_query(text).await?;
        self.put(key, &reading);
        Ok(reading)
    }
}

fn key(role: Role, text: &str) -> Option<Key> {
    if text.len() > MAX_TEXT {
        return None;
    }
    let role = match role {
        Role::Query => [0],
        Role::Passage => [1],
    };
    let digest = Sha256::new().chain_update(role).chain_update(text);
    Some(digest.finalize().into())
}

#[async_trait]
impl<E: Embedder> Embedder for Cached<E> {
    fn space(&self) -> &Space {
        self.inner.space()
    }

    async fn embed_query(&self, text: &str) -> Result<Vector, EmbedError> {
        let key = key(Role::Query, text);
        match self.vector(key.as_ref()) {
            Some(vector) => Ok(vector),
            None => Ok(self.ask(key, text).await?.vector),
        }
    }

    async fn read_query(&self, text: &str) -> Result<Reading, EmbedError> {
        let key = key(Role::Query, text);
        match self.reading(key.as_ref()) {
            Some(reading) => Ok(reading),
            None => self.ask(key, text).await,
        }
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vector>, EmbedError> {
        let keys: Vec<_> = texts.iter().map(|text| key(Role::Passage, text)).collect();
        let known: Vec<_> = keys.iter().map(|key| self.vector(key.as_ref())).collect();
        let unknown = texts.into_iter().zip(&known).filter(|(_, known)| known.is_none());
        let unknown: Vec<String> = unknown.map(|(text, _)| text).collect();
        let fresh = if unknown.is_empty() {
            Vec::new()
        } else {
            self.inner.embed_passages(unknown).await?
        };
        let mut fresh = fresh.into_iter();
        let mut vectors = Vec::with_capacity(known.len());
        for (key, known) in keys.into_iter().zip(known) {
            vectors.push(match known {
                Some(vector) => vector,
                None => {
                    let missing = || EmbedError::Failed("a passage has no vector".into());
                    let vector = fresh.next().ok_or_else(missing)?;
                    self.put(key, &Reading::whole(vector.clone(), None));
                    vector
                }
            });
        }
        Ok(vectors)
    }

    async fn read_spans(
        &self,
        text: &str,
        spans: &[Range<usize>],
    ) -> Result<Option<Vec<Layers>>, EmbedError> {
        self.inner.read_spans(text, spans).await
    }

    async fn check(&self) -> Result<(), EmbedError> {
        self.inner.check().await
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;
    use crate::deterministic::DeterministicEmbedder;

    /// Counts the texts that reach it; fails on demand.
    struct Counting {
        inner: DeterministicEmbedder,
        texts: AtomicUsize,
        failing: AtomicBool,
        /// Also returns layers: the text's length.
        layered: bool,
    }

    #[async_trait]
    impl Embedder for Counting {
        fn space(&self) -> &Space {
            self.inner.space()
        }

        async fn embed_query(&self, text: &str) -> Result<Vector, EmbedError> {
            self.texts.fetch_add(1, Ordering::Relaxed);
            if self.failing.load(Ordering::Relaxed) {
                return Err(EmbedError::Busy);
            }
            self.inner.embed_query(text).await
        }

        async fn read_query(&self, text: &str) -> Result<Reading, EmbedError> {
            let vector = self.embed_query(text).await?;
            #[expect(clippy::cast_precision_loss, reason = "a short text")]
            let layers = self.layered.then(|| Layers::from([text.len() as f32]));
            Ok(Reading::whole(vector, layers))
        }

        async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vector>, EmbedError> {
            self.texts.fetch_add(texts.len(), Ordering::Relaxed);
            self.inner.embed_passages(texts).await
        }
    }

    fn cached(entries: usize) -> Cached<Counting> {
        cached_with(entries, true)
    }

    fn cached_with(entries: usize, layered: bool) -> Cached<Counting> {
        let inner = Counting {
            layered,
            inner: DeterministicEmbedder::new(32),
            texts: AtomicUsize::new(0),
            failing: AtomicBool::new(false),
        };
        Cached::new(inner, NonZeroUsize::new(entries).unwrap())
    }

    fn asked(cache: &Cached<Counting>) -> usize {
        cache.inner.texts.load(Ordering::Relaxed)
    }

    #[tokio::test]
    async fn a_text_is_embedded_once_for_each_role() {
        let cache = cached(8);
        let first = cache.embed_query("a").await.unwrap();
        let again = cache.embed_query("a").await.unwrap();
        assert!(Vector::ptr_eq(&first, &again));
        cache.embed_passages(vec!["a".into()]).await.unwrap();
        cache.embed_passages(vec!["a".into()]).await.unwrap();
        assert_eq!(asked(&cache), 2);
    }

    #[tokio::test]
    async fn reading_and_embedding_a_query_embeds_it_once() {
        for (layered, first_reads) in [(true, true), (true, false), (false, true), (false, false)] {
            let cache = cached_with(8, layered);
            for reads in [first_reads, !first_reads, true] {
                if reads {
                    let reading = cache.read_query("ab").await.unwrap();
                    assert_eq!(reading.layers.as_deref(), layered.then_some(&[2.0][..]));
                } else {
                    cache.embed_query("ab").await.unwrap();
                }
            }
            assert_eq!(asked(&cache), 1);
        }
    }

    #[tokio::test]
    async fn layers_are_evicted_before_vectors_and_computed_again() {
        let cache = cached(LAYERED.get() * 2);
        for number in 0..=LAYERED.get() {
            cache.read_query(&number.to_string()).await.unwrap();
        }
        let so_far = asked(&cache);
        cache.embed_query("0").await.unwrap();
        assert_eq!(asked(&cache), so_far);
        assert!(cache.read_query("0").await.unwrap().layers.is_some());
        assert_eq!(asked(&cache), so_far + 1);
    }

    #[tokio::test]
    async fn embeds_only_uncached_passages_and_keeps_their_order() {
        let cache = cached(8);
        let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect();
        cache.embed_passages(words(&["b", "d"])).await.unwrap();
        let all = cache.embed_passages(words(&["a", "b", "c", "d"])).await.unwrap();
        assert_eq!(asked(&cache), 4);
        let plain = cache.inner.inner.embed_passages(words(&["a", "b", "c", "d"])).await;
        assert_eq!(all, plain.unwrap());
    }

    #[tokio::test]
    async fn evicts_the_least_recently_used_vector() {
        let cache = cached(2);
        for text in ["a", "b", "a", "c", "a"] {
            cache.embed_query(text).await.unwrap();
        }
        assert_eq!(asked(&cache), 3);
        cache.embed_query("b").await.unwrap();
        assert_eq!(asked(&cache), 4);
    }

    #[tokio::test]
    async fn failures_are_not_cached_and_checks_bypass_the_cache() {
        let cache = cached(2);
        cache.inner.failing.store(true, Ordering::Relaxed);
        assert_eq!(cache.embed_query("a").await, Err(EmbedError::Busy));
        cache.inner.failing.store(false, Ordering::Relaxed);
        cache.embed_query("a").await.unwrap();
        cache.check().await.unwrap();
        cache.inner.failing.store(true, Ordering::Relaxed);
        assert_eq!(cache.check().await, Err(EmbedError::Busy));
    }

    #[tokio::test]
    async fn very_long_texts_bypass_the_cache() {
        let cache = cached(2);
        let text = "x".repeat(MAX_TEXT + 1);
        cache.embed_query(&text).await.unwrap();
        cache.embed_query(&text).await.unwrap();
        assert_eq!(asked(&cache), 2);
    }
}
