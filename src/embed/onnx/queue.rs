//! Who waits to be embedded: two bounded lanes, questions before passages.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::embed::{EmbedError, Reading};

/// Questions that may wait: at 5 ms each, more than a second's work.
const MAX_QUERIES: usize = 256;
/// Passages that may wait; they are background work and are tried again later.
const MAX_PASSAGES: usize = 1024;
/// Questions taken at a time. More would make the first wait for the last.
const BATCH: usize = 8;
/// Takes of questions in a row, while passages wait, before one passage gets its turn:
/// under a flood of questions passages are slow but do not stand still.
const PATIENCE: u32 = 16;

/// One text, and where its reading goes. The receiver is gone when nobody waits any more.
pub struct Job {
    pub text: String,
    pub reply: oneshot::Sender<Result<Reading, EmbedError>>,
}

/// Which of the two lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Somebody waits for the answer now.
    Query,
    /// Background work.
    Passage,
}

/// The two lanes, shared by all who ask and the threads that embed.
#[derive(Default)]
pub struct Queue {
    state: Mutex<State>,
    /// Told when something was pushed or the queue was closed.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queries: VecDeque<Job>,
    passages: VecDeque<Job>,
    /// Takes of questions since the last passage.
    queries_in_a_row: u32,
    closed: bool,
}

impl Queue {
    /// Adds all of `jobs`, or none.
    ///
    /// # Errors
    /// [`EmbedError::Busy`] when they do not fit, [`EmbedError::Closed`] after `close`.
    pub fn push(&self, lane: Lane, jobs: Vec<Job>) -> Result<(), EmbedError> {
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

    /// Waits for work: some questions, or one passage. `None` once the queue is closed.
    /// Jobs that nobody waits for are left out.
    pub fn take(&self) -> Option<(Lane, Vec<Job>)> {
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

    /// Ends the queue: what waits is dropped, which tells those who wait.
    pub fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.queries.clear();
        state.passages.clear();
        drop(state);
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The lanes are whole at every point where a panic could come.
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
            // All questions were withdrawn; a passage may still wait.
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
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    type Answer = oneshot::Receiver<Result<Reading, EmbedError>>;

    fn jobs(texts: &[&str]) -> (Vec<Job>, Vec<Answer>) {
        texts
            .iter()
            .map(|text| {
                let (reply, answer) = oneshot::channel();
                let text = (*text).to_owned();
                (Job { text, reply }, answer)
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
    fn questions_go_before_passages_and_together() {
        let queue = Queue::default();
        let _passages = push(&queue, Lane::Passage, &["p1", "p2"]);
        let _queries = push(&queue, Lane::Query, &["q1", "q2"]);
        assert_eq!(taken(&queue), (Lane::Query, vec!["q1".into(), "q2".into()]));
        assert_eq!(taken(&queue), (Lane::Passage, vec!["p1".into()]));
        assert_eq!(taken(&queue), (Lane::Passage, vec!["p2".into()]));
    }

    #[test]
    fn under_a_flood_of_questions_passages_still_get_a_turn() {
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
    fn a_full_lane_refuses_all_of_a_push_and_the_other_lane_does_not_care() {
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
    fn withdrawn_jobs_are_skipped_and_make_room() {
        let queue = Queue::default();
        drop(push(&queue, Lane::Query, &vec!["gone"; MAX_QUERIES]));
        let _answer = push(&queue, Lane::Query, &["kept"]);
        assert_eq!(taken(&queue), (Lane::Query, vec!["kept".into()]));
        drop(push(&queue, Lane::Query, &["gone"]));
        let _passage = push(&queue, Lane::Passage, &["p"]);
        assert_eq!(taken(&queue), (Lane::Passage, vec!["p".into()]));
    }

    #[test]
    fn closing_answers_those_who_wait_and_refuses_the_rest() {
        let queue = Queue::default();
        let mut answers = push(&queue, Lane::Query, &["q"]);
        queue.close();
        assert!(answers.remove(0).blocking_recv().is_err());
        assert!(queue.take().is_none());
        let (late, _late) = jobs(&["late"]);
        assert_eq!(queue.push(Lane::Passage, late), Err(EmbedError::Closed));
    }

    #[test]
    fn a_thread_that_waits_for_work_is_woken_by_close() {
        let queue = std::sync::Arc::new(Queue::default());
        let waiting = std::sync::Arc::clone(&queue);
        let thread = std::thread::spawn(move || waiting.take().is_none());
        queue.close();
        assert!(thread.join().unwrap());
    }
}
