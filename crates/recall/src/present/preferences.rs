//! The user's preferences: how to be called and answered, whatever is asked. Capture tags such memories; here they are
//! only fetched, beside the search and never at its expense.

use tokio::time::{Instant, timeout_at};

use crate::{
    hit::Hit,
    request::RecallRequest,
    select::{of_owner, without_conversation},
};
use memgate_core::memory::{Evidence, Filter, ListQuery, Memory, MemoryStore};

/// Preferences that are fetched, the newest first; no more fit into the budget.
const MOST: usize = 16;
/// Their share of the time left: a request never waits for them when its search is late.
const SHARE: f64 = 0.5;

/// The user's preferences, newest first; none when the store fails or is late.
pub(crate) async fn fetch_preferences(
    store: &dyn MemoryStore,
    request: &RecallRequest<'_>,
) -> Vec<Memory> {
    if !store.is_enabled() {
        return Vec::new();
    }
    let query = ListQuery {
        scope: request.scope(),
        filter: Some(Filter::Tag(Memory::STANDING.to_owned())),
        limit: MOST,
        cursor: None,
        now: request.now,
    };
    let started = Instant::now();
    let left = request.deadline.saturating_duration_since(started);
    let found = match timeout_at(started + left.mul_f64(SHARE), store.list(&query)).await {
        Ok(Ok(page)) => page.memories,
        Ok(Err(error)) => {
            tracing::debug!(%error, "standing wishes were not fetched");
            return Vec::new();
        }
        Err(_) => {
            tracing::debug!("standing wishes came too late");
            return Vec::new();
        }
    };
    let plain = |memory| Evidence { memory, cosine: None, part: None, lexical: None };
    let found = of_owner(found.into_iter().map(plain).collect(), request.owner);
    without_conversation(found, request.earlier)
        .into_iter()
        .map(|found| found.memory)
        .filter(|wish| wish.valid_until.is_none_or(|until| until > request.now))
        .filter(|wish| !request.forgets(wish))
        .collect()
}

/// Leaves out the hits that only repeat a preference: itself, and a turn that says nothing else.
pub(crate) fn without_preferences(mut hits: Vec<Hit>, preferences: &[Memory]) -> Vec<Hit> {
    hits.retain(|hit| {
        let memory = &hit.memory;
        !preferences.iter().any(|wish| {
            wish.id == memory.id || memory.said().is_some_and(|words| says_no_more(words, wish))
        })
    });
    hits
}

