//! Builds the configured embedder: its models with their caches, or a placeholder for commands that
//! need none.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::{runtime::Handle, time::timeout};

use crate::startup::StartError;
use memgate_config::{Config, EmbeddingConfig, EmbeddingModel};
use memgate_embed::{
    EmbedError, Embedder, Member, Run, Space, Vector,
    cache::Cached,
    client::Address,
    ensemble::EnsembleEmbedder,
    onnx::{OnnxEmbedder, OnnxSettings},
    remote::{RemoteEmbedder, RemoteSettings},
    timed::Timed,
};
use memgate_telemetry::Metrics;

/// Maximum time that start-up waits for a model to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Default URL path of a server's embeddings endpoint.
const PATH: &str = "/v1/embeddings";

/// Loads the configured models, which blocks for a few hundred milliseconds per model. Servers are
/// not contacted yet.
///
/// # Errors
/// [`StartError::Embedder`], with the key of the model that cannot be used.
pub(super) fn load(
    config: &Config,
    metrics: &Arc<Metrics>,
) -> Result<Arc<dyn Embedder>, StartError> {
    let mut models = Vec::new();
    for EmbeddingModel { key, weight, config: model } in config.memory.embedding.models() {
        let loaded = load_one(config, &model, metrics);
        models.push((loaded.map_err(|cause| StartError::Embedder { key, cause })?, weight));
    }
    Ok(match <[_; 1]>::try_from(models) {
        Ok([(only, _)]) => only,
        Err(several) => Arc::new(EnsembleEmbedder::new(several)),
    })
}

fn load_one(
    config: &Config,
    model: &EmbeddingConfig,
    metrics: &Arc<Metrics>,
) -> Result<Arc<dyn Embedder>, EmbedError> {
    let Some((provider, name)) = model.remote() else {
        let onnx = OnnxEmbedder::load(&OnnxSettings {
            runtime: config.runtime_library(),
            folder: config.folder_of(model),
            space: space_of(model),
            threads: NonZeroUsize::new(model.threads).unwrap_or(NonZeroUsize::MIN),
        })?;
        return Ok(with_cache(timed(onnx, metrics), model.cache_entries));
    };
    let endpoint = model.endpoint_of(provider);
    let remote = RemoteEmbedder::new(RemoteSettings {
        address: Address { url: endpoint.url(PATH), api_key: endpoint.api_key() },
        provider,
        model: name.to_owned(),
        space: space_of(model),
        timeout: model.timeout(),
    })?;
    Ok(with_cache(timed(remote, metrics), model.cache_entries))
}

/// Placed below the cache, so that only the model's own time is measured.
fn timed<E: Embedder>(embedder: E, metrics: &Arc<Metrics>) -> Timed<E> {
    let metrics = Arc::clone(metrics);
    Timed::new(embedder, Arc::new(move |took| metrics.embedded(took)))
}

fn with_cache(embedder: impl Embedder + 'static, entries: usize) -> Arc<dyn Embedder> {
    match NonZeroUsize::new(entries) {
        Some(entries) => Arc::new(Cached::new(embedder, entries)),
        None => Arc::new(embedder),
    }
}

