//! Runs an evaluation on a temporary memory.
//!
//! The memory is SQLite in a temporary folder, whatever store is configured, because the invented
//! people of the data must never get into a memory in use.

use std::{
    io::{self, ErrorKind, Write as _},
    path::Path,
};

use anyhow::{Context, Result, ensure};

use crate::{
    cli::{config_file::ConfigFile, output::progress::Progress},
    startup::{Need, Offline},
};
use memgate_config::{Config, EmbeddingModel, StoreKind};
use memgate_core::clock::Clock;
use memgate_embed::onnx;
use memgate_eval::{Digests, Evaluation, Services, file_sha256};

/// The arguments of an evaluation, between those that all have.
#[derive(Debug, clap::Args)]
pub(super) struct Framed<E: clap::Args> {
    #[command(flatten)]
    config: ConfigFile,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    evaluation: E,
}

impl<E: Evaluation + clap::Args> Framed<E> {
    /// Measures and prints the result.
    pub(super) fn run(self) -> Result<()> {
        let (rows, data_sha256) = self.evaluation.read()?;
        let config = Config::load_with(self.config.path().as_deref(), &|_| {})?;
        let digests = Digests { data_sha256, model_sha256: model_sha256(&config)? };
        let need = if E::LEARNS { Need::Jobs } else { Need::Model };
        let shown = Progress::of_time("measuring");
        let report = with_memory(&config, need, async |memory| {
            self.evaluation.measure(memory, &rows, digests).await
        })?;
        drop(shown);
        let unmeasured = E::unmeasured(&report);
        let text = match self.json {
            true => serde_json::to_string(&report)?,
            false => E::text(&report, &config.memory) + &not_measured(unmeasured),
        };
        print(&text)?;
        ensure!(unmeasured.is_empty(), "{} rows were not measured", unmeasured.len());
        Ok(())
    }
}

/// A line for each row that was not measured.
fn not_measured(rows: &[String]) -> String {
    rows.iter().map(|row| format!("\nnot measured: {row}")).collect()
}

/// Writes to standard output. A reader that closes the pipe early (`| head`) is not a failure.
fn print(text: &str) -> Result<()> {
    match writeln!(io::stdout().lock(), "{text}") {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}

/// Runs `work` with a temporary memory, otherwise configured as usual.
///
/// # Errors
/// When it cannot be opened, when the embedding model does not answer, and those of `work`.
fn with_memory<T>(
    config: &Config,
    need: Need,
    work: impl AsyncFnOnce(&Services) -> Result<T>,
) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the async runtime")?;
    runtime.block_on(async {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        // Messages without a date are told today.
        let (time, clock) = Clock::settable(Clock::System.now());
        let config = apart(config, folder.path());
        let offline = Offline::open_answering(config.clone(), need, clock.clone()).await?;
        let memory = offline.operations();
        let services = Services {
            recall: memory.recall.clone(),
            capture: memory.capture.clone(),
            store: memory.store.clone(),
            embedder: memory.embedder.clone(),
            config: config.memory,
            folder: config.data_dir,
            clock,
            time,
        };
        let done = work(&services).await;
        drop(services);
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

/// The SHA-256 of the embedding model's file; for a model on a server only a note. Several models
/// are joined by ` + `.
///
/// # Errors
/// When the file does not exist or cannot be read.
fn model_sha256(config: &Config) -> Result<String> {
    let of = |EmbeddingModel { config: model, .. }: EmbeddingModel| {
        if model.remote().is_some() {
            return Ok("unknown: on a server".to_owned());
        }
        file_sha256(&onnx::model_file(&config.folder_of(&model), model.precision)?)
    };
    let digests = config.memory.embedding.models().into_iter().map(of);
    Ok(digests.collect::<Result<Vec<_>>>()?.join(" + "))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

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
        let stored = async |memory: &Services| {
            let query = ListQuery {
                scope: ScopeQuery::of(owner.clone()),
                filter: None,
                limit: 10,
                cursor: None,
                now: memory.clock.now(),
            };
            Ok(memory.store.list(&query).await?.memories.len())
        };
        let kept = with_memory(&config, Need::Stored, async |memory| {
            let kind = MemoryType::new(MemoryType::EPISODIC);
            let (source, now) = (Source::ExplicitUserInput, memory.clock.now());
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
