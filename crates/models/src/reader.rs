//! Reads a message piece by piece: whose words a sentence or clause is, whether it tells something worth keeping of the user,
//! whether it says how something is done, whether it is a wish about every later answer, and whether it asks that something
//! not be remembered. It sees the inner layers of the embedding model, which has read the piece
//! within its message. `tools/train_reader.py` trains it.

use memgate_embed::Layers;
use memgate_text::pieces::Piece;

use crate::{
    Features, Unreadable,
    linear::Linear,
    relevance::log_odds,
    tensors::{Tensors, wrong},
};

/// Numbers that say where a piece stands in its message.
const PLACE: usize = 8;
/// Numbers further from the mean than this many standard deviations say no more.
const FARTHEST: f32 = 6.0;
/// keep, own, procedural, standing, private
const OUTPUTS: usize = 5;

/// What the network finds less likely to be a wish is not read by its words, too.
const HARDLY: f32 = 0.02;

/// The most parts that a message is read in; in a list of hundreds of things no clause is judged alone.
const MOST_PARTS: usize = 128;

/// A sentence or a clause of a message.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// Its place in the message.
    pub piece: Piece<'a>,
    /// A clause of a sentence that has several, or else a sentence.
    pub is_clause: bool,
}

impl<'a> Part<'a> {
    /// The parts of a message: each sentence, followed by its clauses where it has several, up to [`MOST_PARTS`].
    #[must_use]
    pub fn all(message: &'a str) -> Vec<Self> {
        let mut parts = Vec::new();
        for piece in Piece::sentences(message) {
            let clauses = piece.clauses();
            parts.push(Self { piece, is_clause: false });
            if clauses.len() > 1 && parts.len() + clauses.len() <= MOST_PARTS {
                parts.extend(clauses.into_iter().map(|piece| Self { piece, is_clause: true }));
            }
        }
        parts
    }
}

/// The features of each part: its inner layers, the message's outer half of them, and the place of
/// the part. `layers` has those of each part, as [`memgate_embed::Embedder::read_spans`] returns
/// them.
#[must_use]
pub fn features(parts: &[Part<'_>], layers: &[Layers]) -> Vec<Vec<f32>> {
    let outer = |layers: &Layers| layers[layers.len() / 2..].to_vec();
    let sentences = parts.iter().zip(layers).filter(|(part, _)| !part.is_clause);
    let message = mean(sentences.map(|(_, layers)| outer(layers)).collect());
    let row = |(part, layers): (&Part<'_>, &Layers)| {
        let place = place(part);
        layers.iter().chain(&message).chain(&place).copied().collect()
    };
    parts.iter().zip(layers).map(row).collect()
}

fn mean(vectors: Vec<Vec<f32>>) -> Vec<f32> {
    let count = count(vectors.len().max(1));
    let sum = vectors.into_iter().reduce(|mut sum, vector| {
        sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += x);
        sum
    });
    sum.unwrap_or_default().into_iter().map(|sum| sum / count).collect()
}

fn place(part: &Part<'_>) -> [f32; PLACE] {
    let (before, after) = (part.piece.before(), part.piece.after());
    let message = part.piece.message();
    let log = |number: usize| (1.0 + count(number)).ln();
    let flag = |holds: bool| if holds { 1.0 } else { 0.0 };
    [
        count(before.len()) / count(message.len().max(1)),
        log(part.piece.words().len()),
        log(message.len()),
        log(message.matches('\n').count()),
        flag(before.contains("\n\n")),
        flag(after.contains("\n\n")),
        flag(before.trim_end_matches([' ', '\t']).ends_with('\n')),
        flag(part.is_clause),
    ]
}

#[expect(clippy::cast_precision_loss, reason = "counts of the bytes of a message")]
fn count(number: usize) -> f32 {
    number as f32
}

/// Probabilities that the trainer finds by what mistakes cost.
#[derive(Clone, Copy, Debug)]
pub struct Thresholds {
    /// A sentence above this is kept.
    pub keep: f32,
    /// A clause above this is kept out of a sentence that is not.
    pub clause: f32,
    /// At either end of a kept sentence, a clause below this is cut off.
    pub trim: f32,
    /// A piece above this is the user's own words.
    pub own: f32,
    /// Threshold for a short message of one line, in which hardly anything is pasted.
    pub own_short: f32,
    /// A sentence above this is a wish about every later answer.
    pub standing: f32,
    /// A sentence above this asks that something not be remembered.
    pub private: f32,
}

/// Probabilities for a piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Said {
    /// It tells something worth keeping.
    pub keep: f32,
    /// It is the user's own words.
    pub own: f32,
    /// It says how something is done.
    pub procedural: f32,
    /// It is a wish about every later answer.
    pub standing: f32,
    /// It asks that something not be remembered, or tells it.
    pub private: f32,
}

/// A network with one hidden layer beside a linear one; and for wishes a regression over their words.
#[derive(Debug)]
pub struct Reader {
    thresholds: Thresholds,
    /// Whether a piece is a wish about every later answer, by its words and those around it.
    wish: Linear,
    mean: Vec<f32>,
    scale: Vec<f32>,
    /// A row for each number that is seen.
    hidden: Vec<f32>,
    hidden_bias: Vec<f32>,
    /// A row for each hidden number.
    out: Vec<f32>,
    /// A row for each number that is seen.
    direct: Vec<f32>,
    bias: Vec<f32>,
}

