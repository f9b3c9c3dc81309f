//! The parts that every exchange uses.

use std::sync::{Arc, OnceLock};

use memgate_access::Audit;
use memgate_capture::Capture;
use memgate_config::Live;
use memgate_core::clock::Clock;
use memgate_models::Models;
use memgate_recall::Recall;
use memgate_telemetry::Metrics;

use crate::gateway::budget::Budget;

/// The shared parts that every exchange needs.
#[derive(Clone)]
pub struct Parts {
    /// The current configuration.
    pub config: Live,
    /// Recall and capture, set once the data folder is open.
    pub memory: Arc<OnceLock<Memory>>,
    /// Byte budget of the watched exchanges.
    pub budget: Arc<Budget>,
    /// The trained models: some messages are decided before memory could be opened.
    pub models: Arc<Models>,
    /// The metrics.
    pub metrics: Arc<Metrics>,
    /// Dates exchanges.
    pub clock: Clock,
}

/// Recall and capture.
#[derive(Clone)]
pub struct Memory {
    /// Finds memories.
    pub recall: Recall,
    /// Learns from turns.
    pub capture: Arc<Capture>,
    /// The audit log, for what is presented across projects.
    pub audit: Audit,
}
