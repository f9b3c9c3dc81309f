//! A summary without a model server: the user's statements that are nearest to
//! all they said in the session, in the order they were said.

use crate::{
    extract::{local, summary::memory::MAX_CHARS},
    turn::StoredTurn,
};
use memgate_embed::{EmbedError, Embedder, Vector, dot};
use memgate_models::Models;
use memgate_text::sentences::joined;

/// The most statements of a summary.
const MOST: usize = 3;

/// The most statements that are compared; of more, the last.
const MOST_COMPARED: usize = 64;

/// A statement nearer to one that is taken says the same.
const SAME: f32 = 0.8;

/// The summary of some turns, and which of them it was taken from; `None` when
/// what is worth keeping was said in a single turn.
pub(crate) async fn central_statements(
    embedder: &dyn Embedder,
    models: &Models,
    turns: &[StoredTurn],
) -> Result<Option<(String, Vec<StoredTurn>)>, EmbedError> {
    let mut statements: Vec<(usize, String)> = Vec::new();
    for (at, turn) in turns.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| &turns[before]);
        for found in local::extract(embedder, models, turn, before).await? {
            if !statements.iter().any(|(_, known)| *known == found.content) {
                statements.push((at, found.content));
            }
        }
    }
    statements.drain(..statements.len().saturating_sub(MOST_COMPARED));
    let vectors = embedder
        .embed_passages(statements.iter().map(|(_, words)| words.clone()).collect())
        .await?;
    let mut taken = central(&vectors, |at| statements[at].1.chars().count());
    taken.sort_unstable();
    let mut of: Vec<usize> = taken.iter().map(|at| statements[*at].0).collect();
    of.dedup();
    if of.len() < 2 {
        return Ok(None);
    }
    let words = taken.iter().map(|at| statements[*at].1.as_str());
    let whole = words.fold(String::new(), |whole, statement| joined(&whole, statement));
    Ok(Some((whole, of.into_iter().map(|at| turns[at].clone()).collect())))
}

/// The places of the vectors nearest to the centre of all, without two that are
/// alike, as far as their lengths fit.
fn central(vectors: &[Vector], length: impl Fn(usize) -> usize) -> Vec<usize> {
    let mut centre = vec![0.0; vectors.first().map_or(0, |vector| vector.len())];
    for vector in vectors {
        centre.iter_mut().zip(vector.iter()).for_each(|(sum, x)| *sum += x);
    }
    let mut order: Vec<(usize, f32)> =
        vectors.iter().map(|vector| dot(vector, &centre)).enumerate().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let (mut taken, mut left) = (Vec::new(), MAX_CHARS);
    for (at, _) in order {
        let alike = taken.iter().any(|other: &usize| dot(&vectors[at], &vectors[*other]) > SAME);
        if taken.len() < MOST && !alike && length(at) <= left {
            left -= length(at);
            taken.push(at);
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::summary::memory::tests::turn;
    use memgate_embed::deterministic::DeterministicEmbedder;

    async fn summary(texts: &[&str]) -> Option<(String, Vec<String>)> {
        let turns: Vec<_> = texts.iter().enumerate().map(|(n, text)| turn(n, text)).collect();
        let embedder = DeterministicEmbedder::new(256);
        let models = Models::for_embedder(embedder.space()).unwrap();
        let found = central_statements(&embedder, &models, &turns).await.unwrap();
        found.map(|(words, of)| (words, of.into_iter().map(|turn| turn.key).collect()))
    }

    #[tokio::test]
    async fn the_statements_nearest_to_all_are_taken_in_their_order() {
        let (words, of) = summary(&[
            "My sister Anna is getting married in Porto in June.",
            "My name day is celebrated with plum dumplings.",
            "My sister Anna invited 80 guests to the wedding in Porto.",
            "I'm flying to Porto for the wedding of my sister on 3 June.",
        ])
        .await
        .unwrap();
        assert_eq!(
            words,
            "My sister Anna is getting married in Porto in June. \
             My sister Anna invited 80 guests to the wedding in Porto. \
             I'm flying to Porto for the wedding of my sister on 3 June."
        );
        assert_eq!(of, ["k0", "k2", "k3"]);
    }

    #[tokio::test]
    async fn what_is_said_twice_is_said_once_and_one_turn_is_no_session() {
        let same = "I'm allergic to peanuts.";
        assert_eq!(summary(&[same, same, "thanks a lot!", "Where is Oslo?"]).await, None);
        let (words, _) = summary(&[same, "My daughter is called Mia.", same]).await.unwrap();
        assert_eq!(words, "I'm allergic to peanuts. My daughter is called Mia.");
    }

    #[test]
    fn a_summary_is_no_longer_than_its_bound() {
        let axis = |at: usize| -> Vector { (0..4).map(|n| f32::from(n == at)).collect() };
        let vectors: Vec<Vector> = (0..4).map(axis).collect();
        let taken = central(&vectors, |at| [MAX_CHARS, 10, 10, 10][at]);
        assert_eq!(taken, [0]);
        assert_eq!(central(&vectors, |_| 10).len(), MOST);
        assert!(central(&[], |_| 10).is_empty());
    }
}
