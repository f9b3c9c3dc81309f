//! The summary of a session that has ended: made, made again when it ends once
//! more, and gone with what it was made of.

use std::{collections::BTreeMap, sync::Arc};

use jiff::Timestamp;

use super::{
    extract::summary,
    journal::{self, Journal, StoredTurn},
    keep::{Kept, now},
    reconcile::still_true,
    work::{EMBED_REST, JobError, Workbench},
};
use crate::{
    memory::{
        Actor, Filter, ListQuery, Memory, MemoryId, MemoryStore, Owner, ScopeQuery, Source, Status,
        StoreError, Write,
    },
    sqlite::DatabaseError,
};

/// Memories of a session that are looked at in one go.
const PAGE: usize = 100;

impl From<ForgetError> for JobError {
    fn from(error: ForgetError) -> Self {
        match error {
            ForgetError::Journal(error) => error.into(),
            ForgetError::Store(error) => error.into(),
        }
    }
}

impl Workbench {
    /// Takes summaries back.
    pub(super) fn summaries(&self) -> Summaries {
        Summaries { store: self.keeper.store.clone(), journal: self.journal.clone() }
    }

    /// Sums a session up. The helper model is asked where there is one; what it
    /// does not give is made of the user's own statements.
    pub(super) async fn summarise(&self, session: i64) -> Result<(), JobError> {
        if !self.live.get().sessions.summaries {
            return Ok(());
        }
        let turns = self.journal.read(move |c| journal::to_sum_up(c, session)).await?;
        for turns in summary::by_scope(turns) {
            if let Some(memory) = self.summary_of(&turns).await? {
                self.keep_summary(memory).await?;
            }
        }
        Ok(())
    }

    async fn summary_of(&self, turns: &[StoredTurn]) -> Result<Option<Memory>, JobError> {
        if let Some(helper) = &self.live.get().extractor {
            match summary::ask(helper, turns).await {
                (summary::Told::Words(words), of) => {
                    return Ok(summary::memory(&words, of, now()));
                }
                (summary::Told::Nothing, _) => return Ok(None),
                (summary::Told::Unusable, _) => {}
            }
        }
        let (embedder, models) = (self.keeper.embedder.as_ref(), self.keeper.models.as_ref());
        let found = summary::central_statements(embedder, models, turns).await;
        Ok(found
            .map_err(JobError::retry)?
            .and_then(|(words, of)| summary::memory(&words, &of, now())))
    }

    /// The summary without what its turns, or itself, say no longer.
    async fn still_true(&self, new: Memory) -> Result<Memory, JobError> {
        let links = new.relations.iter().map(|link| &link.target);
        let mut stored = Vec::new();
        for id in links.chain([&new.id]) {
            match self.keeper.store.get(&new.owner, id, new.updated_at).await {
                Ok(memory) => stored.push(memory),
                Err(StoreError::NotFound) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(still_true(new, &stored))
    }

    /// A session's summary is one memory: what is told later is a new version.
    async fn keep_summary(&self, new: Memory) -> Result<(), JobError> {
        let write = Write::by(Actor::Capture, "summary");
        let new = self.still_true(new).await?;
        if !new.status.is_in_use() {
            return Ok(());
        }
        let parts = vec![new.content.clone()];
        let (_, kept) = match self.keeper.store.get(&new.owner, &new.id, new.updated_at).await {
            Ok(old) if old.content == new.content && old.relations == new.relations => {
                return Ok(());
            }
            Ok(old) => {
                let version = Memory {
                    content: new.content,
                    structured: new.structured,
                    event_time: new.event_time,
                    relations: new.relations,
                    provenance: new.provenance,
                    updated_at: new.updated_at,
                    ..old
                };
                self.keeper.replace(version, parts, &write).await?
            }
            Err(StoreError::NotFound) => self.keeper.create(new, parts, &write).await?,
            Err(error) => return Err(error.into()),
        };
        match kept {
            Kept::Whole => Ok(()),
            Kept::WithoutVectors => self.owe_vectors(EMBED_REST).await,
        }
    }
}

/// Who takes summaries back.
pub(super) struct Summaries {
    pub(super) store: Arc<dyn MemoryStore>,
    pub(super) journal: Arc<Journal>,
}

/// Why a summary could not be taken back.
#[derive(Debug, thiserror::Error)]
pub enum ForgetError {
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] DatabaseError),
    /// The store does not work.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Summaries {
    /// Forgets the summaries of sessions, with their earlier versions. Of what is
    /// left in the journal they are made again, unless the summary itself was what
    /// was to be forgotten (for good). To be called while nothing runs in the owner's
    /// lanes: then no new one can hold what the journal is about to forget.
    pub(super) async fn forget(
        &self,
        owner: &Owner,
        sessions: &BTreeMap<String, bool>,
    ) -> Result<(), ForgetError> {
        let (mut ids, mut last, mut again) = (Vec::new(), Vec::new(), Vec::new());
        for (session, for_good) in sessions {
            let found = self.of_session(owner, session).await?;
            if *for_good {
                last.push(session.clone());
            } else if !found.is_empty() {
                again.push(session.clone());
            }
            ids.extend(found);
        }
        if !last.is_empty() || !again.is_empty() {
            let (owner, now) = (owner.clone(), Timestamp::now());
            let ask = move |c: &_| {
                last.iter().try_for_each(|session| journal::never_sum_up(c, &owner, session))?;
                again.iter().try_for_each(|session| journal::sum_up_again(c, &owner, session, now))
            };
            // First: done again after a failure, nothing tells any more that there was one.
            self.journal.write(ask).await?;
        }
        self.store.forget_all(owner, &ids, &Write::by(Actor::Capture, "source forgotten")).await?;
        Ok(())
    }

    /// The summaries of a session, whatever their status.
    pub(super) async fn of_session(
        &self,
        owner: &Owner,
        session: &str,
    ) -> Result<Vec<MemoryId>, StoreError> {
        let mut query = ListQuery {
            scope: ScopeQuery::of(owner.clone()),
            filter: Some(Filter::And(vec![
                Filter::Session(session.to_owned()),
                Filter::Source(vec![Source::SystemGenerated]),
                Filter::Status(Status::ALL.to_vec()),
            ])),
            limit: PAGE,
            cursor: None,
            now: Timestamp::now(),
        };
        let mut ids = Vec::new();
        loop {
            let page = self.store.list(&query).await?;
            ids.extend(page.memories.into_iter().filter(is_summary).map(|memory| memory.id));
            match page.next {
                Some(next) => query.cursor = Some(next),
                None => return Ok(ids),
            }
        }
    }
}

/// Whether a memory is the summary of a session.
pub(super) fn is_summary(memory: &Memory) -> bool {
    memory.provenance.extractor.as_deref() == Some(summary::NAME)
}
