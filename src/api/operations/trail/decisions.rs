//! Decisions as they are made, and the latest of everybody.

use crate::api::{
    ApiError, Caller, DecisionsView, Newest, NoMembers, Whose,
    operations::{Operations, page, trail::stream::DecisionStream},
};

impl Operations {
    /// The latest decisions of everybody, without content, for operators.
    ///
    /// # Errors
    /// 400 for an invalid field.
    pub async fn decisions_of_all(
        &self,
        _: &Caller,
        Newest { limit }: Newest,
    ) -> Result<DecisionsView, ApiError> {
        let records = self.recall.trail().newest_of_all(page(limit)?).await;
        Ok(DecisionsView { decisions: records.iter().map(Into::into).collect() })
    }

    /// Decisions for a user's requests, as they are made.
    ///
    /// # Errors
    /// 404 while no trail is kept, 503 when too many streams are open.
    pub async fn watch(&self, caller: &Caller, whose: Whose) -> Result<DecisionStream, ApiError> {
        let owner = caller.owner(&whose)?;
        self.streams.open(self.recall.trail(), Some(owner))
    }

    /// Decisions for everybody's requests, as they are made, for operators.
    ///
    /// # Errors
    /// As [`Operations::watch`].
    pub async fn watch_all(
        &self,
        _: &Caller,
        NoMembers {}: NoMembers,
    ) -> Result<DecisionStream, ApiError> {
        self.streams.open(self.recall.trail(), None)
    }
}