/// Whether embedding works at start-up. A server may be down; it is used once it is back.
///
/// # Errors
/// [`StartError::Embedder`] when the model's dimension differs from the configuration: only a
/// changed configuration can fix that.
pub(super) async fn works(embedder: &dyn Embedder) -> Result<bool, StartError> {
    let error = match timeout(PATIENCE, embedder.check()).await {
        Ok(Ok(())) => return Ok(true),
        Ok(Err(cause @ EmbedError::Dimension { .. })) => {
            return Err(StartError::Embedder { key: "memory.embedding".to_owned(), cause });
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("no response within {} s", PATIENCE.as_secs()),
    };
    tracing::warn!(error, "Embedder unavailable, searching by words alone until it is back");
    Ok(false)
}

/// Fails unless embedding works now. Needs a runtime that may be blocked.
///
/// # Errors
/// [`StartError::Embedder`] with the model's name.
#[expect(clippy::disallowed_methods, reason = "start-up runs this on a thread that may block")]
pub(super) fn answers(embedder: &dyn Embedder) -> Result<(), StartError> {
    let late = |_| EmbedError::Unavailable(format!("no response within {} s", PATIENCE.as_secs()));
    let checked = async { timeout(PATIENCE, embedder.check()).await.map_err(late)? };
    let key = format!("memory.embedding ({})", embedder.space().model);
    Handle::current().block_on(checked).map_err(|cause| StartError::Embedder { key, cause })
}

/// A placeholder for commands that embed nothing; every call fails with `Closed`.
pub(super) fn absent(config: &Config) -> Arc<dyn Embedder> {
    Arc::new(Absent { space: space(config) })
}

/// The embedding space of all models together.
fn space(config: &Config) -> Space {
    let models = config.memory.embedding.models().into_iter();
    let members: Vec<_> =
        models.map(|it| Member { space: space_of(&it.config), weight: it.weight }).collect();
    match <[Member; 1]>::try_from(members) {
        Ok([only]) => only.space,
        Err(several) => Space::ensemble(several),
    }
}

fn space_of(model: &EmbeddingConfig) -> Space {
    Space {
        model: model.model.clone(),
        dimension: model.dimension,
        run: match model.remote() {
            Some(_) => Run::Remote,
            None => Run::Here { pooling: model.pooling, precision: model.precision },
        },
        query_prefix: model.query_prefix().to_owned(),
        passage_prefix: model.passage_prefix().to_owned(),
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
mod tests {
    use std::path::Path;

    use super::*;
    use memgate_config::AdditionalEmbeddingConfig;
    use memgate_embed::{Pooling, Precision};

    /// Embeds with a small model that returns token vectors, with settings changed by `change`.
    async fn embed(change: impl Fn(&mut EmbeddingConfig)) -> (Vector, Vector) {
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
        let embedder = load(&config, &Metrics::new()).unwrap();
        let query = embedder.embed_query("ab").await.unwrap();
        let passage = embedder.embed_passages(vec!["ab".into()]).await.unwrap().remove(0);
        embedder.close().await;
        (query, passage)
    }

    #[tokio::test]
    async fn uses_the_configured_pooling_and_prefixes() {
        let plain = embed(|_| {}).await;
        let cls = embed(|it| it.pooling = Pooling::Cls).await;
        assert_ne!(cls, plain);
        let asking = embed(|it| it.query_prefix = Some("q: ".into())).await;
        assert!(asking.0 != plain.0 && asking.1 == plain.1);
        let telling = embed(|it| it.passage_prefix = Some("p: ".into())).await;
        assert!(telling.0 == plain.0 && telling.1 != plain.1);
    }

    #[test]
    fn local_and_remote_models_have_different_spaces() {
        let id = |model: &str| {
            let mut config = Config::default();
            config.memory.embedding.model = model.into();
            space(&config).id()
        };
        assert_eq!(id("all-MiniLM-L6-v2"), "all-MiniLM-L6-v2:384:mean:int8");
        assert_eq!(id("openai/m"), "openai/m:384:remote");
    }

    #[tokio::test]
    async fn additional_models_are_part_of_the_ensemble_and_errors_name_the_model() {
        // ONNX Runtime is loaded once per process, so with the same path as above.
        let assets_dir = Path::new(env!("CARGO_MANIFEST_DIR")).join(".assets");
        let mut config = Config { assets_dir, ..Config::default() };
        let m = |dimension| AdditionalEmbeddingConfig {
            model: "openai/m".into(),
            dimension,
            weight: 0.5,
            ..AdditionalEmbeddingConfig::default()
        };
        config.memory.embedding.model = "openai/first".into();
        config.memory.embedding.additional = vec![m(16)];
        let id = "openai/first:384:remote*1+openai/m:16:remote*0.5";
        let embedder = load(&config, &Metrics::new()).unwrap();
        assert_eq!((embedder.space().id().as_str(), embedder.space().dimension), (id, 400));
        assert_eq!(absent(&config).space().id(), id, "where nothing is embedded, too");
        embedder.close().await;
        let nowhere = AdditionalEmbeddingConfig { model: "nowhere".into(), ..m(16) };
        config.memory.embedding.additional = vec![m(16), nowhere];
        let refused = load(&config, &Metrics::new()).map(drop).unwrap_err().to_string();
        assert!(refused.starts_with("memory.embedding.additional[1]: "), "{refused}");
    }
}
