//! Embedding spaces: vectors are comparable only within one.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// How token vectors are pooled if the graph does not pool them itself.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// The mean of all tokens except padding.
    #[default]
    Mean,
    /// The first token.
    Cls,
}

/// Which of a model's files is used.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// 32-bit floats: `model.onnx`.
    #[default]
    Fp32,
    /// 8-bit weights: `model_int8.onnx`.
    Int8,
}

/// How the vectors of a space are computed.
#[derive(Clone, Debug, PartialEq)]
pub enum Run {
    /// By a local model.
    Here {
        /// How token vectors are pooled.
        pooling: Pooling,
        /// Precision of the weights.
        precision: Precision,
    },
    /// By a server; the model's name identifies it.
    Remote,
    /// By an ensemble, whose vectors are concatenated.
    Ensemble(Vec<Member>),
}

/// A member of an ensemble.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Space of its own vectors.
    pub space: Space,
    /// Weight relative to the other members; above 0.
    pub weight: f32,
}

/// An embedding space. Vectors are compared only within one.
#[derive(Clone, Debug, PartialEq)]
pub struct Space {
    /// The model's name as configured; for an ensemble, all names.
    pub model: String,
    /// Dimension of a vector.
    pub dimension: usize,
    /// How vectors are computed.
    pub run: Run,
    /// Prefix of every query; empty if there is none, and for ensembles, whose members have their
    /// own.
    pub query_prefix: String,
    /// Prefix of every passage; as above.
    pub passage_prefix: String,
}

impl Space {
    /// The space of an ensemble.
    #[must_use]
    pub fn ensemble(members: Vec<Member>) -> Self {
        let names: Vec<_> = members.iter().map(|member| member.space.model.as_str()).collect();
        Self {
            model: names.join(" + "),
            dimension: members.iter().map(|member| member.space.dimension).sum(),
            run: Run::Ensemble(members),
            query_prefix: String::new(),
            passage_prefix: String::new(),
        }
    }

    /// Range of the numbers of the model whose space matches `is`: all numbers, or those of a
    /// member of the ensemble.
    pub fn place_of(&self, is: impl Fn(&Self) -> bool) -> Option<Range<usize>> {
        if is(self) {
            return Some(0..self.dimension);
        }
        let Run::Ensemble(members) = &self.run else { return None };
        let mut from = 0;
        members.iter().find_map(|Member { space, .. }| {
            let place = from..from + space.dimension;
            from = place.end;
            is(space).then_some(place)
        })
    }

