//! Statistics of a user's memories.

use std::collections::BTreeMap;

use futures_util::future::try_join_all;

use crate::api::{ApiError, Caller, StatsView, Whose, operations::Operations};
use memgate_core::memory::{Filter, ScopeQuery, Status};

impl Operations {
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
        let by_type = try_join_all(config.memory.types.iter().map(async |name| {
            let scope = ScopeQuery { types: vec![name.clone()], ..all.clone() };
            let counts = self.store.count(&scope, None, &id, now).await?;
            Ok::<_, ApiError>((name.clone(), counts.total))
        }));
        let by_type: BTreeMap<String, u64> = by_type.await?.into_iter().collect();
        let review = Filter::Status(vec![Status::Review]);
        let review = self.store.count(&all, Some(&review), &id, now).await?.total;
        Ok(StatsView {
            total: counts.total,
            embedded: counts.embedded,
            review,
            by_type,
            model: space.model.clone(),
            dimension: space.dimension,
            space: id,
        })
    }
}
