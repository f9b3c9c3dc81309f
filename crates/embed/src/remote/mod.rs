//! Embedding by a model server: OpenAI's `/v1/embeddings`, which many servers offer, and Voyage's
//! API.
//!
//! Requests run in their own tasks, so a caller that stops waiting (recall at its deadline) does
//! not cancel them: a hanging server is noticed although no caller waits that long. Texts are sent
//! only to the server; they never appear in errors or logs.

mod answer;
mod client;
mod lanes;
mod provider;
#[cfg(test)]
mod tests;
mod texts;

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use self::provider::Provider;
use self::provider::Role;
use self::{
    client::{EmbeddingClient, RequestError},
    lanes::Lanes,
};
use crate::{
    EmbedError, Embedder, Space, Vector,
    client::{Address, Remote, RemoteError},
};

/// Maximum cooldown of a failing server, which bounds how late its recovery is noticed.
const MAX_COOLDOWN: Duration = Duration::from_secs(10);
/// Maximum number of attempts per request.
const TRIES: u32 = 3;
/// Pause after the first failed attempt; doubles with each.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// With a longer pause the request is given up; texts without a vector are embedded later.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// A response within this time proves that embedding works, so that not every `/readyz` costs a
/// request.
const FRESH: Duration = Duration::from_secs(10);

/// Settings of a [`RemoteEmbedder`].
#[derive(Clone, Debug)]
pub struct RemoteSettings {
    /// The server.
    pub address: Address,
    /// API of the server.
    pub provider: Provider,
    /// The model's name on the server.
    pub model: String,
    /// The expected space; the dimension is checked with every response.
    pub space: Space,
    /// Timeout of a request; queries time out after at most five seconds.
    pub timeout: Duration,
}

/// A model on a server.
pub struct RemoteEmbedder {
    client: Arc<EmbeddingClient>,
    lanes: Lanes,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl RemoteEmbedder {
    /// Creates an embedder without contacting the server.
    ///
    /// # Errors
    /// [`EmbedError::Failed`] when the HTTP client cannot be built.
    pub fn new(settings: RemoteSettings) -> Result<Self, EmbedError> {
        let RemoteSettings { address, provider, model, space, timeout } = settings;
        let server = Remote::new(address, MAX_COOLDOWN)
            .map_err(|error| EmbedError::Failed(error.to_string()))?;
        let client = EmbeddingClient {
            server,
            provider,
            model,
            space,
            timeout,
            sized: false.into(),
            answered: None.into(),
        };
        Ok(Self {
            client: Arc::new(client),
            lanes: Lanes::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        })
    }

    /// Embeds texts that fit into one request. If the request is rejected, each text is tried
    /// alone, and shortened once: it may be longer than the model accepts.
    async fn batch(&self, role: Role, texts: Vec<String>) -> Result<Vec<Vector>, EmbedError> {
        let texts = Arc::new(texts);
        let is_one = texts.len() == 1 && texts[0].len() <= texts::SHORT;
        match self.patiently(role, &texts).await? {
            Err(error) if error.may_be_the_texts() && !is_one => {}
            outcome => return Ok(outcome?),
        }
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts.iter() {
            vectors.push(self.alone(role, text).await?);
        }
        Ok(vectors)
    }

    async fn alone(&self, role: Role, text: &str) -> Result<Vector, EmbedError> {
        let outcome = self.patiently(role, &Arc::new(vec![text.to_owned()])).await?;
        let outcome = match outcome {
            Err(error) if error.may_be_the_texts() && text.len() > texts::SHORT => {
                let short = texts::first(text, texts::SHORT).to_owned();
                self.patiently(role, &Arc::new(vec![short])).await?
            }
            outcome => outcome,
        };
        outcome?.pop().ok_or(EmbedError::Closed)
    }

    /// Sends a request and retries temporary failures.
    async fn patiently(
        &self,
        role: Role,
        texts: &Arc<Vec<String>>,
    ) -> Result<Result<Vec<Vector>, RequestError>, EmbedError> {
        let mut tries = 1;
        loop {
            match self.request(role, Arc::clone(texts)).await? {
                Err(RequestError::Server(error)) => match pause(&error, tries) {
                    Some(pause) => tokio::time::sleep(pause).await,
                    None => return Ok(Err(RequestError::Server(error))),
                },
                outcome => return Ok(outcome),
            }
            tries += 1;
        }
    }

    /// Sends a request once a slot is free; it continues even if the caller stops waiting.
    async fn request(
        &self,
        role: Role,
        texts: Arc<Vec<String>>,
    ) -> Result<Result<Vec<Vector>, RequestError>, EmbedError> {
        let place = self.lanes.enter(role).await?;
        let (client, stop) = (Arc::clone(&self.client), self.stop.clone());
        let request = self.tasks.spawn(async move {
            let _place = place;
            stop.run_until_cancelled(client.ask(role, &texts)).await
        });
        request.await.ok().flatten().ok_or(EmbedError::Closed)
    }

    /// An error while the server is in its cooldown, so that no caller waits for it.
    fn cooldown_error(&self) -> Option<EmbedError> {
        let wait = self.client.server.cooldown()?;
        if wait.is_zero() && !self.stop.is_cancelled() {
            let (client, stop) = (Arc::clone(&self.client), self.stop.clone());
            self.tasks.spawn(async move {
                let trial = [READY.to_owned()];
                let _ = stop.run_until_cancelled(client.ask(Role::Query, &trial)).await;
            });
        }
        Some(RequestError::Server(RemoteError::CoolingDown { wait }).into())
    }
}

/// The text that the check embeds.
const READY: &str = "ready";

#[async_trait]
impl Embedder for RemoteEmbedder {
    fn space(&self) -> &Space {
        &self.client.space
    }

    async fn embed_query(&self, text: &str) -> Result<Vector, EmbedError> {
        if let Some(error) = self.cooldown_error() {
            return Err(error);
        }
        let text = texts::query(&self.client.space.query_prefix, text);
        self.batch(Role::Query, vec![text]).await?.pop().ok_or(EmbedError::Closed)
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vector>, EmbedError> {
        let prefix = &self.client.space.passage_prefix;
        let texts: Vec<_> = texts.iter().map(|text| texts::passage(prefix, text)).collect();
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts::batches(texts) {
            vectors.extend(self.batch(Role::Passage, batch).await?);
        }
        Ok(vectors)
    }

    async fn check(&self) -> Result<(), EmbedError> {
        if self.client.answered_within(FRESH) {
            return Ok(());
        }
        self.embed_query(READY).await.map(drop)
    }

    async fn close(&self) {
        self.lanes.close();
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

/// The pause before the next attempt; `None` if a retry is not worthwhile.
fn pause(error: &RemoteError, tries: u32) -> Option<Duration> {
    let may_pass = match error {
        RemoteError::Unreachable(_) => true,
        RemoteError::Status { code, .. } => *code == 429 || *code >= 500,
        // A slow server would be slow again.
        RemoteError::Timeout { .. } | RemoteError::CoolingDown { .. } => false,
        RemoteError::TooLarge { .. } => false,
    };
    let usual = FIRST_PAUSE * 2_u32.saturating_pow(tries - 1);
    // Jitter of up to a half, so that clients that failed together do not retry together.
    let random = RandomState::new().build_hasher().finish() % 512;
    let spread = usual.mul_f64(1.0 + f64::from(u32::try_from(random).unwrap_or(0)) / 1024.0);
    let pause = spread.max(error.retry_after().unwrap_or_default());
    (may_pass && tries < TRIES && pause <= LONGEST_PAUSE).then_some(pause)
}
