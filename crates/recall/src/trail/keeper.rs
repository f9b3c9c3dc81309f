//! Keeps the trail. A request only hands over what it saw; a task makes the record, off the request's path.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use jiff::Timestamp;
use tokio::{
    sync::{broadcast, mpsc, oneshot},
    task::spawn_blocking,
};

use crate::trail::{
    record::{QueryWords, RecallRecord, Recalled},
    trace::Step,
};
use memgate_core::memory::Owner;
use memgate_trail::{DatabaseError, Ring, TrailFile};

/// Requests that may wait to become records; one that finds the queue full leaves none.
const QUEUE: usize = 128;

/// Records that a watcher may be behind; beyond that it misses the oldest.
const NEWS: usize = 256;

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrailSettings {
    /// The most requests; 0 keeps none.
    pub requests: usize,
    /// The most bytes of their records.
    pub bytes: usize,
    /// Whether words are kept: those of the query.
    pub content: bool,
}

/// Decides whether all words of a message may be stored.
pub type MayStore = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// The trail of recall; clones share it. Its task ends when the last clone is gone.
#[derive(Clone)]
pub struct RecallTrail(Option<Keeper>);

#[derive(Clone)]
struct Keeper {
    queue: mpsc::Sender<Message>,
    news: broadcast::Sender<Arc<RecallRecord>>,
    kept: Arc<Mutex<Kept>>,
    file: Option<TrailFile>,
    /// Whether words are kept.
    content: bool,
}

#[derive(Debug)]
enum Message {
    Recalled(Box<Recalled>),
    /// Answered when all before it are kept.
    Barrier(oneshot::Sender<()>),
}

// Locked for a moment to add a record, to look one up, and when a user forgets something; never over an await.
#[derive(Debug)]
struct Kept {
    ring: Ring<RecallRecord>,
    /// When something was last forgotten: words of requests from before it are not kept.
    forgotten: Option<Instant>,
    /// When an owner was last erased: requests from before it that are not kept yet leave no record.
    erased: Option<Instant>,
}

impl RecallTrail {
    /// A trail that keeps nothing.
    #[must_use]
    pub fn off() -> Self {
        Self(None)
    }

    /// The trail, which also writes its records into a file if there is one, and the task that keeps it; spawn the task
    /// where it is owned. The words of a query are kept if `may_store` says so of its message.
    pub fn new(
        settings: TrailSettings,
        file: Option<TrailFile>,
        may_store: MayStore,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (queue, mut waiting) = mpsc::channel(QUEUE);
        let TrailSettings { requests, bytes, content } = settings;
        let kept = Kept { ring: Ring::new(requests, bytes), forgotten: None, erased: None };
        let kept = Arc::new(Mutex::new(kept));
        let (news, _) = broadcast::channel(NEWS);
        let may_store = content.then_some(may_store);
        let writer =
            Writer { news: news.clone(), kept: kept.clone(), file: file.clone(), may_store };
        let trail = Self((requests > 0).then_some(Keeper { queue, news, kept, file, content }));
        let task = async move {
            while let Some(message) = waiting.recv().await {
                match message {
                    Message::Recalled(recalled) => writer.keep(*recalled).await,
                    Message::Barrier(answer) => drop(answer.send(())),
                }
            }
        };
        (trail, task)
    }

    /// Whether requests leave a trail.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Whether the words of queries are kept, where they may be.
    #[must_use]
    pub fn keeps_words(&self) -> bool {
        self.0.as_ref().is_some_and(|keeper| keeper.content)
    }

    /// Hands over a request that was answered; it does not wait.
    pub fn record(&self, recalled: Recalled) {
        if let Some(keeper) = &self.0
            && keeper.queue.try_send(Message::Recalled(Box::new(recalled))).is_err()
        {
            tracing::debug!("the trail is busy, a request leaves none");
        }
    }

    /// The record of a request by its id, if its owner is within reach; of several the newest.
    ///
    /// # Errors
    /// [`DatabaseError`] when the trail's file cannot be read.
    pub async fn find(
        &self,
        id: &str,
        reaches: impl Fn(&Owner) -> bool,
    ) -> Result<Option<RecallRecord>, DatabaseError> {
        let Some(keeper) = &self.0 else { return Ok(None) };
        keeper.barrier().await;
        let kept = lock(&keeper.kept).ring.find(id, &reaches).cloned();
        match &keeper.file {
            Some(file) if kept.is_none() => file.find(id, reaches).await,
            _ => Ok(kept),
        }
    }

