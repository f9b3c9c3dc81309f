//! Opens an ONNX file and inspects its graph: which inputs it needs, and which output holds the
//! embedding.

use std::path::Path;

use ort::environment::Environment;
use ort::session::Session;
use ort::session::builder::GraphOptimizationLevel;
use ort::value::ValueType;

use crate::{EmbedError, Pooling};

/// Names of outputs with one vector per text.
const POOLED: [&str; 2] = ["sentence_embedding", "pooled_embedding"];
/// Names of outputs with one vector per token.
const TOKENS: [&str; 2] = ["last_hidden_state", "token_embeddings"];

/// Name of the output with the means of the inner layers, one row per text (tools/export_onnx.py).
const LAYERS: &str = "layer_means";

/// Name of the output with inner layers of each token.
const STATES: &str = "layer_states";

/// An open graph.
pub(super) struct Graph {
    pub session: Session,
    /// Whether it needs token type ids.
    pub wants_token_types: bool,
    /// Name of the embedding output.
    pub output: String,
    pub shape: OutputShape,
    /// Dimension of a vector, if the file states it.
    pub dimension: Option<usize>,
    /// Name of the output with the inner layers; most graphs have none.
    pub layers: Option<&'static str>,
    /// Name and width of the output with the inner layers of each token; most graphs have none.
    pub states: Option<(&'static str, usize)>,
}

/// Content of the embedding output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputShape {
    /// One vector per text.
    Pooled,
    /// One vector per token; pooled by memgate.
    Tokens(Pooling),
}

impl Graph {
    /// Opens the file at `path`; `pooling` applies to graphs with token vectors.
    pub(super) fn open(
        environment: &Environment,
        path: &Path,
        pooling: Pooling,
    ) -> Result<Self, EmbedError> {
        let session = session(environment, path).map_err(|error| EmbedError::load(path, error))?;
        let wants_token_types = check_inputs(&session, path)?;
        let (output, shape, dimension) = find_output(&session, pooling, path)?;
        let layers = session.outputs().iter().any(|output| output.name() == LAYERS);
        let layers = layers.then_some(LAYERS);
        let states = session.outputs().iter().find_map(|output| match output.dtype() {
            ValueType::Tensor { shape, .. } if output.name() == STATES => {
                Some((STATES, usize::try_from(*shape.last()?).ok()?))
            }
            _ => None,
        });
        Ok(Self { session, wants_token_types, output, shape, dimension, layers, states })
    }
}

fn session(environment: &Environment, path: &Path) -> ort::Result<Session> {
    Session::builder(environment)?
        .with_optimization_level(GraphOptimizationLevel::All)?
        // One thread per model, so that queries do not compete for processors.
        .with_intra_threads(1)?
        .with_inter_threads(1)?
        // Shapes differ between runs; caching a plan for each would grow without bound.
        .with_memory_pattern(false)?
        .commit_from_file(path)
}

/// Whether the graph needs token type ids; refuses a graph with unsupported inputs.
fn check_inputs(session: &Session, path: &Path) -> Result<bool, EmbedError> {
    let mut wants_token_types = false;
    for required in ["input_ids", "attention_mask"] {
        if !session.inputs().iter().any(|input| input.name() == required) {
            return Err(EmbedError::load(path, format!("the graph has no input {required}")));
        }
    }
    for input in session.inputs() {
        match input.name() {
            "input_ids" | "attention_mask" => {}
            "token_type_ids" => wants_token_types = true,
            other => {
                let cause = format!("the graph has an unsupported input {other}");
                return Err(EmbedError::load(path, cause));
            }
        }
    }
    Ok(wants_token_types)
}

fn find_output(
    session: &Session,
    pooling: Pooling,
    path: &Path,
) -> Result<(String, OutputShape, Option<usize>), EmbedError> {
    let find = |names: &[&str], rank: usize| {
        session.outputs().iter().find_map(|output| match output.dtype() {
            ValueType::Tensor { shape, .. }
                if shape.len() == rank && names.contains(&output.name()) =>
            {
                let dimension = shape.last().and_then(|&size| usize::try_from(size).ok());
                Some((output.name().to_owned(), dimension))
            }
            _ => None,
        })
    };
    if let Some((name, dimension)) = find(&POOLED, 2) {
        return Ok((name, OutputShape::Pooled, dimension));
    }
    if let Some((name, dimension)) = find(&TOKENS, 3) {
        return Ok((name, OutputShape::Tokens(pooling), dimension));
    }
    let names: Vec<_> = session.outputs().iter().map(|output| output.name()).collect();
    let cause = format!(
        "the graph has outputs {}, but none of {} or {} of the right rank",
        names.join(", "),
        POOLED.join(", "),
        TOKENS.join(", "),
    );
    Err(EmbedError::load(path, cause))
}
