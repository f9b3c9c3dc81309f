//! Shared parts of all evaluations: arguments, a temporary memory, and output.
//!
//! The memory is SQLite in a temporary folder, whatever store is configured, because the invented
//! people of the data must never get into a memory in use.

use std::{path::Path, time::Duration};

use anyhow::{Context, Result};
use serde::Serialize;
use tokio::time::timeout;

use crate::{
    api::Operations,
    cli::config_file::ConfigFile,
    startup::{Need, Offline},
};
use memgate_config::{Config, StoreKind};

/// Maximum time to prepare recall; results would differ before.
const PREPARING: Duration = Duration::from_secs(60);

/// Arguments of every evaluation.
#[derive(Debug, clap::Args)]
pub(crate) struct EvalArgs {
    #[command(flatten)]
    config: ConfigFile,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

impl EvalArgs {
    /// Loads the configuration.
    ///
    /// # Errors
    /// When it is invalid.
    pub(crate) fn config(&self) -> Result<Config> {
        Ok(Config::load_with(self.config.clone().path().as_deref(), &|_| {})?)
    }

    /// Prints the result, as JSON or as text.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(crate) fn show<R: Serialize>(
        &self,
        report: &R,
        told: impl FnOnce(&R) -> String,
    ) -> Result<()> {
        match self.json {
            true => crate::cli::eval::print(&serde_json::to_string(report)?),
            false => crate::cli::eval::print(&told(report)),
        }
    }
}

/// Runs `work` with a temporary memory, otherwise configured as usual.
///
/// # Errors
/// When it cannot be opened, when the embedding model does not answer, and those of `work`.
pub(crate) fn with_memory<T>(
    config: &Config,
    need: Need,
    work: impl AsyncFnOnce(&Operations) -> Result<T>,
) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the async runtime")?;
    runtime.block_on(async {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let offline = Offline::open_answering(apart(config, folder.path()), need).await?;
        let memory = offline.operations();
        let done = async {
            if need > Need::Stored {
                // On a busy machine the first queries would otherwise have no background
                // similarity.
                timeout(PREPARING, memory.recall.prepare()).await.context("memory.embedding")??;
            }
            work(memory).await
        };
        let done = done.await;
        offline.close().await;
        done
    })
}

/// The configuration with a temporary store.
fn apart(config: &Config, folder: &Path) -> Config {
    let mut config = config.clone();
    folder.clone_into(&mut config.data_dir);
    config.memory.store = Some(StoreKind::Sqlite);
    config
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use std::net::TcpListener;

    use jiff::Timestamp;

    use super::*;
    use memgate_config::{Endpoint, MilvusConfig, Scheme};
    use memgate_core::memory::{
        Actor, ListQuery, Memory, MemoryId, MemoryType, Owner, ScopeQuery, Source, Write,
    };

    /// A server that never answers, and its address.
    fn nobody() -> (TcpListener, String, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        (listener, format!("127.0.0.1:{port}"), port)
    }

    #[test]
    fn an_evaluation_never_uses_the_configured_store() {
        let (milvus, address, _) = nobody();
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config { data_dir: folder.path().to_owned(), ..Config::default() };
        config.memory.store = Some(StoreKind::Milvus);
        config.memory.milvus = Some(MilvusConfig { address, ..MilvusConfig::default() });
        let owner = Owner::of_user("invented").unwrap();
        let stored = async |memory: &Operations| {
            let query = ListQuery {
                scope: ScopeQuery::of(owner.clone()),
                filter: None,
                limit: 10,
                cursor: None,
                now: Timestamp::now(),
            };
            Ok(memory.store.list(&query).await?.memories.len())
        };
        let kept = with_memory(&config, Need::Stored, async |memory| {
            let kind = MemoryType::new(MemoryType::EPISODIC);
            let (source, now) = (Source::ExplicitUserInput, Timestamp::now());
            let told = Memory::new(MemoryId::fresh(), owner.clone(), kind, "hi", source, now);
            memory.store.store(told, Vec::new(), &Write::by(Actor::Capture, "t")).await?;
            stored(memory).await
        });
        assert_eq!(kept.unwrap(), 1);
        assert_eq!(with_memory(&config, Need::Stored, stored).unwrap(), 0, "it is gone");
        assert!(milvus.accept().is_err(), "nobody came to the configured store");
        assert_eq!(folder.path().read_dir().unwrap().count(), 0, "nor to the configured folder");
    }

    #[test]
    fn an_unavailable_embedding_model_is_reported_first() {
        let (listener, _, port) = nobody();
        drop(listener);
        let mut config = Config::default();
        config.memory.embedding.model = "openai/away".into();
        config.memory.embedding.endpoint = Some(Endpoint {
            address: "127.0.0.1".into(),
            port,
            scheme: Scheme::Http,
            path: None,
            api_key_env: None,
        });
        let measured = with_memory(&config, Need::Model, async |_| -> Result<()> {
            unreachable!("there is nothing to measure with")
        });
        let told = format!("{:#}", measured.unwrap_err());
        assert!(told.starts_with("memory.embedding (openai/away): "), "{told}");
        assert!(!told.contains("not sent"), "the cause, and not what came of it: {told}");
    }
}
