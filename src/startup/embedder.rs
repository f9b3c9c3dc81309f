//! The embedder that the configuration names, with its cache; or none, for commands without need of one.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use async_trait::async_trait;

use super::StartError;
use crate::{
    config::Config,
    embed::{
        EmbedError, Embedder, Run, Space, Vector,
        cache::Cached,
        onnx::{OnnxEmbedder, OnnxSettings},
        remote::{RemoteEmbedder, RemoteSettings},
    },
    remote::Address,
};

/// The longest the start waits for a model to show that it works.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where a server's embeddings are, unless the configuration says so.
const PATH: &str = "/v1/embeddings";

/// Loads the model, which blocks for some hundred milliseconds; a server is not asked yet.
pub(super) fn load(config: &Config) -> Result<Arc<dyn Embedder>, EmbedError> {
    let embedding = &config.memory.embedding;
    let Some((provider, model)) = embedding.remote() else {
        let onnx = OnnxEmbedder::load(&OnnxSettings {
            runtime: config.runtime_library(),
            folder: config.model_folder(),
            space: space(config),
            threads: NonZeroUsize::new(embedding.threads).unwrap_or(NonZeroUsize::MIN),
        })?;
        return Ok(with_cache(onnx, embedding.cache_entries));
    };
    let endpoint = embedding.endpoint_of(provider);
    let remote = RemoteEmbedder::new(RemoteSettings {
        address: Address { url: endpoint.url(PATH), api_key: endpoint.api_key() },
        provider,
        model: model.to_owned(),
        space: space(config),
        timeout: embedding.timeout(),
    })?;
    Ok(with_cache(remote, embedding.cache_entries))
}

fn with_cache(embedder: impl Embedder + 'static, entries: usize) -> Arc<dyn Embedder> {
    match NonZeroUsize::new(entries) {
        Some(entries) => Arc::new(Cached::new(embedder, entries)),
        None => Arc::new(embedder),
    }
}

/// Whether embedding works at start. A server may be down then: it is used once it is there.
///
/// # Errors
/// [`StartError::Embedder`] when the model gives vectors of another size than is configured: nothing
/// but another configuration can help.
pub(super) async fn works(embedder: &dyn Embedder) -> Result<bool, StartError> {
    let error = match tokio::time::timeout(PATIENCE, embedder.check()).await {
        Ok(Ok(())) => return Ok(true),
        Ok(Err(error @ EmbedError::Dimension { .. })) => return Err(StartError::Embedder(error)),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("no answer within {} s", PATIENCE.as_secs()),
    };
    tracing::warn!(
        error,
        "Embedder unavailable, memories are found by their words until it is back"
    );
    Ok(false)
}

/// Stands in for the model where nothing is embedded: it answers that it is closed.
pub(super) fn absent(config: &Config) -> Arc<dyn Embedder> {
    Arc::new(Absent { space: space(config) })
}

fn space(config: &Config) -> Space {
    let embedding = &config.memory.embedding;
    Space {
        model: embedding.model.clone(),
        dimension: embedding.dimension,
        run: match embedding.remote() {
            Some(_) => Run::Remote,
            None => Run::Here { pooling: embedding.pooling, precision: embedding.precision },
        },
        query_prefix: embedding.query_prefix.clone(),
        passage_prefix: embedding.passage_prefix.clone(),
    }
}

struct Absent {
    space: Space,
}

#[async_trait]
impl Embedder for Absent {
    fn space(&self) -> &Space {
        &self.space
    }

    async fn embed_query(&self, _: &str) -> Result<Vector, EmbedError> {
        Err(EmbedError::Closed)
    }

    async fn embed_passages(&self, _: Vec<String>) -> Result<Vec<Vector>, EmbedError> {
        Err(EmbedError::Closed)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::{EmbeddingConfig, Pooling, Precision};

    /// Embeds with a small model that gives a vector for each token, configured as `change` says;
    /// `None` where ONNX Runtime was not fetched.
    async fn embed(change: impl Fn(&mut EmbeddingConfig)) -> Option<(Vector, Vector)> {
        let here = |path: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let mut config = Config { assets_dir: here(".assets"), ..Config::default() };
        config.memory.embedding = EmbeddingConfig {
            model: "tokens".into(),
            folder: Some(here("testdata/embed/tokens")),
            dimension: 4,
            precision: Precision::Fp32,
            ..EmbeddingConfig::default()
        };
        change(&mut config.memory.embedding);
        if !config.runtime_library().exists() {
            let required = std::env::var_os("MEMGATE_REQUIRE_ASSETS").is_some_and(|it| it == "1");
            assert!(!required, "ONNX Runtime is missing: run `cargo xtask assets`");
            return None;
        }
        let embedder = load(&config).unwrap();
        let query = embedder.embed_query("ab").await.unwrap();
        let passage = embedder.embed_passages(vec!["ab".into()]).await.unwrap().remove(0);
        embedder.close().await;
        Some((query, passage))
    }

    #[tokio::test]
    async fn pooling_and_prefixes_are_used_as_they_are_configured() {
        let Some(plain) = embed(|_| {}).await else { return };
        let cls = embed(|it| it.pooling = Pooling::Cls).await.unwrap();
        assert_ne!(cls, plain);
        let asking = embed(|it| it.query_prefix = "q: ".into()).await.unwrap();
        assert!(asking.0 != plain.0 && asking.1 == plain.1);
        let telling = embed(|it| it.passage_prefix = "p: ".into()).await.unwrap();
        assert!(telling.0 == plain.0 && telling.1 != plain.1);
    }

    #[test]
    fn the_space_of_a_model_in_a_folder_and_of_one_on_a_server_are_named_apart() {
        let id = |model: &str| {
            let mut config = Config::default();
            config.memory.embedding.model = model.into();
            space(&config).id()
        };
        assert_eq!(id("all-MiniLM-L6-v2"), "all-MiniLM-L6-v2:384:mean:int8");
        assert_eq!(id("openai/m"), "openai/m:384:remote");
    }
}