    /// The newest records of an owner.
    ///
    /// # Errors
    /// [`DatabaseError`] when the trail's file cannot be read.
    pub async fn newest(
        &self,
        owner: &Owner,
        most: usize,
    ) -> Result<Vec<RecallRecord>, DatabaseError> {
        let Some(keeper) = &self.0 else { return Ok(Vec::new()) };
        keeper.barrier().await;
        if let Some(file) = &keeper.file {
            return file.newest(owner, most).await;
        }
        Ok(lock(&keeper.kept).ring.of(owner).take(most).cloned().collect())
    }

    /// Reads the records of requests since a time, of all owners, the latest answered first. New records wait for `read`,
    /// so it must be quick.
    pub async fn since(&self, since: Timestamp, mut read: impl FnMut(&RecallRecord)) {
        let Some(keeper) = &self.0 else { return };
        keeper.barrier().await;
        lock(&keeper.kept).ring.all().filter(|record| record.at >= since).for_each(&mut read);
    }

    /// The newest records of everybody.
    pub async fn newest_of_all(&self, most: usize) -> Vec<RecallRecord> {
        let Some(keeper) = &self.0 else { return Vec::new() };
        keeper.barrier().await;
        lock(&keeper.kept).ring.all().take(most).cloned().collect()
    }

    /// Everybody's records from now on, as they are made; `None` if nothing is kept. A receiver that falls behind misses
    /// the oldest.
    #[must_use]
    pub fn watch(&self) -> Option<broadcast::Receiver<Arc<RecallRecord>>> {
        self.0.as_ref().map(|keeper| keeper.news.subscribe())
    }

    /// Drops all words of an owner, who forgets something, from memory; ids and scores stay. The file is shared with the
    /// trail of turns, which drops them there.
    pub fn forget(&self, owner: &Owner) {
        let Some(keeper) = &self.0 else { return };
        let mut kept = lock(&keeper.kept);
        kept.forgotten = Some(Instant::now());
        kept.ring.change_all(owner, |record| record.query = None);
    }

    /// Drops all records of an owner from memory; those in the file are dropped as above.
    pub fn erase(&self, owner: &Owner) {
        let Some(keeper) = &self.0 else { return };
        let mut kept = lock(&keeper.kept);
        kept.erased = Some(Instant::now());
        kept.ring.drop_all(owner);
    }
}

impl Keeper {
    /// Waits until what was handed over is kept.
    async fn barrier(&self) {
        let (sender, answered) = oneshot::channel();
        if self.queue.send(Message::Barrier(sender)).await.is_ok() {
            let _ = answered.await;
        }
    }
}

/// Makes records and keeps them.
struct Writer {
    news: broadcast::Sender<Arc<RecallRecord>>,
    kept: Arc<Mutex<Kept>>,
    file: Option<TrailFile>,
    /// Decides about words; none where no words are kept.
    may_store: Option<MayStore>,
}

impl Writer {
    async fn keep(&self, mut recalled: Recalled) {
        let began = recalled.began;
        let may_keep = match recalled.message.take() {
            Some(message) => self.may_keep(message).await,
            None => false,
        };
        let words = if may_keep { QueryWords::OfMessage } else { QueryWords::None };
        let mut record = RecallRecord::of(recalled, words);
        log(&record);
        let mut kept = lock(&self.kept);
        if kept.erased.is_some_and(|at| began <= at) {
            return;
        }
        if kept.forgotten.is_some_and(|at| began <= at) {
            record.query = None;
        }
        if let Some(file) = &self.file {
            // While the lock is held: who forgets something afterwards finds the record in the file's queue.
            file.keep(&record);
        }
        if self.news.receiver_count() > 0 {
            // Without receivers this fails.
            let _ = self.news.send(Arc::new(record.clone()));
        }
        kept.ring.push(record);
    }

    /// Whether the words of a message may be kept. A long message is screened for a while, so another thread does it;
    /// words that nobody could judge are not kept.
    async fn may_keep(&self, message: String) -> bool {
        let Some(may_store) = self.may_store.clone() else { return false };
        spawn_blocking(move || may_store(&message)).await.unwrap_or(false)
    }
}

/// One line a request, without words and without the user.
fn log(record: &RecallRecord) {
    let took = record.steps.iter().find(|(step, _)| *step == Step::Total);
    tracing::debug!(
        request_id = record.request_id,
        decision = &*record.decision,
        by = record.decided_by.as_deref(),
        need = record.need,
        candidates = record.candidates.len(),
        presented = record.presented().count(),
        tokens = record.context_tokens,
        bytes = record.context_bytes,
        took = ?took.map(|(_, took)| *took).unwrap_or_default(),
        "Memory: Recalled",
    );
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}
