//! What the API does, without HTTP: REST and the command line call the same methods, so that both
//! answer alike.

mod entities;
mod export;
mod forget;
mod import;
mod learn;
mod ledger;
mod read;
mod stats;
mod write;

use std::sync::Arc;

use crate::{
    capture::Capture,
    config::Live,
    embed::Embedder,
    memory::{Actor, MemoryStore, Write},
    recall::Recall,
    telemetry::Metrics,
};

use super::ApiError;

pub use export::{Export, Piece};

/// All that callers may do to memories.
#[derive(Clone)]
pub struct Operations {
    /// The configuration as it is now.
    pub config: Live,
    /// Where memories live.
    pub store: Arc<dyn MemoryStore>,
    /// Turns what is written into vectors.
    pub embedder: Arc<dyn Embedder>,
    /// Finds memories.
    pub recall: Recall,
    /// Learns from turns, and forgets them.
    pub capture: Arc<Capture>,
    /// Counters.
    pub metrics: Arc<Metrics>,
}

impl Operations {
    /// The types named must be configured ones.
    fn known_types<'a>(
        &self,
        param: &str,
        names: impl IntoIterator<Item = &'a String>,
    ) -> Result<(), ApiError> {
        let config = self.config.get();
        match names.into_iter().find(|name| !config.memory.knows_type(name)) {
            Some(_) => {
                let known = config.memory.types.join(", ");
                Err(ApiError::invalid(param, format_args!("must be one of {known}")))
            }
            None => Ok(()),
        }
    }
}

/// A change by a caller of the API.
fn write(reason: &'static str, request_id: Option<String>) -> Write {
    Write { request_id, ..Write::by(Actor::Api, reason) }
}

/// An optional id of a scope must not be empty: it would look like "all".
fn not_empty(param: &str, value: Option<&String>) -> Result<(), ApiError> {
    match value {
        Some(value) if value.is_empty() => Err(ApiError::invalid(param, "must not be empty")),
        _ => Ok(()),
    }
}

/// Rows of a page when the caller names no number.
const PAGE: usize = 20;
/// The most rows of a page.
const MAX_PAGE: usize = 100;

/// How many rows a page may have.
fn page(limit: Option<usize>) -> Result<usize, ApiError> {
    match limit.unwrap_or(PAGE) {
        limit @ 1..=MAX_PAGE => Ok(limit),
        _ => Err(ApiError::invalid("limit", format_args!("must be between 1 and {MAX_PAGE}"))),
    }
}

/// A share must lie between 0 and 1.
fn share(param: &str, value: Option<f32>) -> Result<(), ApiError> {
    match value {
        Some(value) if !(0.0..=1.0).contains(&value) => {
            Err(ApiError::invalid(param, "must be between 0 and 1"))
        }
        _ => Ok(()),
    }
}
