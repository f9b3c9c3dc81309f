//! One file for each kind of job. A run may be the second one for the same thing, after a crash or a
//! failure: each leads to the same memories however often it runs.

mod embed;
mod end_idle_session;
mod erase_forgotten;
mod extract;
mod extract_locally;
mod forget_said;
mod prune;
mod reconcile;
mod remember;
mod set_preferences;
mod store_turn;
mod summarise;

use crate::{
    error::JobError,
    jobs::context::JobContext,
    journal::{ClaimedJob, JobKind, Next},
};

pub(crate) use embed::{EMBED_REST, owe_vectors};

/// Runs a job. Returns the job that follows it, if there is one.
pub(super) async fn run(context: &JobContext, job: &ClaimedJob) -> Result<Option<Next>, JobError> {
    match job.kind {
        JobKind::StoreTurn => store_turn::run(context, job.subject).await?,
        JobKind::ExtractLocally => extract_locally::run(context, job.subject).await?,
        JobKind::Remember => remember::run(context, job).await?,
        JobKind::SetPreferences => set_preferences::run(context, job).await?,
        JobKind::ForgetSaid => forget_said::run(context, job).await?,
        JobKind::ForgetEdited => forget_said::run_edited(context, job.subject).await?,
        JobKind::EraseForgotten => erase_forgotten::run(context, job).await?,
        JobKind::Extract => return extract::run(context, job).await,
        JobKind::Reconcile => return reconcile::run(context, job).await,
        JobKind::EndIdleSession => end_idle_session::run(context, job).await?,
        JobKind::Summarise => summarise::run(context, job.subject).await?,
        JobKind::Embed => embed::run(context).await?,
        JobKind::Prune => prune::run(context).await?,
    }
    Ok(None)
}
