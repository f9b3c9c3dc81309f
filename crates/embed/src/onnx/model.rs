//! One loaded model: token ids in, readings with normalised vectors out.

use std::path::Path;

use ort::environment::Environment;
use ort::session::SessionInputValue;
use ort::value::Tensor;

use crate::{
    EmbedError, Layers, Pooling, Reading, Space, normalise,
    onnx::{
        graph::{Graph, OutputShape},
        tokens::Tokens,
    },
};

/// Tolerance per number between two runs of one text, caused by the order of f32 additions.
const ROUNDING: f32 = 1e-5;
/// Two texts of different length, for the self-test.
const PROBES: [&str; 2] = ["short", "a text that is a good deal longer than the other one"];

/// Which results are extracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The vector only.
    Vector,
    /// The vector and the inner layers, if the graph provides them.
    Reading,
}

/// The graph's results: shape and values of the output, and the layers if wanted.
struct Outputs {
    shape: Vec<usize>,
    values: Vec<f32>,
    layers: Option<Vec<f32>>,
}

/// A graph with the expected format of its vectors.
pub(super) struct Model {
    graph: Graph,
    name: String,
    dimension: usize,
    padding: u32,
    may_batch: bool,
}

impl Model {
    /// Loads the graph at `path` and runs a self-test.
    pub(super) fn load(
        environment: &Environment,
        path: &Path,
        pooling: Pooling,
        space: &Space,
        tokens: &Tokens,
    ) -> Result<Self, EmbedError> {
        let graph = Graph::open(environment, path, pooling)?;
        let stated = graph.dimension;
        let mut model = Self {
            graph,
            name: space.model.clone(),
            dimension: space.dimension,
            padding: tokens.padding(),
            may_batch: false,
        };
        if let Some(found) = stated {
            model.check_dimension(found)?;
        }
        match model.vectors_ignore_their_batch(tokens) {
            Ok(ignore) => model.may_batch = ignore,
            Err(error @ EmbedError::Dimension { .. }) => return Err(error),
            // Search by words alone is better than no start.
            Err(error) => tracing::warn!(%error, "embedding model failed its self-test"),
        }
        Ok(model)
    }

    /// Whether texts can be batched without changing their vectors. A graph that quantises over the
    /// whole batch changes them.
    pub(super) fn may_batch(&self) -> bool {
        self.may_batch
    }

    /// Runs the texts, given as token ids, in one batch.
    pub(super) fn run(
        &mut self,
        texts: &[Vec<u32>],
        wanted: Wanted,
    ) -> Result<Vec<Reading>, EmbedError> {
        let longest = texts.iter().map(Vec::len).max().unwrap_or(0);
        let input = [texts.len(), longest];
        let mut ids = Vec::with_capacity(texts.len() * longest);
        let mut mask = Vec::with_capacity(texts.len() * longest);
        for text in texts {
            ids.extend(text.iter().map(|&id| i64::from(id)));
            mask.resize(ids.len(), 1_i64);
            ids.resize(ids.len() + longest - text.len(), i64::from(self.padding));
            mask.resize(ids.len(), 0);
        }
        let Outputs { shape, values, layers } = self
            .infer(input, ids, &mask, wanted)
            .map_err(|error| EmbedError::Failed(error.to_string()))?;
        self.check_shape(&shape, input)?;
        let vectors = match self.graph.shape {
            OutputShape::Pooled => values,
            OutputShape::Tokens(pooling) => pool(&values, &mask, longest, self.dimension, pooling),
        };
        let mut layers = layers_of_each(layers, texts.len()).into_iter();
        vectors
            .chunks_exact(self.dimension)
            .map(|vector| {
                let mut vector = vector.to_vec();
                normalise(&mut vector)?;
                Ok(Reading::whole(vector.into(), layers.next()))
            })
            .collect()
    }

    /// The width of what [`Model::read`] gives of a token; `None` where the graph gives nothing.
    pub(super) fn read_width(&self) -> Option<usize> {
        self.graph.states.map(|(_, width)| width)
    }

    /// The inner layers of each token of a text.
    pub(super) fn read(&mut self, ids: &[u32]) -> Result<Vec<f32>, EmbedError> {
        let failed = |cause: &str| EmbedError::Failed(cause.to_owned());
        let Some((name, width)) = self.graph.states else {
            return Err(failed("the model gives no inner layers of tokens"));
        };
        let shape = [1, ids.len()];
        let ids: Vec<i64> = ids.iter().map(|&id| i64::from(id)).collect();
        let mask = vec![1; ids.len()];
        let values: ort::Result<_> = (|| {
            let inputs = inputs(&self.graph, shape, ids, &mask)?;
            let outputs = self.graph.session.run(inputs)?;
            let states = outputs.get(name).map(|states| states.try_extract_tensor::<f32>());
            Ok(states.transpose()?.map(|(_, values)| values.to_vec()))
        })();
        let values = values.map_err(|error| failed(&error.to_string()))?.unwrap_or_default();
        if values.len() != shape[1] * width {
            return Err(failed("the model's inner layers have another shape than stated"));
        }
        Ok(values)
    }

