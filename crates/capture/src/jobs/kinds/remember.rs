//! The job that stores what a user asked to be remembered.

use std::time::Duration;

use crate::{
    error::JobError,
    extract::{explicit, local},
    extractor::EXPLICIT,
    jobs::{
        candidates::{origin, store_candidates},
        context::JobContext,
        payload::payload,
    },
    journal::{self, ClaimedJob},
    reconcile::Origin,
};
use memgate_text::command::Typed;

/// The pause while what the same message asks to be forgotten is still there.
const ORDER_PAUSE: Duration = Duration::from_secs(5);

/// Brings what a user asked to be remembered into the store.
pub(crate) async fn run(context: &JobContext, job: &ClaimedJob) -> Result<(), JobError> {
    let mut statements: Vec<String> = payload(job)?;
    let turn = job.subject;
    if context.journal.read(move |c| journal::has_to_forget(c, turn)).await? {
        return Err(JobError::NotNow(ORDER_PAUSE));
    }
    let Some(said) = context.journal.read(move |c| journal::turn(c, turn)).await? else {
        return Ok(());
    };
    let (embedder, models) = (context.writer.embedder.as_ref(), context.writer.models.as_ref());
    if local::may_hold_pasted(&said.user_text) {
        // A text that is pasted without marks asks for nothing.
        let own = local::look(embedder, models, &said, None).await?.own;
        let [whole, own] = [&said.user_text, &own].map(|text| Typed::whole(&[text]));
        statements.retain(|words| own.says(words) || !whole.says(words));
    }
    // Commands are read from typed text alone.
    let typed = Typed::whole(&statements);
    let found = explicit::extract(embedder, models, statements, said.began).await?;
    let origin = Origin { typed, ..origin(&said, EXPLICIT) };
    let stored = store_candidates(context, &origin, found).await?;
    context.writer.metrics.command_done("remember", stored);
    Ok(())
}
