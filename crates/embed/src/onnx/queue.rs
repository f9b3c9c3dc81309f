//! The embedding queue: two bounded lanes, queries before passages.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::tokens::Window;
use crate::{EmbedError, Reading};

/// Maximum number of waiting queries: at 5 ms each, more than a second's work.
const MAX_QUERIES: usize = 256;
/// Maximum number of waiting passages; they are background work and are retried later.
const MAX_PASSAGES: usize = 1024;
/// Number of queries per batch. With more, the first would wait for the last.
const BATCH: usize = 8;
/// Number of consecutive query batches while passages wait; then one passage is processed. This
/// keeps passages from starving.
const PATIENCE: u32 = 16;

/// One text and the channel for its result. The receiver is gone when the caller has given up.
pub(super) struct Job {
    pub text: String,
    /// A part of a text to be read, in place of a text to be embedded.
    pub window: Option<Window>,
    pub reply: oneshot::Sender<Result<Reading, EmbedError>>,
}

/// A lane of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// The caller is waiting.
    Query,
    /// Background work.
    Passage,
}

/// Both lanes, shared by the callers and the embedding threads.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// Notified when a job was pushed or the queue was closed.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queries: VecDeque<Job>,
    passages: VecDeque<Job>,
    /// Query batches since the last passage.
    queries_in_a_row: u32,
    closed: bool,
}

impl Queue {
    /// Adds all of `jobs`, or none.
    ///
    /// # Errors
    /// [`EmbedError::Busy`] when they do not fit, [`EmbedError::Closed`] after `close`.
    pub(super) fn push(&self, lane: Lane, jobs: Vec<Job>) -> Result<(), EmbedError> {
        let mut state = self.state();
        if state.closed {
            return Err(EmbedError::Closed);
        }
        let (waiting, bound) = match lane {
            Lane::Query => (&mut state.queries, MAX_QUERIES),
            Lane::Passage => (&mut state.passages, MAX_PASSAGES),
        };
        if waiting.len() + jobs.len() > bound {
            waiting.retain(|job| !job.reply.is_closed());
        }
        if waiting.len() + jobs.len() > bound {
            return Err(EmbedError::Busy);
        }
        waiting.extend(jobs);
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    /// Waits for work: some queries, or one passage. `None` once the queue is closed. Cancelled
    /// jobs are skipped.
    pub(super) fn take(&self) -> Option<(Lane, Vec<Job>)> {
        let mut state = self.state();
        loop {
            if state.closed {
                return None;
            }
            if let Some(work) = state.next() {
                return Some(work);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Closes the queue: dropping the waiting jobs notifies their callers.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.queries.clear();
        state.passages.clear();
        drop(state);
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The lanes are consistent at every point where a panic could occur.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn next(&mut self) -> Option<(Lane, Vec<Job>)> {
        let passage_is_due = self.queries_in_a_row >= PATIENCE || self.queries.is_empty();
        if passage_is_due && let Some(passage) = next_wanted(&mut self.passages) {
            self.queries_in_a_row = 0;
            return Some((Lane::Passage, vec![passage]));
        }
        let mut queries = Vec::new();
        while queries.len() < BATCH
            && let Some(query) = next_wanted(&mut self.queries)
        {
            queries.push(query);
        }
        if queries.is_empty() {
            // All queries were cancelled; a passage may still be waiting.
            let passage = next_wanted(&mut self.passages)?;
            return Some((Lane::Passage, vec![passage]));
        }
        self.queries_in_a_row += 1;
        Some((Lane::Query, queries))
    }
}

fn next_wanted(lane: &mut VecDeque<Job>) -> Option<Job> {
    while let Some(job) = lane.pop_front() {
        if !job.reply.is_closed() {
            return Some(job);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    type Answer = oneshot::Receiver<Result<Reading, EmbedError>>;

    fn jobs(texts: &[&str]) -> (Vec<Job>, Vec<Answer>) {
        texts
            .iter()
            .map(|text| {
                let (reply, answer) = oneshot::channel();
                let text = (*text).to_owned();
                (Job { text, window: None, reply }, answer)
            })
            .unzip()
    }

    fn push(queue: &Queue, lane: Lane, texts: &[&str]) -> Vec<Answer> {
        let (jobs, answers) = jobs(texts);
        queue.push(lane, jobs).unwrap();
        answers
    }

    fn taken(queue: &Queue) -> (Lane, Vec<String>) {
        let (lane, jobs) = queue.take().unwrap();
        (lane, jobs.into_iter().map(|job| job.text).collect())
    }

    #[test]
    fn queries_are_batched_and_come_before_passages() {
        let queue = Queue::default();
        let _passages = push(&queue, Lane::Passage, &["p1", "p2"]);
        let _queries = push(&queue, Lane::Query, &["q1", "q2"]);
        assert_eq!(taken(&queue), (Lane::Query, vec!["q1".into(), "q2".into()]));
        assert_eq!(taken(&queue), (Lane::Passage, vec!["p1".into()]));
        assert_eq!(taken(&queue), (Lane::Passage, vec!["p2".into()]));
    }

    #[test]
    fn passages_do_not_starve() {
        let queue = Queue::default();
        let _passage = push(&queue, Lane::Passage, &["p"]);
        let mut answers = Vec::new();
        for turn in 0..=PATIENCE {
            answers.extend(push(&queue, Lane::Query, &["q"]));
            let (lane, _) = taken(&queue);
            assert_eq!(lane == Lane::Passage, turn == PATIENCE, "turn {turn}");
        }
    }

    #[test]
    fn a_full_lane_refuses_a_push_and_does_not_affect_the_other_lane() {
        let queue = Queue::default();
        let full = vec!["q"; MAX_QUERIES - 1];
        let _answers = push(&queue, Lane::Query, &full);
        let (two, _two) = jobs(&["a", "b"]);
        assert_eq!(queue.push(Lane::Query, two), Err(EmbedError::Busy));
        let _one = push(&queue, Lane::Query, &["c"]);
        let (more, _more) = jobs(&["d"]);
        assert_eq!(queue.push(Lane::Query, more), Err(EmbedError::Busy));
        let _passage = push(&queue, Lane::Passage, &["p"]);
    }

    #[test]
    fn cancelled_jobs_are_skipped_and_free_their_place() {
        let queue = Queue::default();
        drop(push(&queue, Lane::Query, &vec!["gone"; MAX_QUERIES]));
        let _answer = push(&queue, Lane::Query, &["kept"]);
        assert_eq!(taken(&queue), (Lane::Query, vec!["kept".into()]));
        drop(push(&queue, Lane::Query, &["gone"]));
        let _passage = push(&queue, Lane::Passage, &["p"]);
        assert_eq!(taken(&queue), (Lane::Passage, vec!["p".into()]));
    }

    #[test]
    fn closing_notifies_waiting_callers_and_refuses_new_jobs() {
        let queue = Queue::default();
        let mut answers = push(&queue, Lane::Query, &["q"]);
        queue.close();
        assert!(answers.remove(0).blocking_recv().is_err());
        assert!(queue.take().is_none());
        let (late, _late) = jobs(&["late"]);
        assert_eq!(queue.push(Lane::Passage, late), Err(EmbedError::Closed));
    }

    #[test]
    fn close_wakes_waiting_threads() {
        let queue = std::sync::Arc::new(Queue::default());
        let waiting = std::sync::Arc::clone(&queue);
        let thread = std::thread::spawn(move || waiting.take().is_none());
        queue.close();
        assert!(thread.join().unwrap());
    }
}