    fn infer(
        &mut self,
        shape: [usize; 2],
        ids: Vec<i64>,
        mask: &[i64],
        wanted: Wanted,
    ) -> ort::Result<Outputs> {
        let inputs = inputs(&self.graph, shape, ids, mask)?;
        let outputs = self.graph.session.run(inputs)?;
        let Some(output) = outputs.get(&self.graph.output) else {
            return Err(ort::Error::new("the model returned no output"));
        };
        let (shape, values) = output.try_extract_tensor::<f32>()?;
        let shape = shape.iter().map(|&size| usize::try_from(size).unwrap_or(0));
        let layers = match (self.graph.layers, wanted) {
            (Some(name), Wanted::Reading) => outputs.get(name),
            _ => None,
        };
        let layers = layers.map(|layers| layers.try_extract_tensor::<f32>()).transpose()?;
        let layers = layers.map(|(_, values)| values.to_vec());
        Ok(Outputs { shape: shape.collect(), values: values.to_vec(), layers })
    }

    fn check_shape(&self, found: &[usize], input: [usize; 2]) -> Result<(), EmbedError> {
        if let Some(&last) = found.last() {
            self.check_dimension(last)?;
        }
        let [texts, tokens] = input;
        let fits = match self.graph.shape {
            OutputShape::Pooled => found == [texts, self.dimension],
            OutputShape::Tokens(_) => found == [texts, tokens, self.dimension],
        };
        if fits {
            return Ok(());
        }
        Err(EmbedError::Failed(format!(
            "for {texts} texts of {tokens} tokens the model's output has shape {found:?}"
        )))
    }

    fn check_dimension(&self, found: usize) -> Result<(), EmbedError> {
        if found == self.dimension {
            return Ok(());
        }
        Err(EmbedError::Dimension { model: self.name.clone(), configured: self.dimension, found })
    }

    fn vectors_ignore_their_batch(&mut self, tokens: &Tokens) -> Result<bool, EmbedError> {
        let ids = [tokens.passage(PROBES[0])?, tokens.passage(PROBES[1])?];
        let together = self.run(&ids, Wanted::Vector)?;
        for (ids, together) in ids.into_iter().zip(together) {
            for alone in self.run(&[ids], Wanted::Vector)? {
                let mut pairs = alone.vector.iter().zip(together.vector.iter());
                if pairs.any(|(a, b)| (a - b).abs() > ROUNDING) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

fn inputs(
    graph: &Graph,
    shape: [usize; 2],
    ids: Vec<i64>,
    mask: &[i64],
) -> ort::Result<Vec<(&'static str, SessionInputValue<'static>)>> {
    let mut inputs = vec![
        ("input_ids", Tensor::from_array((shape, ids))?.into()),
        ("attention_mask", Tensor::from_array((shape, mask.to_vec()))?.into()),
    ];
    if graph.wants_token_types {
        let types = vec![0_i64; mask.len()];
        inputs.push(("token_type_ids", Tensor::from_array((shape, types))?.into()));
    }
    Ok(inputs)
}

/// The layers of each text; empty if they are missing or cannot be divided among the texts.
fn layers_of_each(layers: Option<Vec<f32>>, texts: usize) -> Vec<Layers> {
    let layers = layers.unwrap_or_default();
    match layers.len().checked_div(texts) {
        Some(size) if size > 0 && size * texts == layers.len() => {
            layers.chunks_exact(size).map(Layers::from).collect()
        }
        _ => Vec::new(),
    }
}

/// Pools token vectors into one vector per text. `mask` is 1 for tokens and 0 for padding; every
/// text has `length` entries.
fn pool(values: &[f32], mask: &[i64], length: usize, size: usize, pooling: Pooling) -> Vec<f32> {
    let texts = values.chunks_exact(length * size).zip(mask.chunks_exact(length));
    let mut pooled = Vec::with_capacity(values.len() / length.max(1));
    for (tokens, mask) in texts {
        match pooling {
            Pooling::Cls => pooled.extend_from_slice(&tokens[..size]),
            // The sum has the same direction as the mean, and vectors are normalised.
            Pooling::Mean => {
                let tokens = tokens.chunks_exact(size).zip(mask);
                let tokens = tokens.filter(|&(_, &mask)| mask == 1).map(|(token, _)| token);
                pooled.extend(sum(tokens, size));
            }
        }
    }
    pooled
}

/// The sum of vectors of this size.
pub(super) fn sum<'a>(vectors: impl Iterator<Item = &'a [f32]>, size: usize) -> Vec<f32> {
    vectors.fold(vec![0.0; size], |mut sum, vector| {
        sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += x);
        sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pooling_takes_the_tokens_without_padding_or_the_first() {
        // Two texts of up to two tokens with vectors of two numbers; the second text is padded.
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 99.0, 99.0];
        let mask = [1, 1, 1, 0];
        assert_eq!(pool(&values, &mask, 2, 2, Pooling::Mean), [4.0, 6.0, 5.0, 6.0]);
        assert_eq!(pool(&values, &mask, 2, 2, Pooling::Cls), [1.0, 2.0, 5.0, 6.0]);
    }
}
