//! Counts a user's memories.

use std::collections::BTreeMap;

use futures_util::future::try_join_all;

use crate::api::{
    ApiError, Caller, CountRequest, CountView, StatsView, Whose, operations::Operations,
};
use memgate_core::memory::{Filter, MemoryType, ScopeQuery, Status};

impl Operations {
    /// Counts the memories that a list would show.
    ///
    /// # Errors
    /// 400 for an invalid field, 503 while the store is unavailable.
    pub async fn count(
        &self,
        caller: &Caller,
        CountRequest { whose, filter }: CountRequest,
    ) -> Result<CountView, ApiError> {
        let scope = ScopeQuery::of(caller.owner(&whose)?);
        let filter = self.conditions(filter)?;
        let (space, now) = (self.embedder.space().id(), self.clock.now());
        let counts = self.store.count(&scope, filter.as_ref(), &space, now).await?;
        Ok(CountView { count: counts.total })
    }

    /// Counts a user's memories in use.
    ///
    /// # Errors
    /// 400 for an invalid field, 503 while the store is unavailable.
    pub async fn stats(&self, caller: &Caller, whose: Whose) -> Result<StatsView, ApiError> {
        let (all, now) = (ScopeQuery::of(caller.owner(&whose)?), self.clock.now());
        let space = self.embedder.space();
        let id = space.id();
        let counts = self.store.count(&all, None, &id, now).await?;
        let config = self.config.get();
        let types = config.memory.types.iter().map(String::as_str);
        let by_type = try_join_all(types.chain([MemoryType::ANSWER]).map(async |name| {
            let scope = ScopeQuery { types: vec![name.to_owned()], ..all.clone() };
            let counts = self.store.count(&scope, None, &id, now).await?;
            Ok::<_, ApiError>((name.to_owned(), counts.total))
        }));
        // Answers are named only where there are any: no configuration lists their type.
        let named = |(name, total): &(String, u64)| name != MemoryType::ANSWER || *total > 0;
        let by_type: BTreeMap<String, u64> = by_type.await?.into_iter().filter(named).collect();
        // Those in use are the rest of the total.
        let counted = Status::ALL.iter().filter(|&&status| status != Status::Active);
        let by_status = try_join_all(counted.map(async |&status| {
            let of_status = Filter::Status(vec![status]);
            let counts = self.store.count(&all, Some(&of_status), &id, now).await?;
            Ok::<_, ApiError>((status.name().to_owned(), counts.total))
        }));
        let mut by_status: BTreeMap<String, u64> = by_status.await?.into_iter().collect();
        let review = by_status.get(Status::Review.name()).copied().unwrap_or_default();
        by_status.insert(Status::Active.name().to_owned(), counts.total.saturating_sub(review));
        Ok(StatsView {
            total: counts.total,
            embedded: counts.embedded,
            review,
            by_type,
            by_status,
            model: space.model.clone(),
            dimension: space.dimension,
            space: id,
        })
    }
}
