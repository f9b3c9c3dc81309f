//! Decisions as they are made, and the latest of everybody.

use crate::api::{
    ApiError, Caller, DecisionsView, Newest, NoMembers, Whose,
    operations::{
        Operations, page,
        trail::stream::{DecisionStream, Permit},
    },
};
use memgate_access::{Actor, HeldKey};
use memgate_core::memory::Owner;

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
    /// 404 while no trail is kept, 429 when the user has too many streams open, 503 when all of them are open.
    pub async fn watch(&self, caller: &Caller, whose: Whose) -> Result<DecisionStream, ApiError> {
        let owner = caller.owner(&whose)?;
        self.stream(caller, Some(owner))
    }

    /// Decisions for everybody's requests, as they are made, for operators.
    ///
    /// # Errors
    /// As [`Operations::watch`].
    pub async fn watch_all(
        &self,
        caller: &Caller,
        NoMembers {}: NoMembers,
    ) -> Result<DecisionStream, ApiError> {
        self.stream(caller, None)
    }

    fn stream(&self, caller: &Caller, owner: Option<Owner>) -> Result<DecisionStream, ApiError> {
        let is_permitted: Permit = match caller.actor() {
            Actor::Key(id) | Actor::User(id) => {
                let key = self.access.keys.held(id);
                Box::new(move || key.as_ref().is_some_and(HeldKey::is_valid))
            }
            _ => Box::new(|| true),
        };
        self.streams.open(self.recall.trail(), owner, caller.bound().owner(), is_permitted)
    }
}
