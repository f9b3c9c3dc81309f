//! Keeps the trail. A request only hands over what it saw; a task makes the record, off the request's path.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use jiff::Timestamp;
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::trail::{
    record::{RecallRecord, Recalled},
    trace::Step,
};
use memgate_core::{memory::Owner, trail::Ring};

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

/// The trail of recall; clones share it. Its task ends when the last clone is gone.
#[derive(Clone, Debug)]
pub struct RecallTrail(Option<Keeper>);

#[derive(Clone, Debug)]
struct Keeper {
    queue: mpsc::Sender<Message>,
    news: broadcast::Sender<Arc<RecallRecord>>,
    kept: Arc<Mutex<Kept>>,
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
}

impl RecallTrail {
    /// A trail that keeps nothing.
    #[must_use]
    pub fn off() -> Self {
        Self(None)
    }

    /// The trail and the task that keeps it; spawn the task where it is owned.
    pub fn new(settings: TrailSettings) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (queue, mut waiting) = mpsc::channel(QUEUE);
        let TrailSettings { requests, bytes, content } = settings;
        let kept = Kept { ring: Ring::new(requests, bytes), forgotten: None };
        let kept = Arc::new(Mutex::new(kept));
        let (news, _) = broadcast::channel(NEWS);
        let keeper = || Keeper { queue, news: news.clone(), kept: kept.clone() };
        let trail = Self((requests > 0).then(keeper));
        let task = async move {
            while let Some(message) = waiting.recv().await {
                match message {
                    Message::Recalled(recalled) => keep(&kept, &news, *recalled, content),
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

    /// Hands over a request that was answered; it does not wait.
    pub fn record(&self, recalled: Recalled) {
        if let Some(keeper) = &self.0
            && keeper.queue.try_send(Message::Recalled(Box::new(recalled))).is_err()
        {
            tracing::debug!("the trail is busy, a request leaves none");
        }
    }

    /// The record of a request by its id, if its owner is within reach; of several the newest.
    pub async fn find(&self, id: &str, reaches: impl Fn(&Owner) -> bool) -> Option<RecallRecord> {
        let keeper = self.0.as_ref()?;
        keeper.barrier().await;
        lock(&keeper.kept).ring.find(id, reaches).cloned()
    }

    /// The newest records of an owner.
    pub async fn newest(&self, owner: &Owner, most: usize) -> Vec<RecallRecord> {
        let Some(keeper) = &self.0 else { return Vec::new() };
        keeper.barrier().await;
        lock(&keeper.kept).ring.of(owner).take(most).cloned().collect()
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

    /// Drops all words of an owner, who forgets something; ids and scores stay.
    pub fn forget(&self, owner: &Owner) {
        let Some(keeper) = &self.0 else { return };
        let mut kept = lock(&keeper.kept);
        kept.forgotten = Some(Instant::now());
        kept.ring.change_all(owner, |record| record.query = None);
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

fn keep(
    kept: &Mutex<Kept>,
    news: &broadcast::Sender<Arc<RecallRecord>>,
    recalled: Recalled,
    content: bool,
) {
    let began = recalled.began;
    let mut record = RecallRecord::of(recalled, content);
    log(&record);
    let mut kept = lock(kept);
    if kept.forgotten.is_some_and(|at| began <= at) {
        record.query = None;
    }
    if news.receiver_count() > 0 {
        // Without receivers this fails.
        let _ = news.send(Arc::new(record.clone()));
    }
    kept.ring.push(record);
}

/// One line a request, without words and without the user.
fn log(record: &RecallRecord) {
    let took = record.steps.iter().find(|(step, _)| *step == Step::Total);
    tracing::debug!(
        request_id = record.request_id,
        decision = record.decision,
        by = record.decided_by,
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
