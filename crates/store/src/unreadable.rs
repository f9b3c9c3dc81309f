//! Stored rows that cannot be read. A store passes over such a row, so that it costs itself alone and not a list, a search
//! or an export of everybody.

use std::{fmt, sync::Arc};

use memgate_telemetry::{Metrics, RateLimit};

/// Counts the rows that a store passes over, and names their memories in the log.
#[derive(Clone, Default)]
pub struct UnreadableRows(Arc<Inner>);

#[derive(Default)]
struct Inner {
    metrics: Option<Arc<Metrics>>,
    lines: RateLimit,
}

impl UnreadableRows {
    /// Counts in these metrics.
    #[must_use]
    pub fn counted_in(metrics: Arc<Metrics>) -> Self {
        Self(Arc::new(Inner { metrics: Some(metrics), lines: RateLimit::default() }))
    }

    /// Counts a row of the memory with this id. `value` names what cannot be read, and has no content.
    pub(crate) fn pass_over(&self, id: &str, value: &str) {
        if let Some(metrics) = &self.0.metrics {
            metrics.unreadable(1);
        }
        if self.0.lines.allows() {
            tracing::error!(
                memory = id,
                value,
                "a stored memory cannot be read, it is passed over"
            );
        }
    }
}

impl fmt::Debug for UnreadableRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UnreadableRows")
    }
}
