//! What makes two vectors comparable: the space they are in.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// How a model's token vectors become one, when the graph does not do it itself.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// The mean of all tokens that are not padding.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// By a model that runs here.
    Here {
        /// How token vectors become one.
        pooling: Pooling,
        /// Precision of the weights.
        precision: Precision,
    },
    /// By a server, whose model's name says all.
    Remote,
}

/// An embedding space. Vectors are compared only within one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// The model's name, as configured.
    pub model: String,
    /// Numbers in a vector.
    pub dimension: usize,
    /// How vectors are computed.
    pub run: Run,
    /// Put before every question; empty for models that want none.
    pub query_prefix: String,
    /// Put before every passage; empty for models that want none.
    pub passage_prefix: String,
}

impl Space {
    /// Names the space in stores: equal exactly when the spaces are, and the same in every
    /// version of the program. `model:dimension:pooling:precision`, or `model:dimension:remote`,
    /// then a digest of the prefixes where there are any.
    pub fn id(&self) -> String {
        let model = self.model.replace('%', "%25").replace(':', "%3A");
        let run = match self.run {
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
        };
        let mut id = format!("{model}:{}:{run}", self.dimension);
        if !(self.query_prefix.is_empty() && self.passage_prefix.is_empty()) {
            let mut hasher = Sha256::new();
            // The length keeps ("ab", "c") and ("a", "bc") apart.
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
    fn an_id_is_readable_and_stays_the_same() {
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
        ]
        .map(|space| space.id());
        let unique: std::collections::HashSet<_> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len(), "{ids:?}");
    }
}
