//! The functions of the operations, without HTTP: REST and the command line call the same ones and give
//! the same answers. `table.rs` names them.

mod access;
mod entities;
mod export;
mod forget;
mod import;
mod journal;
mod learn;
mod preferences;
mod read;
mod records;
mod text_work;
mod trail;
mod write;

use std::sync::Arc;

pub use text_work::TextWork;
pub use trail::{DecisionStream, Streams};

use crate::api::{ApiError, Caller};
use memgate_access::{Access, Action, Subject};
use memgate_capture::{Capture, OrdersToModel};
use memgate_config::Live;
use memgate_core::{
    clock::Clock,
    memory::{Actor, MemoryStore, Write},
};
use memgate_embed::Embedder;
use memgate_recall::Recall;
use memgate_telemetry::Metrics;

/// All operations on memories.
#[derive(Clone)]
pub struct Operations {
    /// The current configuration.
    pub config: Live,
    /// The memory store.
    pub store: Arc<dyn MemoryStore>,
    /// Embeds stored texts.
    pub embedder: Arc<dyn Embedder>,
    /// Finds memories.
    pub recall: Recall,
    /// Finds memories without leaving traces.
    pub rehearsal: Recall,
    /// Learns from turns and forgets them.
    pub capture: Arc<Capture>,
    /// Keys and audit log.
    pub access: Access,
    /// The metrics.
    pub metrics: Arc<Metrics>,
    /// Dates what is stored, and tells what has expired.
    pub clock: Clock,
    /// The open streams of decisions.
    pub streams: Streams,
    /// Works on long texts.
    pub texts: TextWork,
}

impl Operations {
    /// Appends what a caller has done to the audit log.
    async fn record(&self, caller: &Caller, action: Action, subject: Subject) {
        self.access.audit.record(caller.actor(), action, subject, caller.request_id()).await;
    }

    /// Checks that the types are configured.
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

/// Details of a change by an API caller, for the history of a memory.
fn write(reason: &'static str, caller: &Caller) -> Write {
    Write { request_id: caller.request_id(), ..Write::by(Actor::Api, reason) }
}

/// The action for a content that gives orders to the model.
fn orders_to_model(admit_quoted: bool) -> OrdersToModel {
    if admit_quoted { OrdersToModel::Quote } else { OrdersToModel::Refuse }
}

/// An optional id must not be empty, because an empty one would look like "all".
fn not_empty(param: &str, value: Option<&String>) -> Result<(), ApiError> {
    match value {
        Some(value) if value.is_empty() => Err(ApiError::invalid(param, "must not be empty")),
        _ => Ok(()),
    }
}

/// Default number of rows per page.
const PAGE: usize = 20;
/// Maximum number of rows per page.
const MAX_PAGE: usize = 100;

/// The number of rows of a page.
fn page(limit: Option<usize>) -> Result<usize, ApiError> {
    match limit.unwrap_or(PAGE) {
        limit @ 1..=MAX_PAGE => Ok(limit),
        _ => Err(ApiError::invalid("limit", format_args!("must be between 1 and {MAX_PAGE}"))),
    }
}

/// Checks that a value is between 0 and 1.
fn share(param: &str, value: Option<f32>) -> Result<(), ApiError> {
    match value {
        Some(value) if !(0.0..=1.0).contains(&value) => {
            Err(ApiError::invalid(param, "must be between 0 and 1"))
        }
        _ => Ok(()),
    }
}