impl Reader {
    pub(super) fn read(tensors: &Tensors) -> Result<Self, Unreadable> {
        let numbers = |name: &str| tensors.numbers(&format!("reader.{name}"));
        let threshold = |name: &str| tensors.number(&format!("reader.threshold.{name}"));
        let reader = Self {
            thresholds: Thresholds {
                keep: threshold("keep")?,
                clause: threshold("clause")?,
                trim: threshold("trim")?,
                own: threshold("own")?,
                own_short: threshold("own_short")?,
                standing: threshold("standing")?,
                private: threshold("private")?,
            },
            wish: Linear::read(tensors, "reader.wish")?,
            mean: numbers("mean")?,
            scale: numbers("scale")?,
            hidden: numbers("hidden")?,
            hidden_bias: numbers("hidden_bias")?,
            out: numbers("out")?,
            direct: numbers("direct")?,
            bias: numbers("bias")?,
        };
        let (seen, width) = (reader.mean.len(), reader.hidden_bias.len());
        let fits = reader.scale.len() == seen
            && reader.hidden.len() == seen * width
            && reader.out.len() == width * OUTPUTS
            && reader.direct.len() == seen * OUTPUTS
            && reader.bias.len() == OUTPUTS;
        if fits { Ok(reader) } else { Err(wrong("reader.hidden", "not of the others' size")) }
    }

    /// The thresholds of what it says.
    #[must_use]
    pub fn thresholds(&self) -> Thresholds {
        self.thresholds
    }

    /// Reads a piece by its [`features`]; `None` where they are of another embedding model.
    #[must_use]
    pub fn say(&self, features: &[f32], piece: &Piece<'_>) -> Option<Said> {
        let [keep, own, procedural, standing, private] = self.outputs(features)?;
        let standing = if standing < HARDLY { standing } else { self.standing(standing, piece) };
        Some(Said { keep, own, procedural, standing, private })
    }

    /// The probability of a wish: the network and the words count alike.
    fn standing(&self, network: f32, piece: &Piece<'_>) -> f32 {
        let words = Features::within(piece.before(), piece.words(), piece.after());
        let words = self.wish.probability(&words, &[]);
        #[expect(clippy::cast_possible_truncation, reason = "a probability")]
        let words = words as f32;
        sigmoid(f32::midpoint(log_odds(network), log_odds(words)))
    }

    /// What the network says.
    fn outputs(&self, features: &[f32]) -> Option<[f32; OUTPUTS]> {
        if features.len() != self.mean.len() {
            return None;
        }
        let normal = features.iter().zip(&self.mean).zip(&self.scale);
        let seen: Vec<f32> = normal
            .map(|((x, mean), scale)| ((x - mean) * scale).clamp(-FARTHEST, FARTHEST))
            .collect();
        let mut hidden = self.hidden_bias.clone();
        add(&mut hidden, &seen, &self.hidden);
        hidden.iter_mut().for_each(|x| *x = gelu(*x));
        let mut scores = self.bias.clone();
        add(&mut scores, &hidden, &self.out);
        add(&mut scores, &seen, &self.direct);
        let likely: Vec<f32> = scores.into_iter().map(sigmoid).collect();
        likely.try_into().ok()
    }
}

fn sigmoid(score: f32) -> f32 {
    1.0 / (1.0 + (-score).exp())
}

/// Adds a row of weights for each number.
fn add(sums: &mut [f32], numbers: &[f32], weights: &[f32]) {
    for (number, row) in numbers.iter().zip(weights.chunks_exact(sums.len().max(1))) {
        sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum += number * weight);
    }
}

/// As JAX computes it by default.
fn gelu(x: f32) -> f32 {
    let inner = (2.0 / std::f32::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3));
    0.5 * x * (1.0 + inner.tanh())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::tests::e5;

    #[test]
    fn it_says_what_the_trainer_computes() {
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/memorable/reader.json");
        let expected: Vec<[f32; OUTPUTS]> =
            serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let reader = &e5().reader;
        let width = reader.mean.len();
        for (row, expected) in expected.into_iter().enumerate() {
            let seen: Vec<f32> =
                (row * width..(row + 1) * width).map(|at| (at as f64).sin() as f32).collect();
            let said = reader.outputs(&seen).unwrap();
            let near = said.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3);
            assert!(near, "{said:?} and not {expected:?}");
        }
        let piece = &Piece::sentences("no more romaji")[0];
        assert_eq!(reader.say(&[0.0; 3], piece), None);
    }

    #[test]
    fn a_part_is_seen_with_its_message_and_its_place() {
        let message = "I'm vegan, what now?\n\nThanks.";
        let parts = Part::all(message);
        let words: Vec<_> = parts.iter().map(|part| part.piece.words()).collect();
        assert_eq!(words, ["I'm vegan, what now?", "I'm vegan", "what now?", "Thanks."]);
        let layers: Vec<Layers> =
            [1.0, 5.0, 7.0, 3.0].map(|x: f32| Layers::from([0.0, x])).to_vec();
        let seen = features(&parts, &layers);
        // The inner half, the outer half, and the mean of the sentences' outer halves.
        assert_eq!(seen[0][..3], [0.0, 1.0, 2.0]);
        assert_eq!(seen[1][..3], [0.0, 5.0, 2.0]);
        assert_eq!((seen[1][10], seen[3][10]), (1.0, 0.0), "a clause, or a sentence");
        assert_eq!((seen[0][8], seen[3][7]), (1.0, 1.0), "before and after an empty line");
    }
}
