//! Topic drift: a turn far from the centre of its session begins another topic,
//! and what was said of the one before is worth extracting now. Noticed with the
//! vectors of the turn's memory, in the background, where facts are extracted by
//! a model; without one there is nothing to bring forward.
//!
//! How far is far was measured: docs/quality.md, tools/drift.py.

use serde::{Deserialize, Serialize};

use crate::{
    error::JobError,
    journal::{self, SessionState},
    parts::Parts,
    turn::StoredTurn,
};
use memgate_embed::{Vector, dot};

/// A topic of fewer turns has no centre to speak of.
const FEWEST_TURNS: u32 = 3;

/// The session's value that holds its centre.
const VALUE: &str = "centre";

/// The centre of a session since its topic last changed.
#[derive(Debug, Serialize, Deserialize)]
struct Centre {
    /// Vectors of another space are not compared.
    space: String,
    turns: u32,
    /// The last turn in it: taken once, however often its job runs.
    last: i64,
    sum: Vec<f32>,
}

impl Centre {
    fn new(space: &str) -> Self {
        Self { space: space.to_owned(), turns: 0, last: 0, sum: Vec::new() }
    }

    /// How far a turn is from it, 1 - cosine; `None` while there is no centre.
    fn distance(&self, turn: &[f32]) -> Option<f32> {
        (self.turns >= FEWEST_TURNS).then(|| 1.0 - cosine(&self.sum, turn))
    }

    fn take(&mut self, number: i64, turn: &[f32]) {
        self.sum.resize(turn.len(), 0.0);
        self.sum.iter_mut().zip(turn).for_each(|(sum, x)| *sum += x);
        self.turns += 1;
        self.last = number;
    }
}

/// Takes note of a turn whose memory has these passages, and has what was said
/// before it extracted when it is about something else.
pub(super) async fn notice_drift(
    parts: &Parts,
    number: i64,
    turn: &StoredTurn,
    passages: Vec<String>,
) -> Result<(), JobError> {
    let settings = parts.live.get();
    let (Some(threshold), Some(_)) = (settings.sessions.drift_threshold, &settings.extractor)
    else {
        return Ok(());
    };
    // Made a moment ago for the memory: the embedder has them at hand.
    let vectors = parts.writer.embedder.embed_passages(passages).await?;
    let Some(vector) = middle(&vectors) else { return Ok(()) };
    let (owner, session) = (&turn.owner, turn.session.as_str());
    let space = parts.writer.embedder.space().id();
    let stored = parts.journal.value(owner, session, VALUE, parts.journal.now()).await?;
    let known = stored.and_then(|bytes| serde_json::from_slice::<Centre>(&bytes).ok());
    let mut centre =
        known.filter(|centre| centre.space == space).unwrap_or_else(|| Centre::new(&space));
    if centre.last >= number {
        return Ok(());
    }
    if centre.distance(&vector).is_some_and(|distance| distance > threshold) {
        let (rules, now) = (parts.live.rules(), parts.journal.now());
        parts.journal.write(move |c| journal::extract_before(c, number, &rules, now)).await?;
        centre = Centre::new(&space);
    }
    centre.take(number, &vector);
    let bytes = serde_json::to_vec(&centre).map_err(JobError::retry)?;
    parts.journal.set_value(owner, session, VALUE, bytes, None).await?;
    Ok(())
}

/// The direction of all passages of a turn together: the reply shows what a short
/// message is about.
fn middle(parts: &[Vector]) -> Option<Vec<f32>> {
    let (first, others) = parts.split_first()?;
    let mut sum = first.to_vec();
    for part in others {
        sum.iter_mut().zip(part.iter()).for_each(|(sum, x)| *sum += x);
    }
    let length = norm(&sum);
    (length > 0.0).then(|| sum.iter().map(|x| x / length).collect())
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let lengths = norm(a) * norm(b);
    if lengths > 0.0 { dot(a, b) / lengths } else { 0.0 }
}

fn norm(a: &[f32]) -> f32 {
    dot(a, a).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_far_when_it_points_elsewhere_and_only_then() {
        let mut centre = Centre::new("s");
        for number in 1..=3 {
            assert_eq!(centre.distance(&[0.0, 1.0]), None);
            centre.take(number, &[1.0, 0.0]);
        }
        assert_eq!(centre.distance(&[0.0, 1.0]), Some(1.0));
        assert_eq!(centre.distance(&[1.0, 0.0]), Some(0.0));
        assert_eq!(centre.last, 3);
    }

    #[test]
    fn a_turn_stands_between_its_parts() {
        let parts: [Vector; 2] = [vec![1.0, 0.0].into(), vec![0.0, 1.0].into()];
        let middle = middle(&parts).unwrap_or_default();
        assert!((cosine(&middle, &[1.0, 1.0]) - 1.0).abs() < 1e-6);
        assert!((norm(&middle) - 1.0).abs() < 1e-6);
        assert_eq!(super::middle(&[]), None);
    }
}
