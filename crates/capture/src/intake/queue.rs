//! The bounded queue of finished turns, and the task that writes them to the journal.
//!
//! Handing over never waits. Over its bounds, and while the journal cannot be
//! written, turns are shed and counted; the requests they belong to know nothing of it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::{
    intake::{
        in_flight::InFlight,
        rate_limited_log::RateLimit,
        screen::{Removed, screened},
    },
    journal::{Entry, Journal, Recorded},
    settings::Live,
    trail::{TurnEvent, TurnName, TurnTrail},
    turn::FinishedTurn,
};
use memgate_telemetry::Metrics;

/// Why an exchange was not learned from, although nothing opted out of learning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum CaptureDrop {
    /// All exchanges together exceeded `memory.capture.max_in_flight_bytes`.
    OverBudget,
    /// The journal's queue was full.
    QueueFull,
    /// The request or the reply was too large.
    TooLarge,
    /// The body could not be read.
    Unreadable,
    /// The reply did not end well: an error status, or truncated.
    Incomplete,
    /// The journal could not store the turn.
    Journal,
}

/// Bytes that may wait for the journal at one time: some hundred large turns, or as many small ones
/// as the queue takes.
const MAX_WAITING_BYTES: usize = 64 * 1024 * 1024;

/// Turns written in one transaction at most.
const GROUP: usize = 256;

/// An item in the queue, in order.
enum Message {
    Turn(Waiting),
    /// Answered once everything before it is written or shed.
    Barrier(oneshot::Sender<()>),
}

struct Waiting {
    turn: Box<FinishedTurn>,
    weight: Weight,
    /// Ends the exchange when the turn is written or shed.
    _flight: InFlight,
}

/// A share of the waiting bytes, given back when dropped.
struct Weight(Arc<AtomicUsize>, usize);

impl Drop for Weight {
    fn drop(&mut self) {
        self.0.fetch_sub(self.1, Ordering::Relaxed);
    }
}

/// The way in.
pub(crate) struct Intake {
    queue: mpsc::Sender<Message>,
    waiting_bytes: Arc<AtomicUsize>,
    metrics: Arc<Metrics>,
    full: RateLimit,
}

impl Intake {
    /// The way in, and the work behind it, to be run as a task.
    pub(crate) fn new(
        bound: usize,
        scribe: Scribe,
        stop: CancellationToken,
    ) -> (Self, impl Future<Output = ()>) {
        let (queue, waiting) = mpsc::channel(bound.max(1));
        let intake = Self {
            queue,
            waiting_bytes: Arc::default(),
            metrics: scribe.metrics.clone(),
            full: RateLimit::default(),
        };
        (intake, scribe.run(waiting, stop))
    }

    /// Hands a turn over, or sheds it.
    pub(crate) fn offer(&self, turn: FinishedTurn, flight: InFlight) {
        if flight.is_forgotten(&turn.owner, turn.project_id.as_deref()) {
            return;
        }
        let weight = turn.weight();
        let waiting = self.waiting_bytes.fetch_add(weight, Ordering::Relaxed);
        let share = Weight(self.waiting_bytes.clone(), weight);
        let fits = waiting + weight <= MAX_WAITING_BYTES;
        let turn = Waiting { turn: Box::new(turn), weight: share, _flight: flight };
        if !fits || self.queue.try_send(Message::Turn(turn)).is_err() {
            self.metrics.dropped(CaptureDrop::QueueFull);
            if self.full.allows() {
                tracing::warn!("The queue to the journal is full, turns are not learnt from");
            }
        }
    }

    /// Waits until everything offered before is written or shed.
    pub(crate) async fn barrier(&self) {
        let (sender, answered) = oneshot::channel();
        // Without a task behind the queue nothing is on its way any more.
        if self.queue.send(Message::Barrier(sender)).await.is_ok() {
            let _ = answered.await;
        }
    }
}

/// Writes the turns that wait into the journal.
pub(crate) struct Scribe {
    pub(crate) journal: Arc<Journal>,
    pub(crate) live: Arc<Live>,
    pub(crate) metrics: Arc<Metrics>,
    /// Where it is noted what was removed from a turn.
    pub(crate) trail: TurnTrail,
    /// Told when there may be new jobs.
    pub(crate) wake: Arc<Notify>,
    /// Set while the journal refuses.
    pub(crate) refused: AtomicBool,
}

