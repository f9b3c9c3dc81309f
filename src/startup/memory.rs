//! The data folder with its journal, the store, and everything that lives on them.

use std::{sync::Arc, time::Duration};

use tokio::{runtime::Handle, task::JoinHandle, time::timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    StartError,
    store::{self, synchronous},
};
use crate::{
    api::Operations,
    capture::{self, Bounds, Capture, Least, Policy, Retention, SessionRules, Settings, Tools},
    config::{
        Config, ExternalModel, ExtractionMode, Live, LlmProvider, ModelRole, ReconcilePolicy,
    },
    embed::{EmbedError, Embedder},
    gateway,
    llm::{self, Helper, LimitName},
    memory::MemoryStore,
    recall::{AccessTracker, Recall, Rewriter, prepare_query, prepare_tokens},
    remote::Address,
    signals,
    sqlite::{DataFolder, Options},
    telemetry::Metrics,
};

/// The journal's file in the data folder.
const JOURNAL_FILE: &str = "journal.db";

/// The longest the start waits until recall has what cosines are compared with …
const PREPARING: Duration = Duration::from_secs(5);
/// … and the pause until that is tried again.
const PREPARE_AGAIN: Duration = Duration::from_secs(10);

/// An opened data folder. It is this process's until dropped.
pub(super) struct OpenMemory {
    pub(super) folder: DataFolder,
    pub(super) store: Arc<dyn MemoryStore>,
    pub(super) capture: Arc<Capture>,
    pub(super) recall: Recall,
    /// Writes what was presented; it ends with the last recall.
    background: TaskTracker,
    /// Ends what would go on trying.
    ending: CancellationToken,
    /// Watches the store; it ends with that.
    watching: JoinHandle<()>,
}

impl OpenMemory {
    /// Takes the data folder and opens what is in it, and the store. Blocks; must be called within
    /// a tokio runtime, on a thread that may block.
    ///
    /// # Errors
    /// [`StartError`]; nothing is left open then.
    pub(super) fn open(
        config: &Config,
        embedder: &Arc<dyn Embedder>,
        metrics: &Arc<Metrics>,
    ) -> Result<Self, StartError> {
        let folder = DataFolder::lock(&config.data_dir, None).map_err(StartError::Folder)?;
        let watched = store::open(config, embedder.space(), folder.path(), metrics)?;
        let store: Arc<dyn MemoryStore> = watched.clone();
        let tools =
            Tools { store: store.clone(), embedder: embedder.clone(), metrics: metrics.clone() };
        let options =
            Options { synchronous: synchronous(config.memory.journal.sync), ..Options::default() };
        let capture = config.memory.capture.clone();
        let bounds = Bounds { queue: capture.queue, workers: capture.workers };
        let journal = folder.path().join(JOURNAL_FILE);
        let capture = Capture::open(&journal, options, bounds, settings(config)?, tools)
            .map_err(StartError::database)?;
        let (access, counting) = AccessTracker::new(store.clone());
        let background = TaskTracker::new();
        background.spawn(counting);
        let rewriter = config.model(ModelRole::MemoryRewrite).map(helper).transpose()?;
        let recall = Recall::new(store.clone(), embedder.clone(), access, metrics.clone())
            .with_rewriter(rewriter.map(|model| Rewriter::new(Arc::new(model))));
        // Patterns are compiled and a vocabulary is unpacked here, not while a request waits.
        signals::prepare();
        prepare_tokens();
        prepare_query();
        capture::prepare();
        let ending = CancellationToken::new();
        // A model that runs here is done in a moment, and no request shall come before.
        let soon = Handle::current().block_on(timeout(PREPARING, recall.prepare()));
        if !matches!(soon, Ok(Ok(()) | Err(EmbedError::Closed))) {
            tracing::debug!("recall goes on without everyday texts to compare with");
            background.spawn(ending.clone().run_until_cancelled_owned(prepare(recall.clone())));
        }
        // Last, since from now on somebody has to close it.
        let watching = tokio::spawn(async move { watched.watch().await });
        let capture = Arc::new(capture);
        Ok(Self { folder, store, capture, recall, background, ending, watching })
    }

    /// What exchanges use.
    pub(super) fn for_gateway(&self) -> gateway::Memory {
        gateway::Memory { recall: self.recall.clone(), capture: self.capture.clone() }
    }

    /// What callers of the API may do.
    pub(super) fn operations(
        &self,
        config: &Live,
        embedder: &Arc<dyn Embedder>,
        metrics: &Arc<Metrics>,
    ) -> Operations {
        Operations {
            config: config.clone(),
            store: self.store.clone(),
            embedder: embedder.clone(),
            recall: self.recall.clone(),
            capture: self.capture.clone(),
            metrics: metrics.clone(),
        }
    }

    /// Writes what waits and closes the files, the journal first: its jobs write to the store.
    /// Each step takes at most `patience`.
    pub(super) async fn close(self, patience: Duration) {
        let Self { folder, store, capture, recall, background, ending, watching } = self;
        ending.cancel();
        capture.shutdown(patience).await;
        drop((capture, recall));
        background.close();
        // Ends once nobody can recall any more; access counts are hints, so a bound is enough.
        let _ = tokio::time::timeout(patience, background.wait()).await;
        if tokio::time::timeout(patience, store.close()).await.is_err() {
            tracing::warn!("the store did not close in time; what was acknowledged is kept");
        }
        let _ = tokio::time::timeout(patience, watching).await;
        drop(folder);
    }
}

/// Goes on trying: a model on a server may be back any time.
async fn prepare(recall: Recall) {
    loop {
        tokio::time::sleep(PREPARE_AGAIN).await;
        if matches!(recall.prepare().await, Ok(()) | Err(EmbedError::Closed)) {
            return;
        }
    }
}

/// A helper model's client.
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

/// What capture is configured to do.
///
/// # Errors
/// [`StartError::Helper`] when the extraction model's client cannot be made.
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
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_end_and_turns_stay_by_default_as_the_configuration_says() {
        let settings = settings(&Config::default());
        let expected = (SessionRules::default(), Retention::default());
        assert_eq!(settings.ok().map(|it| (it.sessions, it.retention)), Some(expected));
    }
}
