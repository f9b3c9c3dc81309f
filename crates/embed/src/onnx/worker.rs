//! The embedding threads: take jobs, run the model, answer.

use std::io;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crate::{
    EmbedError, Reading,
    onnx::{
        model::{Model, Wanted, sum},
        queue::{Job, Lane, Queue},
        tokens::{Tokens, Window},
    },
};

/// A batch is padded to its longest text; at most one token in this many may be padding.
const MAX_PADDING: usize = 4;

/// Starts a thread that works until `queue` is closed.
pub(super) fn spawn(
    queue: Arc<Queue>,
    tokens: Arc<Tokens>,
    model: Model,
) -> io::Result<JoinHandle<()>> {
    let mut worker = Worker { tokens, model };
    thread::Builder::new().name("embed".into()).spawn(move || {
        while let Some((lane, jobs)) = queue.take() {
            worker.work(lane, jobs);
        }
    })
}

struct Worker {
    tokens: Arc<Tokens>,
    model: Model,
}

/// A job whose text is tokenised.
struct Ready {
    job: Job,
    ids: Vec<u32>,
}

impl Worker {
    fn work(&mut self, lane: Lane, jobs: Vec<Job>) {
        let mut ready = Vec::with_capacity(jobs.len());
        for mut job in jobs {
            if let Some(window) = job.window.take() {
                self.read(job, &window);
                continue;
            }
            match contained(|| match lane {
                Lane::Query => self.tokens.query(&job.text),
                Lane::Passage => self.tokens.passage(&job.text),
            }) {
                Ok(ids) => ready.push(Ready { job, ids }),
                Err(error) => answer(job, Err(error)),
            }
        }
        ready.sort_by_key(|ready| ready.ids.len());
        let lengths: Vec<_> = ready.iter().map(|ready| ready.ids.len()).collect();
        let mut ready = ready.into_iter();
        for count in batches(&lengths, self.model.may_batch()) {
            self.run(lane, ready.by_ref().take(count).collect());
        }
    }

    /// Reads a window, and answers with the layers of its spans, one after another.
    fn read(&mut self, job: Job, window: &Window) {
        let layers = contained(|| {
            let states = self.model.read(&window.ids)?;
            let width = states.len() / window.ids.len().max(1);
            let tokens =
                |span: &Range<usize>| states.chunks_exact(width).take(span.end).skip(span.start);
            Ok(window.spans.iter().flat_map(|span| mean(tokens(span), width)).collect::<Vec<_>>())
        });
        answer(job, layers.map(|layers| Reading::whole([].into(), Some(layers.into()))));
    }

    fn run(&mut self, lane: Lane, batch: Vec<Ready>) {
        // Callers may have given up while the batches before were running.
        let batch = batch.into_iter().filter(|ready| !ready.job.reply.is_closed());
        let (jobs, ids): (Vec<_>, Vec<_>) = batch.map(|ready| (ready.job, ready.ids)).unzip();
        if ids.is_empty() {
            return;
        }
        // Only queries need more than the vector.
        let wanted = match lane {
            Lane::Query => Wanted::Reading,
            Lane::Passage => Wanted::Vector,
        };
        match contained(|| self.model.run(&ids, wanted)) {
            Ok(readings) => {
                for (job, reading) in jobs.into_iter().zip(readings) {
                    answer(job, Ok(reading));
                }
            }
            // One text can make a whole batch fail; alone, it fails only itself.
            Err(_) if jobs.len() > 1 => {
                for (job, ids) in jobs.into_iter().zip(ids) {
                    self.run(lane, vec![Ready { job, ids }]);
                }
            }
            Err(error) => {
                for job in jobs {
                    answer(job, Err(error.clone()));
                }
            }
        }
    }
}

/// The mean of vectors; zeros where there are none.
fn mean<'a>(vectors: impl ExactSizeIterator<Item = &'a [f32]>, width: usize) -> Vec<f32> {
    #[expect(clippy::cast_precision_loss, reason = "at most as many as a window has tokens")]
    let count = vectors.len().max(1) as f32;
    sum(vectors, width).into_iter().map(|sum| sum / count).collect()
}

fn answer(job: Job, result: Result<Reading, EmbedError>) {
    // The receiver is gone if the request was cancelled meanwhile.
    let _ = job.reply.send(result);
}

/// Turns a panic of a library into an error, because it must not end the thread.
fn contained<T>(work: impl FnOnce() -> Result<T, EmbedError>) -> Result<T, EmbedError> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(EmbedError::Failed("the model's code panicked".into())))
}

/// Sizes of the next batches; `lengths` (in tokens) are ascending.
fn batches(lengths: &[usize], may_batch: bool) -> Vec<usize> {
    if !may_batch {
        return vec![1; lengths.len()];
    }
    let mut counts = Vec::new();
    let mut rest = lengths;
    while !rest.is_empty() {
        let mut sum = 0;
        let count = rest
            .iter()
            .zip(1..)
            .take_while(|&(&longest, count)| {
                sum += longest;
                (longest * count - sum) * MAX_PADDING <= longest * count
            })
            .count();
        counts.push(count);
        rest = &rest[count..];
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_similar_length_share_a_batch() {
        assert_eq!(batches(&[10, 10, 11, 12], true), [4]);
        assert_eq!(batches(&[4, 5, 30, 32, 64], true), [2, 2, 1]);
        assert_eq!(batches(&[], true), [0; 0]);
    }

    #[test]
    fn a_model_that_depends_on_the_batch_gets_one_text_at_a_time() {
        assert_eq!(batches(&[10, 10, 10], false), [1, 1, 1]);
    }

    #[test]
    fn a_panic_becomes_an_error() {
        let panicking = || -> Result<(), EmbedError> { unreachable!("as a library might") };
        let result = contained(panicking);
        assert!(matches!(result, Err(EmbedError::Failed(_))), "{result:?}");
    }
}
