//! The bounded queue of finished turns on their way to the journal.
//!
//! Handing over never waits. Over its bounds, and while the journal cannot be
//! written, turns are shed and counted; the requests they belong to know nothing of it.

use std::sync::{Arc, atomic::AtomicUsize};

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::{
    intake::{
        backlog::{Held, Message, Waiting, Weight},
        capture_drop::CaptureDrop,
        in_flight::InFlight,
        scribe::Scribe,
    },
    turn::FinishedTurn,
};
use memgate_telemetry::{Metrics, RateLimit};

/// Bytes that may wait for the journal at one time: some hundred large turns, or as many small ones
/// as the queue takes.
const MAX_WAITING_BYTES: usize = 64 * 1024 * 1024;

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
        let (waiting, share) = Weight::take(&self.waiting_bytes, weight);
        let fits = waiting + weight <= MAX_WAITING_BYTES;
        let held = Held { _weight: share, flight };
        let turn = Waiting { turn: Box::new(turn), held };
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
