//! The job that makes the vectors memories are missing.

use std::{collections::HashSet, time::Duration};

use crate::{
    backfill::{EMBED_REST, embed_missing},
    error::JobError,
    parts::Parts,
};

/// Memories whose vectors are made at once.
const EMBED_BATCH: usize = 32;

/// The most such batches in one run. Turns are written between two runs.
const EMBED_ROUNDS: usize = 16;

/// The pause between two runs while vectors are missing.
const EMBED_PAUSE: Duration = Duration::from_secs(1);

/// Vectors for memories that have none: their embedding failed, or the
/// model has changed. Never given up, since it is about no single memory.
pub(crate) async fn run(parts: &Parts) -> Result<(), JobError> {
    let mut passed_over = HashSet::new();
    for _ in 0..EMBED_ROUNDS {
        match embed_missing(&parts.writer, EMBED_BATCH, &mut passed_over).await {
            // All have vectors, or their texts can have none: these are tried again with the
            // next that has none.
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(reason) => {
                tracing::debug!(reason, "missing vectors cannot be made now");
                return Err(JobError::NotNow(EMBED_REST));
            }
        }
    }
    Err(JobError::NotNow(EMBED_PAUSE))
}