    /// Name of the space in stores; equal if and only if the spaces are equal, and stable across
    /// versions. `model:dimension:pooling:precision` or `model:dimension:remote`, followed by a
    /// digest of the prefixes if there are any. An ensemble lists its members with their weights:
    /// `one*1+other*0.5`.
    pub fn id(&self) -> String {
        let model = self.model.replace('%', "%25").replace(':', "%3A");
        let run = match &self.run {
            Run::Here { pooling, precision } => {
                let pooling = match pooling {
                    Pooling::Mean => "mean",
                    Pooling::Cls => "cls",
                };
                let precision = match precision {
                    Precision::Fp32 => "fp32",
                    Precision::Int8 => "int8",
                };
                format!("{pooling}:{precision}")
            }
            Run::Remote => "remote".to_owned(),
            Run::Ensemble(members) => {
                let each = members.iter().map(|Member { space, weight }| {
                    // Escaped like the colon: model names may contain both.
                    let id = space.id().replace('+', "%2B").replace('*', "%2A");
                    format!("{id}*{weight}")
                });
                return each.collect::<Vec<_>>().join("+");
            }
        };
        let mut id = format!("{model}:{}:{run}", self.dimension);
        if !(self.query_prefix.is_empty() && self.passage_prefix.is_empty()) {
            let mut hasher = Sha256::new();
            // The length distinguishes ("ab", "c") from ("a", "bc").
            hasher.update((self.query_prefix.len() as u64).to_le_bytes());
            hasher.update(&self.query_prefix);
            hasher.update(&self.passage_prefix);
            id.push(':');
            for byte in hasher.finalize().iter().take(8) {
                id.push_str(&format!("{byte:02x}"));
            }
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(pooling: Pooling, precision: Precision) -> Run {
        Run::Here { pooling, precision }
    }

    fn minilm() -> Space {
        Space {
            model: "all-MiniLM-L6-v2".into(),
            dimension: 384,
            run: run(Pooling::Mean, Precision::Fp32),
            query_prefix: String::new(),
            passage_prefix: String::new(),
        }
    }

    #[test]
    fn an_id_is_readable_and_stable() {
        assert_eq!(minilm().id(), "all-MiniLM-L6-v2:384:mean:fp32");
        let e5 = Space {
            model: "a:b%".into(),
            query_prefix: "query: ".into(),
            passage_prefix: "passage: ".into(),
            ..minilm()
        };
        assert_eq!(e5.id(), "a%3Ab%25:384:mean:fp32:a3f2fe079db057f6");
        let remote = Space { model: "openai/m".into(), run: Run::Remote, ..minilm() };
        assert_eq!(remote.id(), "openai/m:384:remote");
    }

    fn remote(model: &str, dimension: usize) -> Space {
        Space { model: model.into(), dimension, run: Run::Remote, ..minilm() }
    }

    fn ensemble(members: &[(Space, f32)]) -> Space {
        let member =
            |(space, weight): &(Space, f32)| Member { space: space.clone(), weight: *weight };
        Space::ensemble(members.iter().map(member).collect())
    }

    #[test]
    fn the_id_of_an_ensemble_lists_models_and_weights() {
        let space = ensemble(&[(minilm(), 1.0), (remote("openai/a+b*2", 256), 0.25)]);
        assert_eq!(space.id(), "all-MiniLM-L6-v2:384:mean:fp32*1+openai/a%2Bb%2A2:256:remote*0.25");
        assert_eq!(space.model, "all-MiniLM-L6-v2 + openai/a+b*2");
        assert_eq!(space.dimension, 640);
    }

    #[test]
    fn place_of_finds_the_range_of_a_member() {
        let space = ensemble(&[(remote("openai/m", 256), 1.0), (minilm(), 2.0)]);
        let is = |name: &'static str| move |space: &Space| space.model == name;
        assert_eq!(space.place_of(is("all-MiniLM-L6-v2")), Some(256..640));
        assert_eq!(space.place_of(is("openai/m")), Some(0..256));
        assert_eq!(space.place_of(is("openai/n")), None);
        assert_eq!(minilm().place_of(is("all-MiniLM-L6-v2")), Some(0..384));
        assert_eq!(minilm().place_of(is("openai/m")), None);
    }

    #[test]
    fn spaces_that_differ_in_anything_have_different_ids() {
        let prefixed = |query: &str, passage: &str| Space {
            query_prefix: query.into(),
            passage_prefix: passage.into(),
            ..minilm()
        };
        let ids = [
            minilm(),
            Space { model: "all-MiniLM-L6-v2:384".into(), ..minilm() },
            Space { dimension: 3840, ..minilm() },
            Space { run: run(Pooling::Cls, Precision::Fp32), ..minilm() },
            Space { run: run(Pooling::Mean, Precision::Int8), ..minilm() },
            Space { run: Run::Remote, ..minilm() },
            prefixed("ab", "c"),
            prefixed("a", "bc"),
            prefixed("abc", ""),
            prefixed("", "abc"),
            ensemble(&[(minilm(), 1.0), (remote("m", 8), 1.0)]),
            ensemble(&[(minilm(), 1.0), (remote("m", 8), 0.5)]),
            ensemble(&[(minilm(), 1.0), (remote("m", 9), 1.0)]),
            ensemble(&[(remote("m", 8), 1.0), (minilm(), 1.0)]),
            ensemble(&[(minilm(), 1.0), (remote("m", 8), 1.0), (remote("n", 8), 1.0)]),
        ]
        .map(|space| space.id());
        let unique: std::collections::HashSet<_> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len(), "{ids:?}");
    }
}
