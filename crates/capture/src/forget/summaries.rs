//! Forgetting the summaries of sessions.

use std::collections::BTreeMap;

use crate::{error::ForgetError, forget::session_memories::of_session, journal, parts::Parts};
use memgate_core::memory::{Actor, Filter, MemoryId, MemoryKind, Owner, StoreError, Write};

/// Forgets the summaries of sessions, with their earlier versions. They are made again of the turns that
/// are left in the journal, unless the summary itself is to be forgotten (`true`). Call it while nothing
/// runs in the owner's lanes: else a new summary could hold what the journal is about to forget.
pub(super) async fn forget_summaries(
    parts: &Parts,
    owner: &Owner,
    sessions: &BTreeMap<String, bool>,
) -> Result<(), ForgetError> {
    let (mut ids, mut last, mut again) = (Vec::new(), Vec::new(), Vec::new());
    for (session, for_good) in sessions {
        let found = summaries_of(parts, owner, session).await?;
        if *for_good {
            last.push(session.clone());
        } else if !found.is_empty() {
            again.push(session.clone());
        }
        ids.extend(found);
    }
    if !last.is_empty() || !again.is_empty() {
        let (owner, now) = (owner.clone(), parts.journal.now());
        let ask = move |c: &_| {
            last.iter().try_for_each(|session| journal::never_sum_up(c, &owner, session))?;
            again.iter().try_for_each(|session| journal::sum_up_again(c, &owner, session, now))
        };
        // First: after a failure nothing else shows that there was a summary.
        parts.journal.write(ask).await?;
    }
    parts
        .writer
        .store
        .forget_all(owner, &ids, &Write::by(Actor::Capture, "source forgotten"))
        .await?;
    Ok(())
}

/// The summaries of a session, whatever their status.
pub(super) async fn summaries_of(
    parts: &Parts,
    owner: &Owner,
    session: &str,
) -> Result<Vec<MemoryId>, StoreError> {
    let summaries = Filter::Kind(vec![MemoryKind::Summary]);
    of_session(parts, owner, session, Some(summaries), usize::MAX, |_| true).await
}
