//! Opens the data folder with its journal, the store, and the parts that depend on them.

use std::{sync::Arc, time::Duration};

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{
    api::{Operations, Streams, TextWork},
    gateway,
    startup::{
        StartError,
        store::{self, synchronous},
    },
};
use memgate_access::{Access, Retention as AuditRetention};
use memgate_capture::{
    self, AnonymousBounds, Bounds, Capture, Least, Policy, Retention, SessionRules, Settings,
    Tools, TurnTrail, may_be_kept_whole,
};
use memgate_config::{
    Config, ExternalModel, ExtractionMode, Live, LlmProvider, ModelRole, ReconcilePolicy,
    TrailConfig,
};
use memgate_core::{clock::Clock, memory::MemoryStore};
use memgate_embed::{
    Embedder,
    client::Address,
    llm::{self, Helper, LimitName},
};
use memgate_models::Models;
use memgate_recall::{AccessTracker, Recall, RecallTrail, Rewriter, TrailSettings};
use memgate_screening::Screener;
use memgate_sqlite::{DataFolder, Options, Synchronous};
use memgate_telemetry::Metrics;
use memgate_trail::{Bounds as TrailBounds, TrailFile};

/// The file of keys and audit log in the data folder.
const ACCESS_FILE: &str = "access.db";
/// The file of the trail in the data folder.
const TRAIL_FILE: &str = "trail.db";
/// The journal's file in the data folder.
const JOURNAL_FILE: &str = "journal.db";

/// An opened data folder. It belongs to this process until dropped.
pub(super) struct OpenMemory {
    pub(super) folder: DataFolder,
    pub(super) store: Arc<dyn MemoryStore>,
    pub(super) capture: Arc<Capture>,
    pub(super) recall: Recall,
    access: Access,
    clock: Clock,
    /// Background writes of recall (access counts).
    counting: JoinHandle<()>,
    /// The task that keeps the trail of recall; it ends with recall.
    tracing: JoinHandle<()>,
    /// The task that writes the trail's file; it ends with recall and capture.
    filing: Option<JoinHandle<()>>,
    /// The task that monitors the store; it ends with the store.
    monitoring: JoinHandle<()>,
}

impl OpenMemory {
    /// Takes the data folder and opens the journal and the store. Blocks; call it within a tokio
    /// runtime on a thread that may block.
    ///
    /// # Errors
    /// [`StartError`]; nothing stays open then.
    pub(super) fn open(
        config: &Config,
        embedder: &Arc<dyn Embedder>,
        models: &Arc<Models>,
        metrics: &Arc<Metrics>,
        clock: &Clock,
    ) -> Result<Self, StartError> {
        let folder = DataFolder::lock(&config.data_dir, None).map_err(StartError::Folder)?;
        let monitored =
            store::open(config, embedder.space(), folder.path(), metrics, clock.clone())?;
        let store: Arc<dyn MemoryStore> = monitored.clone();
        // Keys survive a power loss: a revoked one must not come back.
        let durable = Options { synchronous: Synchronous::Full, ..Options::default() };
        let access = folder.path().join(ACCESS_FILE);
        let access = Access::open(&access, durable, audit_retention(config), clock.clone())
            .map_err(StartError::database)?;
        let (filed, filing) = trail_file(config, &folder, clock)?.unzip();
        let filing = filing.map(tokio::spawn);
        let turns = config.memory.trail.requests;
        let tools = Tools {
            store: store.clone(),
            audit: access.audit.clone(),
            embedder: embedder.clone(),
            models: models.clone(),
            metrics: metrics.clone(),
            trail: TurnTrail::new(turns, TrailConfig::MAX_BYTES, filed.clone()),
            clock: clock.clone(),
        };
        let options =
            Options { synchronous: synchronous(config.memory.journal.sync), ..Options::default() };
        let capture = config.memory.capture.clone();
        let bounds = Bounds { queue: capture.queue, workers: capture.workers };
        let journal = folder.path().join(JOURNAL_FILE);
        let capture = Capture::open(&journal, options, bounds, settings(config)?, tools)
            .map_err(StartError::database)?;
        let (tracker, counting) = AccessTracker::new(store.clone());
        let counting = tokio::spawn(counting);
        let rewriter = config.model(ModelRole::MemoryRewrite).map(helper).transpose()?;
        let recall =
            Recall::new(store.clone(), embedder.clone(), models.clone(), tracker, metrics.clone())
                .with_rewriter(rewriter.map(|model| Rewriter::new(Arc::new(model))));
        let screener = Screener::new(config.memory.screening);
        let may_store = move |message: &str| may_be_kept_whole(message, screener);
        let settings = trail_settings(&config.memory.trail);
        let (trail, tracing) = RecallTrail::new(settings, filed, Arc::new(may_store));
        let (recall, tracing) = (recall.with_trail(trail), tokio::spawn(tracing));
        // Started last, because from here on `close` is required.
        let monitoring = tokio::spawn(async move { monitored.monitor().await });
        let (capture, clock) = (Arc::new(capture), clock.clone());
        Ok(Self {
            folder,
            store,
            capture,
            recall,
            access,
            clock,
            counting,
            tracing,
            filing,
            monitoring,
        })
    }

    /// The parts that exchanges use.
    pub(super) fn for_gateway(&self) -> gateway::Memory {
        gateway::Memory {
            recall: self.recall.clone(),
            capture: self.capture.clone(),
            audit: self.access.audit.clone(),
        }
    }

