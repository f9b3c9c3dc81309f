//! Earlier turns, for requests whose history the model server keeps.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::{journal, service::capture::Capture, session::SessionKey, turn::JournaledTurn};
use memgate_core::memory::Owner;
use memgate_sqlite::DatabaseError;

/// The turns that are read in time; none after an error or the deadline.
async fn lent(
    read: impl Future<Output = Result<Vec<JournaledTurn>, DatabaseError>>,
    deadline: Instant,
) -> Vec<JournaledTurn> {
    match timeout_at(deadline, read).await {
        Ok(Ok(turns)) => turns,
        Ok(Err(error)) => {
            tracing::debug!(%error, "the turns before cannot be read");
            Vec::new()
        }
        Err(_) => {
            tracing::debug!("the turns before were read too late");
            Vec::new()
        }
    }
}

impl Capture {
    /// The last `count` turns of the chain that ends with a response, oldest
    /// first, only among the owner's own. Empty when the journal cannot be read.
    /// A client may be faster than the journal: while other exchanges than the
    /// one of this request may bring the turn there, they are waited for, no
    /// longer than `patience`.
    pub async fn chain_turns(
        &self,
        owner: &Owner,
        response_id: &str,
        count: usize,
        request_id: Option<&str>,
        patience: Duration,
    ) -> Vec<JournaledTurn> {
        let deadline = Instant::now() + patience;
        loop {
            let changed = self.parts.exchanges.changed();
            tokio::pin!(changed);
            // Both before looking, or what ends in between would be missed.
            changed.as_mut().enable();
            let may_come = self.parts.exchanges.any_other(owner, request_id);
            let (of, id) = (owner.clone(), response_id.to_owned());
            let read = self.parts.journal.read(move |c| journal::chain(c, &of, &id, count));
            let turns = lent(read, deadline).await;
            if !turns.is_empty() || !may_come {
                return turns;
            }
            if timeout_at(deadline, changed).await.is_err() {
                return turns;
            }
        }
    }

    /// The last `count` turns of an owner's session, oldest first, for requests whose history the
    /// model server keeps. Empty when the journal cannot be read within `patience`; a turn that is on
    /// its way into the journal is not waited for, since nothing shows whether there is one.
    pub async fn session_turns(
        &self,
        owner: &Owner,
        session: &SessionKey,
        count: usize,
        patience: Duration,
    ) -> Vec<JournaledTurn> {
        let (owner, name) = (owner.clone(), session.name().to_owned());
        let read = self.parts.journal.read(move |c| journal::of_session(c, &owner, &name, count));
        lent(read, Instant::now() + patience).await
    }
}
