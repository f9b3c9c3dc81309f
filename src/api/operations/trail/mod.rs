//! Reads the trail: the recalls of requests, their summary, and the outcomes of turns. Rehearses a recall, which leaves none.

mod decisions;
mod places;
mod rehearsal;
mod stream;
mod summary;
mod why;

use crate::api::{
    ApiError, Caller, RecallView, RecallsRequest, RecallsView, TurnView, WhoseIfNamed, WithId,
    operations::{Operations, page},
};
use memgate_core::memory::{MemoryId, Owner};
use memgate_recall::RecallRecord;

pub use stream::{DecisionStream, Streams};

impl Operations {
    /// The recalls for a user's latest requests, the newest first.
    ///
    /// # Errors
    /// 400 for an invalid field.
    pub async fn recalls(
        &self,
        caller: &Caller,
        request: RecallsRequest,
    ) -> Result<RecallsView, ApiError> {
        let owner = caller.owner(&request.whose)?;
        let records = self.recall.trail().newest(&owner, page(request.newest.limit)?).await?;
        let content = self.config.get().memory.trail.content;
        let mut recalls = Vec::with_capacity(records.len());
        for record in records {
            recalls.push(self.shown(record, content).await);
        }
        Ok(RecallsView { recalls })
    }

    /// The recall for a request.
    ///
    /// # Errors
    /// 404 for a request that is not in the trail, and for one of a user out of reach.
    pub async fn recall_of(
        &self,
        caller: &Caller,
        WithId { id, request: whose }: WithId<WhoseIfNamed>,
    ) -> Result<RecallView, ApiError> {
        let means = whose.means()?;
        let reaches = |owner: &Owner| caller.reaches(owner) && means(owner);
        match self.recall.trail().find(&id, reaches).await? {
            Some(record) => Ok(self.shown(record, self.config.get().memory.trail.content).await),
            None => Err(ApiError::not_in_trail("request")),
        }
    }

    /// The outcomes of a turn.
    ///
    /// # Errors
    /// 404 for a turn that is not in the trail, and for one of a user out of reach.
    pub async fn turn_of(
        &self,
        caller: &Caller,
        WithId { id, request: whose }: WithId<WhoseIfNamed>,
    ) -> Result<TurnView, ApiError> {
        let means = whose.means()?;
        let reaches = |owner: &Owner| caller.reaches(owner) && means(owner);
        let turn = self.capture.trail().find(&id, reaches).await?;
        turn.map(TurnView::from).ok_or_else(|| ApiError::not_in_trail("turn"))
    }

    /// The record, with the `content` of its memories where that is wanted. The trail holds none: what was deleted since
    /// is not shown.
    async fn shown(&self, record: RecallRecord, content: bool) -> RecallView {
        let owner = record.owner.clone();
        let mut view = RecallView::from(record);
        if content {
            let now = self.clock.now();
            for candidate in &mut view.candidates {
                let id = MemoryId::from_outside(&candidate.memory_id);
                let memory = self.store.get(&owner, &id, now).await.ok();
                candidate.content = memory.map(|memory| memory.text().into_owned());
            }
        }
        view
    }
}