/// Whether somebody's words are those of a preference.
fn says_no_more(words: &str, wish: &Memory) -> bool {
    let wished = wish.raw.as_deref().unwrap_or(&wish.content);
    let bare = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    words.len() < 2 * wished.len() + 8 && bare(words) == bare(wished)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::{SignedDuration, Timestamp};

    use super::*;
    use crate::{
        AccessTracker, Budget, Context, Query, Recall, Selection, Skip, Why, pipeline,
        request::tests::request, retrieve::Retrieval,
    };
    use memgate_core::memory::{Actor, MemoryId, MemoryType, Owner, Source, Status, Within, Write};
    use memgate_embed::{Embedder, deterministic::DeterministicEmbedder};
    use memgate_models::Models;
    use memgate_store::InMemoryStore;
    use memgate_telemetry::Metrics;

    const BUDGET: Budget = Budget { context: 512, preferences: 64 };

    struct Asker {
        recall: Recall,
        store: Arc<InMemoryStore>,
        owner: Owner,
        now: Timestamp,
    }

    impl Asker {
        fn new() -> Self {
            let store = Arc::new(InMemoryStore::default());
            let embedder = Arc::new(DeterministicEmbedder::new(64));
            let (access, _) = AccessTracker::new(store.clone());
            let models = Models::for_embedder(embedder.space()).unwrap();
            let recall = Recall::new(store.clone(), embedder, models, access, Metrics::new());
            let owner = Owner::of_user("alice").unwrap();
            Self { recall, store, owner, now: "2026-05-01T10:00:00Z".parse().unwrap() }
        }

        /// A wish of Alice's.
        fn wish(&self, content: &str) -> Memory {
            let kind = MemoryType::new(MemoryType::PROCEDURAL);
            let (id, source) = (MemoryId::fresh(), Source::ExplicitUserInput);
            let mut memory = Memory::new(id, self.owner.clone(), kind, content, source, self.now);
            memory.tags = vec![Memory::STANDING.to_owned()];
            memory.provenance.turn = Some("t".to_owned());
            memory
        }

        async fn knows(&self, memory: Memory) -> MemoryId {
            let write = Write::by(Actor::Capture, "test");
            self.store.store(memory, Vec::new(), &write).await.unwrap().id
        }

        async fn asked(&self, query: &str, said: &[&str], budget: Budget) -> Context {
            self.answered(query, said, budget, None).await
        }

        /// What an ask gets; of a skipped one, why it is.
        async fn answered(
            &self,
            query: &str,
            said: &[&str],
            budget: Budget,
            skipped: Option<Skip>,
        ) -> Context {
            let selection = Selection { limit: 5, threshold: 0.0, types: Vec::new() };
            let query = Query { text: query.to_owned(), ..Query::default() };
            let request = request(&self.owner, &selection, self.now);
            let projects = Within::Shared("p".into());
            let mut request = RecallRequest { projects: &projects, earlier: said, ..request };
            request.settings.budget = budget;
            let services = &self.recall.services;
            let retrieval = Retrieval { request: &request, query: &query, embedding: None };
            match skipped {
                None => pipeline::context(services, &retrieval).await.unwrap(),
                Some(why) => {
                    pipeline::context_of_preferences(services, &request, &query.text, why).await
                }
            }
        }
    }

    #[tokio::test]
    async fn an_ask_that_memory_cannot_answer_gets_wishes_and_no_hits() {
        let asker = Asker::new();
        let wish = asker.knows(asker.wish("Answer in metric")).await;
        let mut hit = asker.wish("Norway is cold, they told me");
        hit.tags.clear();
        asker.knows(hit).await;
        let asked = "How cold is Norway?";
        let context = asker.answered(asked, &[], BUDGET, Some(Skip::Fact)).await;
        let why: Vec<_> = context.scores.iter().map(|scored| &scored.why).collect();
        assert_eq!(why, [&Why::Preference]);
        assert_eq!((context.shown, context.skipped), (vec![wish], Some(Skip::Fact)));
        assert_eq!(asker.asked(asked, &[], BUDGET).await.shown.len(), 2);
        let off = Budget { preferences: 0, ..BUDGET };
        let context = asker.answered(asked, &[], off, Some(Skip::Fact)).await;
        assert!(context.shown.is_empty() && context.text.is_empty());
    }

    #[tokio::test]
    async fn a_wish_is_presented_whatever_is_asked_and_once() {
        let asker = Asker::new();
        let sam = asker.knows(asker.wish("Call me Sam.")).await;
        let mut turn = asker.wish("User: Call me Sam.\nAssistant: Sure, Sam!");
        turn.tags.clear();
        asker.knows(turn).await;
        for query in ["What is the capital of Norway?", "What shall you call me? Sam?"] {
            let context = asker.asked(query, &[], BUDGET).await;
            assert_eq!(context.shown, std::slice::from_ref(&sam), "{}", context.text);
            assert!(
                context.text.contains("\n- [standing] User: Call me Sam.\n"),
                "{}",
                context.text
            );
        }
        let off = Budget { preferences: 0, ..BUDGET };
        let context = asker.asked("What shall you call me? Sam?", &[], off).await;
        assert!(!context.text.contains("[standing]"), "{}", context.text);
        assert_eq!(context.shown.len(), 1, "found like any other: {}", context.text);
    }

    #[tokio::test]
    async fn only_what_holds_here_and_now_is_a_standing_wish() {
        let asker = Asker::new();
        let other = Memory { owner: Owner::of_user("bob").unwrap(), ..asker.wish("Call me Bob") };
        let elsewhere = Memory { project_id: Some("q".into()), ..asker.wish("Call me Q") };
        let replaced = Memory { status: Status::Superseded, ..asker.wish("Call me Al") };
        let hour = SignedDuration::from_hours(1);
        let ended = Memory { valid_until: Some(asker.now - hour), ..asker.wish("Call me Ed") };
        let expired = Memory { expires_at: Some(asker.now - hour), ..asker.wish("Call me Ex") };
        let untagged = Memory { tags: Vec::new(), ..asker.wish("I have a zebra") };
        for memory in [other, elsewhere, replaced, ended, expired, untagged] {
            asker.knows(memory).await;
        }
        let here = Memory { project_id: Some("p".into()), ..asker.wish("Answer in Welsh") };
        let here = asker.knows(here).await;
        let wishes = asker.asked("What is the capital of Norway?", &[], BUDGET).await;
        assert_eq!(wishes.shown, [here], "{}", wishes.text);
        let said = ["Hi! Answer in Welsh please"];
        let again = asker.asked("What is the capital of Norway?", &said, BUDGET).await;
        assert_eq!(again, Context::default(), "it stands in the conversation");
    }

    #[tokio::test]
    async fn a_wish_that_is_forgotten_or_replaced_is_gone_with_the_next_request() {
        let asker = Asker::new();
        let id = asker.knows(asker.wish("Call me Sam")).await;
        let write = Write::by(Actor::Capture, "test");
        let stored = asker.store.get(&asker.owner, &id, asker.now).await.unwrap();
        let renamed = Memory { content: "Call me Samira".into(), ..stored };
        asker.store.update(renamed, None, &write).await.unwrap();
        let context = asker.asked("?", &[], BUDGET).await;
        assert!(context.text.contains("Call me Samira") && context.shown.len() == 1);
        asker.store.forget(&asker.owner, &id, &write).await.unwrap();
        assert_eq!(asker.asked("?", &[], BUDGET).await, Context::default());
    }
}