    /// The operations of the API.
    pub(super) fn operations(
        &self,
        config: &Live,
        embedder: &Arc<dyn Embedder>,
        metrics: &Arc<Metrics>,
        shutdown: CancellationToken,
    ) -> Operations {
        Operations {
            config: config.clone(),
            store: self.store.clone(),
            embedder: embedder.clone(),
            recall: self.recall.clone(),
            rehearsal: self.recall.rehearsal(),
            capture: self.capture.clone(),
            access: self.access.clone(),
            metrics: metrics.clone(),
            clock: self.clock.clone(),
            streams: Streams::new(shutdown),
            texts: TextWork::new(metrics.clone()),
        }
    }

    /// Writes pending data and closes the files, the journal first: its jobs write to the store.
    /// Each step takes at most `patience`.
    pub(super) async fn close(self, patience: Duration) {
        let Self {
            folder,
            store,
            capture,
            recall,
            access,
            counting,
            tracing,
            filing,
            monitoring,
            ..
        } = self;
        capture.shutdown(patience).await;
        drop((capture, recall));
        // Waits for the last writes of recall. Access counts are only hints, so a timeout is
        // enough.
        let _ = tokio::time::timeout(patience, counting).await;
        let _ = tokio::time::timeout(patience, tracing).await;
        if let Some(filing) = filing {
            let _ = tokio::time::timeout(patience, filing).await;
        }
        if tokio::time::timeout(patience, store.close()).await.is_err() {
            tracing::warn!("the store did not close in time; what was acknowledged is kept");
        }
        let _ = tokio::time::timeout(patience, monitoring).await;
        // Last, because all others write to the audit log.
        let _ = tokio::time::timeout(patience, access.close()).await;
        drop(folder);
    }
}

fn trail_settings(trail: &TrailConfig) -> TrailSettings {
    let TrailConfig { requests, content, .. } = *trail;
    TrailSettings { requests, bytes: TrailConfig::MAX_BYTES, content }
}

/// The trail's file with the task that writes it, where one is configured. Else one from before is removed: nothing would
/// expire in it.
fn trail_file(
    config: &Config,
    folder: &DataFolder,
    clock: &Clock,
) -> Result<Option<(TrailFile, impl Future<Output = ()> + Send + use<>)>, StartError> {
    let (trail, path) = (&config.memory.trail, folder.path().join(TRAIL_FILE));
    if !trail.is_stored() {
        TrailFile::remove(&path).map_err(StartError::database)?;
        return Ok(None);
    }
    let bounds = TrailBounds { per_owner: trail.stored_per_user, age: trail.retention() };
    TrailFile::open(&path, bounds, clock.clone()).map(Some).map_err(StartError::database)
}

fn audit_retention(config: &Config) -> AuditRetention {
    AuditRetention { age: config.audit.retention(), entries: config.audit.max_entries }
}

/// Creates a helper model's client.
fn helper(model: &ExternalModel) -> Result<Helper, StartError> {
    let settings = llm::Settings {
        role: model.model_role.as_str(),
        address: Address { url: model.url(), api_key: model.llm_endpoint.api_key() },
        model: model.llm_model_name.clone(),
        limit_name: match model.llm_provider {
            LlmProvider::Vllm => LimitName::MaxTokens,
            LlmProvider::Openai => LimitName::MaxCompletionTokens,
        },
        max_tokens: model.max_tokens,
        temperature: model.temperature,
        deadline: model.timeout(),
    };
    Helper::new(settings).map_err(StartError::Helper)
}

/// Capture's settings.
///
/// # Errors
/// [`StartError::Helper`] when the extraction model's client cannot be created.
pub(super) fn settings(config: &Config) -> Result<Settings, StartError> {
    let memory = &config.memory;
    let model = config
        .model(ModelRole::MemoryExtraction)
        .filter(|_| memory.extraction.uses(ExtractionMode::Llm));
    let extractor = model.map(helper).transpose()?;
    Ok(Settings {
        store_turns: memory.extraction.uses(ExtractionMode::Turns),
        extract_locally: memory.extraction.uses(ExtractionMode::Local),
        extractor: extractor.map(Arc::new),
        extract_every: u32::try_from(memory.extraction_batch_size).unwrap_or(u32::MAX),
        sessions: SessionRules {
            idle_timeout: memory.sessions.idle_timeout(),
            quiet_after: memory.sessions.quiet_after(),
            summaries: memory.extraction.summaries,
            drift_threshold: memory.sessions.drift_threshold(),
        },
        retention: Retention {
            turns: memory.journal.retention(),
            dead_jobs: memory.journal.dead_jobs(),
        },
        anonymous: AnonymousBounds {
            ttl: memory.anonymous_sessions.ttl(),
            memories: memory.anonymous_sessions.max_memories,
            sessions: memory.anonymous_sessions.max_sessions,
        },
        least: Least {
            importance: memory.extraction.min_importance,
            confidence: memory.extraction.min_confidence,
        },
        forget_grace: memory.forget_grace(),
        policy: match memory.reconcile.policy {
            ReconcilePolicy::PreferNew => Policy::PreferNew,
            ReconcilePolicy::PreferOld => Policy::PreferOld,
            ReconcilePolicy::Review => Policy::Review,
        },
        types: memory.types.clone(),
        screener: Screener::new(memory.screening),
        tool_contents: memory.journal.tool_contents,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_timeouts_and_retention_are_those_of_the_configuration() {
        let settings = settings(&Config::default());
        let expected = (SessionRules::default(), Retention::default());
        assert_eq!(settings.ok().map(|it| (it.sessions, it.retention)), Some(expected));
    }
}
