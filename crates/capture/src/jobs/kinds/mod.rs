//! One file for each kind of job. A run may be the second one for the same thing, after a crash or a
//! failure: each leads to the same memories however often it runs.

mod embed;
mod erase_forgotten;
mod extract;
mod extract_locally;
mod forget_said;
mod prune;
mod reconcile;
mod remember;
mod sessions;
mod set_preferences;
mod store_turn;
mod summarise;

use crate::{
    error::JobError,
    journal::{ClaimedJob, JobKind, Next},
    parts::Parts,
};

/// Runs a job. Returns the job that follows it, if there is one.
pub(super) async fn run(parts: &Parts, job: &ClaimedJob) -> Result<Option<Next>, JobError> {
    match job.kind {
        JobKind::StoreTurn => store_turn::run(parts, job.subject).await?,
        JobKind::ExtractLocally => extract_locally::run(parts, job.subject).await?,
        JobKind::Remember => remember::run(parts, job).await?,
        JobKind::SetPreferences => set_preferences::run(parts, job).await?,
        JobKind::ForgetSaid => forget_said::run(parts, job).await?,
        JobKind::ForgetEdited => forget_said::run_edited(parts, job).await?,
        JobKind::EraseForgotten => erase_forgotten::run(parts, job).await?,
        JobKind::Extract => return extract::run(parts, job).await,
        JobKind::Reconcile => return reconcile::run(parts, job).await,
        JobKind::EndIdleSession => sessions::end_idle(parts, job).await?,
        JobKind::KeepSession => sessions::keep(parts, job.subject).await?,
        JobKind::Summarise => summarise::run(parts, job.subject).await?,
        JobKind::Embed => embed::run(parts).await?,
        JobKind::Prune => prune::run(parts).await?,
    }
    Ok(None)
}
