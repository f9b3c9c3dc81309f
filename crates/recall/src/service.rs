//! The façade of recall. Each method runs one stage or pipeline on the services.

use std::sync::Arc;

use tokio::time::{Instant, timeout_at};

use crate::{
    decide::{self, Decided},
    decision::{Message, RecallError},
    hit::Hit,
    pipeline,
    plan::Plan,
    present::Context,
    query::{Query, Rewriter},
    request::RecallRequest,
    retrieve::Retrieval,
    services::Services,
    state::{AccessTracker, ToolLoopCache},
    trail::RecallTrail,
};
use memgate_core::memory::{MemoryId, MemoryStore, Owner};
use memgate_embed::{Embedder, ensemble::only_model};
use memgate_models::Models;
use memgate_telemetry::Metrics;

/// Recall on a store with an embedder; clones share everything.
#[derive(Clone)]
pub struct Recall {
    pub(super) services: Services,
}

impl Recall {
    /// Recall on a store with an embedder.
    #[must_use]
    pub fn new(
        store: Arc<dyn MemoryStore>,
        embedder: Arc<dyn Embedder>,
        models: Arc<Models>,
        access: AccessTracker,
        metrics: Arc<Metrics>,
    ) -> Self {
        let space = embedder.space().id().into();
        let tool_loops = Arc::default();
        let services = Services {
            store,
            embedder,
            space,
            models,
            rewriter: None,
            access,
            tool_loops,
            metrics,
            trail: RecallTrail::off(),
        };
        Self { services }
    }

    /// With a model that helps to find.
    #[must_use]
    pub fn with_rewriter(self, rewriter: Option<Rewriter>) -> Self {
        Self { services: Services { rewriter, ..self.services } }
    }

    /// With a trail of the latest requests.
    #[must_use]
    pub fn with_trail(self, trail: RecallTrail) -> Self {
        Self { services: Services { trail, ..self.services } }
    }

    /// This recall without traces: its presentations are not counted, and leave no trail.
    #[must_use]
    pub fn rehearsal(&self) -> Self {
        let services = Services {
            access: AccessTracker::off(),
            tool_loops: Arc::default(),
            metrics: Metrics::new(),
            trail: RecallTrail::off(),
            ..self.services.clone()
        };
        Self { services }
    }

    /// The same recall, with queries embedded by one of the embedding models alone; `None` without a model of this name.
    #[must_use]
    pub fn with_only_model(&self, name: &str) -> Option<Self> {
        let embedder = only_model(&self.services.embedder, name)?;
        Some(Self { services: Services { embedder, ..self.services.clone() } })
    }

    /// The trail of the latest requests.
    #[must_use]
    pub fn trail(&self) -> &RecallTrail {
        &self.services.trail
    }

    /// Whether a model may help to find.
    #[must_use]
    pub fn has_rewriter(&self) -> bool {
        self.services.rewriter.is_some()
    }

    /// Drops what is held of an owner's memories and words between requests: the contexts of open tool loops, and the
    /// words in the trail. Code that deletes memories of an owner must call this.
    pub fn forget(&self, owner: &Owner) {
        self.services.tool_loops.forget(owner);
        self.services.trail.forget(owner);
    }

    /// Drops all that is held of an owner between requests. Code that erases an owner must call this.
    pub fn erase(&self, owner: &Owner) {
        self.services.tool_loops.forget(owner);
        self.services.trail.erase(owner);
    }

    /// Whether a context that was made for an earlier call may be presented again: what others share must still be
    /// shared, and be what it was. Without anything shared in it nothing is asked.
    pub(super) async fn may_see_again(
        &self,
        context: &Context,
        request: &RecallRequest<'_>,
    ) -> bool {
        if context.shared.is_empty() {
            return true;
        }
        let asked = context.shared.iter().map(|it| (it.owner.clone(), it.id.clone()));
        let asked: Vec<(Owner, MemoryId)> = asked.collect();
        let found = self.services.store.get_all(&asked, request.now);
        let Ok(Ok(found)) = timeout_at(request.deadline, found).await else { return false };
        context.shared.iter().all(|it| {
            found.iter().any(|memory| {
                (&memory.owner, &memory.id, memory.version) == (&it.owner, &it.id, it.version)
                    && memory.status.is_in_use()
                    && request.may_see(memory)
            })
        })
    }

    /// The contexts of open tool loops.
    #[must_use]
    pub fn tool_loops(&self) -> &ToolLoopCache {
        &self.services.tool_loops
    }

    /// Decides whether to search, within the embedder's share of the time.
    pub async fn decide(&self, message: &Message<'_>, deadline: Instant) -> Decided {
        let decided = decide::decide_with_embedding(&self.services, message, deadline).await;
        decided.noted(&self.services.metrics)
    }

    /// Decides whether memory can help with a message; the plan then makes the context.
    ///
    /// # Errors
    /// [`RecallError::Deadline`] when it can, and the deadline had passed before this began.
    pub async fn plan<'a>(
        &'a self,
        message: Message<'a>,
        request: &'a RecallRequest<'a>,
    ) -> Result<Plan<'a>, RecallError> {
        Plan::of(&self.services, message, request).await
    }

    /// The selected hits for a query, best first.
    ///
    /// # Errors
    /// [`RecallError`].
    pub async fn search(
        &self,
        query: &Query,
        request: &RecallRequest<'_>,
    ) -> Result<Vec<Hit>, RecallError> {
        pipeline::search(&self.services, &Retrieval { request, query, embedding: None }).await
    }
}
