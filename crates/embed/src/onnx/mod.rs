//! Embedding on this machine's CPU, with ONNX Runtime and a model in a local folder.
//!
//! The model runs on its own threads behind two bounded queues, so the async runtime is never
//! blocked by computation. Nothing is downloaded.

mod files;
mod frame;
mod graph;
mod model;
mod queue;
mod runtime;
#[cfg(test)]
mod tests;
mod tokens;
mod worker;

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use async_trait::async_trait;
use tokio::sync::oneshot;

use self::model::Model;
use self::queue::{Job, Lane, Queue};
use self::tokens::{Tokens, Window};
use crate::{EmbedError, Embedder, Layers, Precision, Reading, Run, Space, Vector};

/// Number of passages queued at a time, so that a long list does not fill the queue.
const PASSAGES_AT_ONCE: usize = 64;

/// Settings of an [`OnnxEmbedder`].
#[derive(Clone, Debug)]
pub struct OnnxSettings {
    /// ONNX Runtime's shared library, 1.24 or newer. A process can load only one.
    pub runtime: PathBuf,
    /// A folder in Hugging Face layout: `tokenizer.json`, and the model's file next to it or in
    /// `onnx/`.
    pub folder: PathBuf,
    /// The expected space; the dimension is checked.
    pub space: Space,
    /// Number of threads. Each holds its own copy of the weights.
    pub threads: NonZeroUsize,
}

/// The model file that [`OnnxEmbedder::load`] would use.
///
/// # Errors
/// [`EmbedError::Load`] when there is none.
pub fn model_file(folder: &Path, precision: Precision) -> Result<PathBuf, EmbedError> {
    files::find(folder, precision).map(|files| files.model)
}

/// A model in ONNX format that runs on its own threads.
///
/// Dropping it stops the threads after their current text; [`Embedder::close`] also waits for them.
pub struct OnnxEmbedder {
    space: Space,
    queue: Arc<Queue>,
    tokens: Arc<Tokens>,
    /// Numbers a span, where the model gives the inner layers of tokens.
    read_width: Option<usize>,
    /// Taken by `close`.
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl OnnxEmbedder {
    /// Loads the model and starts its threads. Blocks for a few hundred milliseconds.
    ///
    /// # Errors
    /// [`EmbedError::Load`] when a file is missing or unusable, [`EmbedError::Dimension`] when the
    /// model's dimension differs from `settings.space`.
    pub fn load(settings: &OnnxSettings) -> Result<Self, EmbedError> {
        let Run::Here { pooling, precision } = settings.space.run else {
            return Err(EmbedError::load(&settings.folder, "this model runs on a server"));
        };
        let environment = runtime::environment(&settings.runtime)?;
        let files = files::find(&settings.folder, precision)?;
        let tokens = Arc::new(Tokens::load(&files.tokenizer, &settings.space)?);
        let queue = Arc::new(Queue::default());
        // All models are loaded before the first thread starts, so an error leaves no thread
        // behind.
        let models: Vec<Model> = (0..settings.threads.get())
            .map(|_| Model::load(&environment, &files.model, pooling, &settings.space, &tokens))
            .collect::<Result<_, _>>()?;
        let embedder = Self {
            space: settings.space.clone(),
            queue: Arc::clone(&queue),
            tokens: Arc::clone(&tokens),
            read_width: models.first().and_then(Model::read_width),
            threads: Mutex::default(),
        };
        for model in models {
            let thread = worker::spawn(Arc::clone(&queue), Arc::clone(&tokens), model)
                .map_err(|error| EmbedError::load(&files.model, error))?;
            embedder.threads().push(thread);
        }
        Ok(embedder)
    }

    fn threads(&self) -> std::sync::MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn submit(
        &self,
        lane: Lane,
        work: Vec<(String, Option<Window>)>,
    ) -> Result<Vec<Reading>, EmbedError> {
        let mut jobs = Vec::with_capacity(work.len());
        let mut replies = Vec::with_capacity(work.len());
        for (text, window) in work {
            let (reply, answer) = oneshot::channel();
            jobs.push(Job { text, window, reply });
            replies.push(answer);
        }
        self.queue.push(lane, jobs)?;
        let mut readings = Vec::with_capacity(replies.len());
        for answer in replies {
            readings.push(answer.await.map_err(|_| EmbedError::Closed)??);
        }
        Ok(readings)
    }
}

#[async_trait]
impl Embedder for OnnxEmbedder {
    fn space(&self) -> &Space {
        &self.space
    }

    async fn embed_query(&self, text: &str) -> Result<Vector, EmbedError> {
        self.read_query(text).await.map(|reading| reading.vector)
    }

    async fn read_query(&self, text: &str) -> Result<Reading, EmbedError> {
        let text = tokens::bounded_query(text);
        let readings = self.submit(Lane::Query, vec![(text, None)]).await?;
        readings.into_iter().next().ok_or(EmbedError::Closed)
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vector>, EmbedError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for some in texts.chunks(PASSAGES_AT_ONCE) {
            let some = some.iter().map(|text| (tokens::bounded_passage(text), None)).collect();
            let readings = self.submit(Lane::Passage, some).await?;
            vectors.extend(readings.into_iter().map(|reading| reading.vector));
        }
        Ok(vectors)
    }

    async fn read_spans(
        &self,
        text: &str,
        spans: &[Range<usize>],
    ) -> Result<Option<Vec<Layers>>, EmbedError> {
        let Some(read_width) = self.read_width else { return Ok(None) };
        if spans.is_empty() {
            return Ok(Some(Vec::new()));
        }
        // A job each, so that a query waits for one window at most.
        let windows = self.tokens.windows(text, spans)?;
        let jobs = windows.into_iter().map(|window| (String::new(), Some(window))).collect();
        let readings = self.submit(Lane::Passage, jobs).await?;
        let layers = readings.into_iter().filter_map(|reading| reading.layers);
        let spans = layers.flat_map(|of_window| {
            of_window.chunks_exact(read_width).map(Layers::from).collect::<Vec<_>>()
        });
        Ok(Some(spans.collect()))
    }

    async fn close(&self) {
        self.queue.close();
        let threads = std::mem::take(&mut *self.threads());
        let join = move || {
            for thread in threads {
                // Panics were already handled inside the thread.
                let _ = thread.join();
            }
        };
        let _ = tokio::task::spawn_blocking(join).await;
    }
}

impl Drop for OnnxEmbedder {
    fn drop(&mut self) {
        self.queue.close();
    }
}
