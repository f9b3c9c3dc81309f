//! The task that screens the turns of the queue and writes them to the journal, each owner's in pieces of their own.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use futures_util::{StreamExt, stream::FuturesUnordered};
use tokio::{
    sync::{Notify, Semaphore, mpsc},
    task::spawn_blocking,
};
use tokio_util::sync::CancellationToken;

use crate::{
    intake::{
        backlog::{Backlog, Held, Message, Piece, Waiting},
        capture_drop::CaptureDrop,
        screen::Removed,
    },
    journal::{Entry, Journal, Recorded},
    settings::Live,
    trail::{TurnEvent, TurnName, TurnTrail},
    turn::FinishedTurn,
};
use memgate_core::memory::Owner;
use memgate_screening::Screener;
use memgate_telemetry::{Metrics, PanicIn};

/// Turns taken from the queue that are not yet written, at most. Above it, turns wait in the queue.
const MAX_TAKEN: usize = 256;
/// Pieces that are screened at a time: while one owner's text takes long, another's turns go on. Above it, pieces wait
/// for their turn in the order of their arrival.
const SCREENED_AT_ONCE: usize = 2;

/// Writes the turns that wait into the journal.
pub(crate) struct Scribe {
    pub(crate) journal: Arc<Journal>,
    pub(crate) live: Arc<Live>,
    pub(crate) metrics: Arc<Metrics>,
    /// Where it is noted what was removed from a turn.
    pub(crate) trail: TurnTrail,
    /// Told when there may be new jobs.
    pub(crate) wake: Arc<Notify>,
    /// Screens a turn.
    pub(crate) screen: Screen,
    /// Set while the journal refuses.
    pub(crate) refused: AtomicBool,
}

/// Screens a turn, with this screener, and with the contents of tools or without.
pub(crate) type Screen =
    Arc<dyn Fn(FinishedTurn, Screener, bool) -> (Entry, Removed) + Send + Sync>;

/// A screened turn, and what it holds until it is written.
type ScreenedTurn = (Entry, Removed, Held);

impl Scribe {
    /// Works until told to stop (or nobody can offer any more) and nothing waits.
    pub(super) async fn run(self, mut waiting: mpsc::Receiver<Message>, stop: CancellationToken) {
        let mut messages = Vec::with_capacity(MAX_TAKEN);
        let screening = Semaphore::new(SCREENED_AT_ONCE);
        let (mut backlog, mut under_way) = (Backlog::default(), FuturesUnordered::new());
        let mut ended = false;
        while !ended || !under_way.is_empty() {
            let room = MAX_TAKEN.saturating_sub(backlog.len());
            tokio::select! {
                Some((owner, turns)) = under_way.next() => {
                    under_way.extend(backlog.done(&owner, turns).map(|it| self.write(owner, it, &screening)));
                }
                received = waiting.recv_many(&mut messages, room), if !ended && room > 0 => {
                    ended = received == 0;
                    for message in messages.drain(..) {
                        match message {
                            Message::Turn(turn) => {
                                let owner = turn.owner().clone();
                                let piece = backlog.take(turn);
                                under_way.extend(piece.map(|it| self.write(owner, it, &screening)));
                            }
                            Message::Barrier(answer) => backlog.barrier(answer),
                        }
                    }
                }
                () = stop.cancelled(), if !waiting.is_closed() => waiting.close(),
            }
        }
    }

    /// Screens and writes a piece. Returns its owner and the number of its turns.
    async fn write(&self, owner: Owner, piece: Piece, screening: &Semaphore) -> (Owner, usize) {
        // The barriers are answered when the piece is dropped.
        let Piece { turns, barriers } = piece;
        let count = turns.len();
        let screened = self.screened(turns, screening).await;
        let (mut entries, mut removed, mut held) = (Vec::new(), Vec::new(), Vec::new());
        for (entry, of_entry, its) in screened {
            entries.push(entry);
            removed.push(of_entry);
            held.push(its);
        }
        if !entries.is_empty() {
            self.count_removed(&removed);
            self.note_removed(&entries, &removed);
            let held = Arc::new(held);
            let holding = Arc::clone(&held);
            let wanted = move |number: usize, entry: &Entry| {
                holding.get(number).is_none_or(|held| !held.flight.brings_back(entry))
            };
            self.record(entries, wanted).await;
            drop(held);
            self.wake.notify_one();
        }
        drop(barriers);
        (owner, count)
    }

    /// Screens turns on a thread of their own: patterns over long texts take a while. A turn whose screening panics is
    /// not stored, because nobody knows what is in it; the others are.
    async fn screened(&self, turns: Vec<Waiting>, screening: &Semaphore) -> Vec<ScreenedTurn> {
        let live = self.live.get();
        let (screener, tool_contents) = (live.screener, live.tool_contents);
        let (metrics, screen) = (Arc::clone(&self.metrics), Arc::clone(&self.screen));
        // Never closed, so there is always a permit.
        let _permit = screening.acquire().await;
        let work = move || {
            let one = |Waiting { turn, held }: Waiting| {
                let done =
                    metrics.catch(PanicIn::Capture, || screen(*turn, screener, tool_contents));
                if done.is_none() {
                    metrics.dropped(CaptureDrop::Panicked);
                }
                done.map(|(entry, removed)| (entry, removed, held))
            };
            turns.into_iter().filter_map(one).collect()
        };
        // Fails only while the process ends.
        spawn_blocking(work).await.unwrap_or_default()
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
