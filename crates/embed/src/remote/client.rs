//! One request to the server, and the interpretation of its response.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use crate::{
    EmbedError, Space, Vector,
    client::{Remote, RemoteError},
    remote::{
        answer,
        provider::{Ask, Provider, Role},
    },
};

/// Timeout of a query: one text is embedded quickly, and later the caller has given up.
const QUERY_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum bytes of a response per text: 8,192 numbers with all their digits.
const ANSWER_BYTES: usize = 256 * 1024;
/// Longer responses (in bytes) are parsed on a blocking thread.
const LONG: usize = 64 * 1024;

/// Sends requests for vectors of one space to one server.
pub(super) struct EmbeddingClient {
    pub(super) server: Remote,
    pub(super) provider: Provider,
    /// The model's name on the server.
    pub(super) model: String,
    pub(super) space: Space,
    /// Timeout of a request with passages.
    pub(super) timeout: Duration,
    /// Whether the model's native dimension differs from the space's, and it honoured a requested
    /// dimension.
    pub(super) sized: AtomicBool,
    /// Time of the last response, if the last request succeeded.
    pub(super) answered: Mutex<Option<Instant>>,
}

/// Why a request returned no vectors.
#[derive(Debug)]
pub(super) enum RequestError {
    /// The server did not answer.
    Server(RemoteError),
    /// Its response is unusable.
    Answer(EmbedError),
}

impl From<RequestError> for EmbedError {
    fn from(error: RequestError) -> Self {
        let error = match error {
            RequestError::Server(error) => error,
            RequestError::Answer(error) => return error,
        };
        let so = |hint: &str| Self::Unavailable(format!("{error}: {hint}"));
        match error.status() {
            Some(401 | 403) => so("the key is missing or wrong"),
            Some(404) => so("the model or the path does not exist"),
            // 408 and 429 depend on the moment, not on the request.
            Some(code) if code < 500 && code != 408 && code != 429 => {
                Self::Refused(error.to_string())
            }
            _ if matches!(error, RemoteError::TooLarge { .. }) => Self::Failed(error.to_string()),
            _ => Self::Unavailable(error.to_string()),
        }
    }
}

impl RequestError {
    /// Whether the texts may be the cause.
    pub(super) fn may_be_the_texts(&self) -> bool {
        matches!(self, Self::Server(error) if matches!(error.status(), Some(400 | 413 | 422)))
    }
}

impl EmbeddingClient {
    /// Embeds texts that fit into one request.
    pub(super) async fn ask(
        &self,
        role: Role,
        texts: &[String],
    ) -> Result<Vec<Vector>, RequestError> {
        let sized = self.sized.load(Ordering::Relaxed);
        let outcome = match self.once(role, texts, sized).await {
            Err(RequestError::Answer(other @ EmbedError::Dimension { .. })) if !sized => {
                self.ask_for_size(role, texts, other).await
            }
            outcome => outcome,
        };
        *self.answered.lock().unwrap_or_else(PoisonError::into_inner) =
            outcome.is_ok().then(Instant::now);
        outcome
    }

    /// Whether the last request succeeded within this time.
    pub(super) fn answered_within(&self, time: Duration) -> bool {
        let answered = *self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        answered.is_some_and(|at| at.elapsed() < time)
    }

    /// Repeats the request with the wanted dimension; some models can return several.
    async fn ask_for_size(
        &self,
        role: Role,
        texts: &[String],
        other: EmbedError,
    ) -> Result<Vec<Vector>, RequestError> {
        match self.once(role, texts, true).await {
            Ok(vectors) => {
                self.sized.store(true, Ordering::Relaxed);
                Ok(vectors)
            }
            // If the server refuses or ignores it, the dimension is fixed.
            Err(RequestError::Answer(_)) => Err(RequestError::Answer(other)),
            Err(error) if error.may_be_the_texts() => Err(RequestError::Answer(other)),
            Err(error) => Err(error),
        }
    }

    async fn once(
        &self,
        role: Role,
        texts: &[String],
        sized: bool,
    ) -> Result<Vec<Vector>, RequestError> {
        let dimension = sized.then_some(self.space.dimension);
        let body = self.provider.body(&Ask { model: &self.model, role, texts, dimension });
        let deadline = match role {
            Role::Query => self.timeout.min(QUERY_TIMEOUT),
            Role::Passage => self.timeout,
        };
        let most_bytes = ANSWER_BYTES * (texts.len() + 1);
        let answer = self.server.post(&body, deadline, most_bytes).await;
        let answer = answer.map_err(RequestError::Server)?;
        let (count, space) = (texts.len(), &self.space);
        let vectors = if answer.len() < LONG {
            answer::read(&answer, count, space)
        } else {
            let space = space.clone();
            tokio::task::spawn_blocking(move || answer::read(&answer, count, &space))
                .await
                .unwrap_or(Err(EmbedError::Closed))
        };
        vectors.map_err(RequestError::Answer)
    }
}