impl Scribe {
    /// Works until told to stop (or nobody can offer any more) and nothing waits.
    async fn run(self, mut waiting: mpsc::Receiver<Message>, stop: CancellationToken) {
        let mut messages = Vec::with_capacity(GROUP);
        loop {
            let received = tokio::select! {
                received = waiting.recv_many(&mut messages, GROUP) => received,
                () = stop.cancelled(), if !waiting.is_closed() => {
                    waiting.close();
                    continue;
                }
            };
            if received == 0 {
                break;
            }
            let mut turns = Vec::new();
            for message in messages.drain(..) {
                match message {
                    Message::Turn(turn) => turns.push(turn),
                    Message::Barrier(answer) => {
                        self.write(std::mem::take(&mut turns)).await;
                        let _ = answer.send(());
                    }
                }
            }
            self.write(turns).await;
        }
    }

    async fn write(&self, turns: Vec<Waiting>) {
        if turns.is_empty() {
            return;
        }
        // Kept until the end of this: exchanges in flight, and their share of the bytes.
        let (turns, held): (Vec<_>, Vec<_>) =
            turns.into_iter().map(|w| (*w.turn, (w.weight, w._flight))).unzip();
        // Patterns over long texts take a while: not on a thread of the runtime.
        let live = self.live.get();
        let (screener, tool_contents) = (live.screener, live.tool_contents);
        let entries = tokio::task::spawn_blocking(move || {
            turns
                .into_iter()
                .map(|turn| screened(turn, screener, tool_contents))
                .unzip::<_, _, Vec<_>, Vec<_>>()
        });
        let Ok((entries, removed)) = entries.await else {
            tracing::error!("the screening panicked, turns are not learnt from");
            held.iter().for_each(|_| self.metrics.dropped(CaptureDrop::Journal));
            return;
        };
        self.count_removed(&removed);
        self.note_removed(&entries, &removed);
        let held = Arc::new(held);
        let flights = held.clone();
        let wanted = move |number: usize, entry: &Entry| {
            flights.get(number).is_none_or(|(_, flight)| !flight.brings_back(entry))
        };
        self.record(entries, wanted).await;
        drop(held);
        self.wake.notify_one();
    }

    async fn record(
        &self,
        entries: Vec<Entry>,
        wanted: impl Fn(usize, &Entry) -> bool + Send + 'static,
    ) {
        let count = entries.len();
        match self.journal.record(entries, self.live.rules(), wanted).await {
            Ok(recorded) => {
                let new = recorded.iter().filter(|r| **r == Recorded::New).count();
                self.metrics.journaled(new as u64);
                if self.refused.swap(false, Ordering::Relaxed) {
                    tracing::info!("The journal can be written again, learning goes on");
                }
            }
            Err(error) => {
                for _ in 0..count {
                    self.metrics.dropped(CaptureDrop::Journal);
                }
                if !self.refused.swap(true, Ordering::Relaxed) {
                    tracing::error!(%error, "The journal cannot be written, learning is off until it can");
                }
            }
        }
    }

    fn note_removed(&self, entries: &[Entry], removed: &[Removed]) {
        for (entry, removed) in entries.iter().zip(removed) {
            let Removed { secrets, refused, reply_refused, is_prompt } = removed;
            let redacted = secrets.iter().map(|(class, count)| TurnEvent::redacted(*class, *count));
            let refused = refused.iter().map(|why| TurnEvent::refused("message", *why));
            let of_reply = reply_refused.iter().map(|why| TurnEvent::refused("reply", *why));
            let prompt = is_prompt.then(TurnEvent::clients_prompt);
            let mut events = redacted.chain(refused).chain(of_reply).chain(prompt).peekable();
            if events.peek().is_none() {
                continue;
            }
            let name = TurnName {
                owner: entry.owner.clone(),
                request_id: entry.request_id.clone(),
                turn: None,
                at: entry.began,
            };
            self.trail.note(name, events);
        }
    }

    fn count_removed(&self, removed: &[Removed]) {
        for (secret, count) in removed.iter().flat_map(|removed| &removed.secrets) {
            self.metrics.screened(secret.name(), *count);
        }
        for Removed { refused, reply_refused, .. } in removed {
            for why in refused.iter().chain(reply_refused) {
                self.metrics.refused(why.name());
            }
        }
    }
}
