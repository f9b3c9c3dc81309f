//! Embedding by a model server: OpenAI's `/v1/embeddings`, which many servers speak, and Voyage's.
//!
//! Requests run in tasks of their own. Whoever stops waiting, as recall does at its deadline, does
//! not stop them: a server that hangs is noticed although nobody waits for it so long. Texts go to
//! the server and nowhere else, into no error and no log.

mod answer;
mod asker;
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
    asker::{Asker, Trouble},
    lanes::Lanes,
};
use super::{EmbedError, Embedder, Space, Vector};
use crate::remote::{Address, Remote, RemoteError};

/// The longest a server in trouble is left alone: how late it may be noticed that it is back.
const LONGEST_REST: Duration = Duration::from_secs(10);
/// Requests for the same texts, at most.
const TRIES: u32 = 3;
/// The pause after the first failed try; doubles with each.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// Longer than this nobody waits for another try; what has no vector gets one later.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// So long an answer shows that embedding works: each look at `/readyz` shall not cost a request.
const FRESH: Duration = Duration::from_secs(10);

/// What a [`RemoteEmbedder`] is made from.
#[derive(Clone, Debug)]
pub struct RemoteSettings {
    /// The server.
    pub address: Address,
    /// How it is asked.
    pub provider: Provider,
    /// The model, as the server names it.
    pub model: String,
    /// What the vectors are expected to be; their dimension is checked with every answer.
    pub space: Space,
    /// The longest a request may take; questions are waited for at most five seconds.
    pub timeout: Duration,
}

/// A model on a server.
pub struct RemoteEmbedder {
    asker: Arc<Asker>,
    lanes: Lanes,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl RemoteEmbedder {
    /// An embedder; the server is not asked anything yet.
    ///
    /// # Errors
    /// [`EmbedError::Failed`] when the HTTP client cannot be built.
    pub fn new(settings: RemoteSettings) -> Result<Self, EmbedError> {
        let RemoteSettings { address, provider, model, space, timeout } = settings;
        let server = Remote::new(address, LONGEST_REST)
            .map_err(|error| EmbedError::Failed(error.to_string()))?;
        let asker = Asker {
            server,
            provider,
            model,
            space,
            timeout,
            sized: false.into(),
            answered: None.into(),
        };
        Ok(Self {
            asker: Arc::new(asker),
            lanes: Lanes::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        })
    }

    /// The vectors of texts that fit into one request. A refused text among others is found by
    /// asking for each alone, and cut once: it may be longer than the model takes.
    async fn batch(&self, role: Role, texts: Vec<String>) -> Result<Vec<Vector>, EmbedError> {
        let texts = Arc::new(texts);
        let is_one = texts.len() == 1 && texts[0].len() <= texts::SHORT;
        match self.patiently(role, &texts).await? {
            Err(trouble) if trouble.may_be_the_texts() && !is_one => {}
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
            Err(trouble) if trouble.may_be_the_texts() && text.len() > texts::SHORT => {
                let short = texts::first(text, texts::SHORT).to_owned();
                self.patiently(role, &Arc::new(vec![short])).await?
            }
            outcome => outcome,
        };
        outcome?.pop().ok_or(EmbedError::Closed)
    }

    /// One request, and the same again after a failure that may pass soon.
    async fn patiently(
        &self,
        role: Role,
        texts: &Arc<Vec<String>>,
    ) -> Result<Result<Vec<Vector>, Trouble>, EmbedError> {
        let mut tries = 1;
        loop {
            match self.request(role, Arc::clone(texts)).await? {
                Err(Trouble::Server(error)) => match pause(&error, tries) {
                    Some(pause) => tokio::time::sleep(pause).await,
                    None => return Ok(Err(Trouble::Server(error))),
                },
                outcome => return Ok(outcome),
            }
            tries += 1;
        }
    }

    /// One request, as soon as there is a place for it; it goes on when nobody waits any more.
    async fn request(
        &self,
        role: Role,
        texts: Arc<Vec<String>>,
    ) -> Result<Result<Vec<Vector>, Trouble>, EmbedError> {
        let place = self.lanes.enter(role).await?;
        let (asker, stop) = (Arc::clone(&self.asker), self.stop.clone());
        let request = self.tasks.spawn(async move {
            let _place = place;
            stop.run_until_cancelled(asker.ask(role, &texts)).await
        });
        request.await.ok().flatten().ok_or(EmbedError::Closed)
    }

    /// While the server is left alone, nobody waits for it: not even to see whether it is back.
    fn is_left_alone(&self) -> Option<EmbedError> {
        let wait = self.asker.server.rest()?;
        if wait.is_zero() && !self.stop.is_cancelled() {
            let (asker, stop) = (Arc::clone(&self.asker), self.stop.clone());
            self.tasks.spawn(async move {
                let trial = [READY.to_owned()];
                let _ = stop.run_until_cancelled(asker.ask(Role::Query, &trial)).await;
            });
        }
        Some(Trouble::Server(RemoteError::Resting { wait }).into())
    }
}

/// What is embedded to see whether that works.
const READY: &str = "ready";

#[async_trait]
impl Embedder for RemoteEmbedder {
    fn space(&self) -> &Space {
        &self.asker.space
    }

    async fn embed_query(&self, text: &str) -> Result<Vector, EmbedError> {
        if let Some(error) = self.is_left_alone() {
            return Err(error);
        }
        let text = texts::query(&self.asker.space.query_prefix, text);
        self.batch(Role::Query, vec![text]).await?.pop().ok_or(EmbedError::Closed)
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vector>, EmbedError> {
        let prefix = &self.asker.space.passage_prefix;
        let texts: Vec<_> = texts.iter().map(|text| texts::passage(prefix, text)).collect();
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts::batches(texts) {
            vectors.extend(self.batch(Role::Passage, batch).await?);
        }
        Ok(vectors)
    }

    async fn check(&self) -> Result<(), EmbedError> {
        if self.asker.answered_within(FRESH) {
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

/// How long to wait before asking again after so many tries; `None`: that is not worth it.
fn pause(error: &RemoteError, tries: u32) -> Option<Duration> {
    let may_pass = match error {
        RemoteError::Unreachable(_) => true,
        RemoteError::Status { code, .. } => *code == 429 || *code >= 500,
        // A server that takes its time would take it again.
        RemoteError::Timeout { .. } | RemoteError::Resting { .. } => false,
        RemoteError::TooLarge { .. } => false,
    };
    let usual = FIRST_PAUSE * 2_u32.saturating_pow(tries - 1);
    // By up to a half longer, so that those who failed together do not come back together.
    let random = RandomState::new().build_hasher().finish() % 512;
    let spread = usual.mul_f64(1.0 + f64::from(u32::try_from(random).unwrap_or(0)) / 1024.0);
    let pause = spread.max(error.retry_after().unwrap_or_default());
    (may_pass && tries < TRIES && pause <= LONGEST_PAUSE).then_some(pause)
}
