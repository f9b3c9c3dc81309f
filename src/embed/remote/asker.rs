//! One request to the server and what its answer means.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use super::{
    answer,
    provider::{Ask, Provider, Role},
};
use crate::{
    embed::{EmbedError, Space, Vector},
    remote::{Remote, RemoteError},
};

/// The longest a question is waited for: one text is soon embedded, and whoever asks has gone.
const QUERY_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes of an answer for each text: 8,192 numbers with all their digits.
const ANSWER_BYTES: usize = 256 * 1024;
/// Longer answers (bytes) are read where blocking is allowed.
const LONG: usize = 64 * 1024;

/// Asks one server for vectors of one space.
pub(super) struct Asker {
    pub(super) server: Remote,
    pub(super) provider: Provider,
    /// The model, as the server names it.
    pub(super) model: String,
    pub(super) space: Space,
    /// The longest a request with passages may take.
    pub(super) timeout: Duration,
    /// Whether the model's own vectors have another size than the space's, and it gave these when
    /// asked to.
    pub(super) sized: AtomicBool,
    /// When it last gave vectors, if that was the last thing it did.
    pub(super) answered: Mutex<Option<Instant>>,
}

/// Why a request gave no vectors.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The server gave no answer.
    Server(RemoteError),
    /// Its answer is of no use.
    Answer(EmbedError),
}

impl From<Trouble> for EmbedError {
    fn from(trouble: Trouble) -> Self {
        let error = match trouble {
            Trouble::Server(error) => error,
            Trouble::Answer(error) => return error,
        };
        let so = |hint: &str| Self::Unavailable(format!("{error}, so {hint}"));
        match error.status() {
            Some(401 | 403) => so("its key is missing or wrong"),
            Some(404) => so("it has no such model, or not at this path"),
            // 408 and 429 are said of a moment, not of what was asked.
            Some(code) if code < 500 && code != 408 && code != 429 => {
                Self::Refused(error.to_string())
            }
            _ if matches!(error, RemoteError::TooLarge { .. }) => Self::Failed(error.to_string()),
            _ => Self::Unavailable(error.to_string()),
        }
    }
}

impl Trouble {
    /// Whether the texts may be what was refused.
    pub(super) fn may_be_the_texts(&self) -> bool {
        matches!(self, Self::Server(error) if matches!(error.status(), Some(400 | 413 | 422)))
    }
}

impl Asker {
    /// The vectors of texts that fit into one request.
    pub(super) async fn ask(&self, role: Role, texts: &[String]) -> Result<Vec<Vector>, Trouble> {
        let sized = self.sized.load(Ordering::Relaxed);
        let outcome = match self.once(role, texts, sized).await {
            Err(Trouble::Answer(other @ EmbedError::Dimension { .. })) if !sized => {
                self.ask_for_size(role, texts, other).await
            }
            outcome => outcome,
        };
        *self.answered.lock().unwrap_or_else(PoisonError::into_inner) =
            outcome.is_ok().then(Instant::now);
        outcome
    }

    /// Whether the last request gave vectors, less than so long ago.
    pub(super) fn answered_within(&self, time: Duration) -> bool {
        let answered = *self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        answered.is_some_and(|at| at.elapsed() < time)
    }

    /// The same once more, with the size named: some models give others than their own.
    async fn ask_for_size(
        &self,
        role: Role,
        texts: &[String],
        other: EmbedError,
    ) -> Result<Vec<Vector>, Trouble> {
        match self.once(role, texts, true).await {
            Ok(vectors) => {
                self.sized.store(true, Ordering::Relaxed);
                Ok(vectors)
            }
            // What the server refuses or ignores is not its size to give.
            Err(Trouble::Answer(_)) => Err(Trouble::Answer(other)),
            Err(trouble) if trouble.may_be_the_texts() => Err(Trouble::Answer(other)),
            Err(trouble) => Err(trouble),
        }
    }

    async fn once(
        &self,
        role: Role,
        texts: &[String],
        sized: bool,
    ) -> Result<Vec<Vector>, Trouble> {
        let dimension = sized.then_some(self.space.dimension);
        let body = self.provider.body(&Ask { model: &self.model, role, texts, dimension });
        let deadline = match role {
            Role::Query => self.timeout.min(QUERY_TIMEOUT),
            Role::Passage => self.timeout,
        };
        let most_bytes = ANSWER_BYTES * (texts.len() + 1);
        let answer = self.server.post(&body, deadline, most_bytes).await;
        let answer = answer.map_err(Trouble::Server)?;
        let (count, space) = (texts.len(), &self.space);
        let vectors = if answer.len() < LONG {
            answer::read(&answer, count, space)
        } else {
            let space = space.clone();
            tokio::task::spawn_blocking(move || answer::read(&answer, count, &space))
                .await
                .unwrap_or(Err(EmbedError::Closed))
        };
        vectors.map_err(Trouble::Answer)
    }
}
