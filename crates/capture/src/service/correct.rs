//! Corrections of memories, as the API makes them.

use crate::{reconcile::say_no_longer, service::capture::Capture};
use memgate_core::memory::{Memory, StoreError, Write};

impl Capture {
    /// Takes what a memory said before it was corrected out of the memories of the turns that said it, and out of the
    /// summaries of their sessions: else these would be presented beside the correction.
    ///
    /// # Errors
    /// Those of the store; safe to call again.
    pub async fn corrected(
        &self,
        before: &Memory,
        after: &Memory,
        write: &Write,
    ) -> Result<(), StoreError> {
        // A turn or a summary is what says it.
        if before.as_turn().is_some() || before.as_summary().is_some() {
            return Ok(());
        }
        say_no_longer(&self.parts.writer, before, after, write).await
    }
}
