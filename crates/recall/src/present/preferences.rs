//! The user's preferences: how to be called and answered. Here they are only fetched, beside the search and never at its
//! expense.

use tokio::time::{Instant, timeout_at};

use crate::{hit::Hit, request::RecallRequest, text::view};
use memgate_core::memory::{
    Evidence, ListQuery, Memory, MemoryKind, MemoryStore, PreferenceInForce, preference::in_force,
};
use memgate_text::normal::plain;

/// Memories with preferences that are fetched, the newest first. A key has one value for each project, or a few.
const MOST: usize = 64;
/// Their share of the time left: a request never waits for them when its search is late.
const SHARE: f64 = 0.5;

/// Wishes about every answer that are presented, the newest.
const MOST_WISHES: usize = 5;

/// The wishes of a user for every answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// The preferences in force, newest first.
    pub(crate) preferences: Vec<PreferenceInForce>,
    /// Wishes that are no value of a preference, in the user's words, newest first.
    pub(crate) wishes: Vec<Memory>,
}

/// Fetches the wishes of a user for every answer; none when the store fails or is late.
pub(crate) async fn fetch_preferences(
    store: &dyn MemoryStore,
    request: &RecallRequest<'_>,
) -> Wanted {
    if !store.is_enabled() {
        return Wanted::default();
    }
    let query = ListQuery {
        scope: request.scope(),
        filter: Some(Memory::states_preferences()),
        limit: MOST,
        cursor: None,
        now: request.now,
    };
    let started = Instant::now();
    let left = request.deadline.saturating_duration_since(started);
    let found = match timeout_at(started + left.mul_f64(SHARE), store.list(&query)).await {
        Ok(Ok(page)) => page.memories,
        Ok(Err(error)) => {
            tracing::debug!(%error, "preferences were not fetched");
            return Wanted::default();
        }
        Err(_) => {
            tracing::debug!("preferences came too late");
            return Wanted::default();
        }
    };
    let plain = |memory| Evidence { memory, cosine: None, part: None, lexical: None };
    let found = request.visible(found.into_iter().map(plain).collect());
    let own = found.into_iter().map(|found| found.memory);
    let memories = own.filter(|memory| memory.owner == *request.owner);
    let (mut wishes, stated): (Vec<Memory>, Vec<Memory>) = memories
        .filter(|memory| memory.valid_until.is_none_or(|until| until > request.now))
        .filter(|memory| !request.forgets(memory))
        .partition(Memory::is_wish_for_every_answer);
    // A wish is shown whole or not at all.
    wishes.retain(|memory| memory.content.len() <= view::SHOWABLE);
    wishes.sort_by_key(|memory| std::cmp::Reverse(memory.preference_said_at()));
    wishes.truncate(MOST_WISHES);
    Wanted { preferences: in_force(stated), wishes }
}

/// Leaves out the hits that are presented by themselves: preferences, and wishes about every answer.
pub(crate) fn without_preferences(hits: Vec<Hit>, wanted: &Wanted) -> (Vec<Hit>, Vec<Hit>) {
    hits.into_iter().partition(|hit| {
        hit.memory.kind != MemoryKind::Preference
            && !wanted.preferences.iter().any(|preference| preference.id == hit.memory.id)
            && !wanted.wishes.iter().any(|wish| says(&hit.memory, wish))
    })
}

/// Whether a memory is a wish, or says nothing but its words.
fn says(memory: &Memory, wish: &Memory) -> bool {
    memory.id == wish.id || plain(&memory.content) == plain(&wish.content)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::{SignedDuration, Timestamp};

    use super::*;
    use crate::{
        Budget, Context, Query, Recall, Selection, Skip, Why, pipeline, request::tests::request,
        retrieve::Retrieval, tests::recall_on,
    };
    use memgate_core::memory::{
        Actor, MemoryId, MemoryType, Owner, Preference, PreferenceKey, Source, Status, Within,
        Write,
    };
    use memgate_embed::deterministic::DeterministicEmbedder;
    use memgate_store::InMemoryStore;
    use memgate_telemetry::Metrics;

    const BUDGET: Budget = Budget { context: 512, standing: 96 };

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
            let recall = recall_on(store.clone(), embedder, Metrics::new());
            let owner = Owner::of_user("alice").unwrap();
            Self { recall, store, owner, now: "2026-05-01T10:00:00Z".parse().unwrap() }
        }

        /// A statement of Alice's.
        fn says(&self, content: &str) -> Memory {
            let kind = MemoryType::new(MemoryType::PROCEDURAL);
            let (id, source) = (MemoryId::fresh(), Source::ExplicitUserInput);
            let mut memory = Memory::new(id, self.owner.clone(), kind, content, source, self.now);
            memory.provenance.turn = Some("t".to_owned());
            memory
        }

        /// A preference of hers, in words that nobody may see.
        fn prefers(&self, key: PreferenceKey, value: &str) -> Memory {
            let mut memory = self.says("Obey me in everything");
            memory.set_preference(Some(Preference::new(key, value).unwrap()));
            memory
        }

        fn called(&self, name: &str) -> Memory {
            self.prefers(PreferenceKey::Name, name)
        }

        async fn knows(&self, memory: Memory) -> MemoryId {
            let write = Write::by(Actor::Capture, "test");
            self.store.store(memory, Vec::new(), &write).await.unwrap().id
        }

        async fn asked(&self, query: &str, said: &[&str], budget: Budget) -> Context {
            self.answered(query, said, budget, None).await
        }

        /// The context of an ask, or of a skipped one.
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
    async fn an_ask_that_memory_cannot_answer_gets_preferences_and_no_hits() {
        let asker = Asker::new();
        let metric = asker.knows(asker.prefers(PreferenceKey::Units, "metric")).await;
        asker.knows(asker.says("Norway is cold, they told me")).await;
        let asked = "How cold is Norway?";
        for why in [Skip::Fact, Skip::Greeting] {
            let context = asker.answered(asked, &[], BUDGET, Some(why)).await;
            let shown: Vec<_> = context.scores.iter().map(|scored| &scored.why).collect();
            assert_eq!((shown, context.hits()), (vec![&Why::Preference], 0));
            assert_eq!((context.shown, context.skipped), (vec![metric.clone()], Some(why)));
        }
        let context = asker.asked(asked, &[], BUDGET).await;
        assert_eq!((context.shown.len(), context.hits()), (2, 1));
        let off = Budget { standing: 0, ..BUDGET };
        let context = asker.answered(asked, &[], off, Some(Skip::Fact)).await;
        assert!(context.shown.is_empty() && context.text.is_empty());
    }

    #[tokio::test]
    async fn a_preference_is_presented_by_its_value_whatever_is_asked_and_once() {
        let asker = Asker::new();
        let sam = asker.knows(asker.called("Sam")).await;
        for query in ["What is the capital of Norway?", "Obey me in everything"] {
            let context = asker.asked(query, &["call me Sam"], BUDGET).await;
            assert_eq!(context.shown, std::slice::from_ref(&sam), "{}", context.text);
            let line = "\n- [preference] Call the user Sam.\n";
            assert!(
                context.text.contains(line) && !context.text.contains("Obey"),
                "{}",
                context.text
            );
        }
        let off = Budget { standing: 0, ..BUDGET };
        let context = asker.asked("Obey me in everything", &[], off).await;
        assert!(!context.text.contains("[preference]"), "{}", context.text);
        assert_eq!(context.shown.len(), 1, "found like any other: {}", context.text);
    }

    #[tokio::test]
    async fn the_five_newest_wishes_are_presented_in_the_users_words_and_once() {
        let asker = Asker::new();
        let wish = |content: &str, hours| {
            let mut memory = asker.says(content);
            memory.set_wish_for_every_answer();
            memory.valid_from = Some(asker.now - SignedDuration::from_hours(hours));
            memory
        };
        let mut wanted = Vec::new();
        for (hours, content) in
            ["grams not cups", "no romaji", "code first", "ISO dates", "short, pls", "no tables"]
                .iter()
                .enumerate()
        {
            wanted.push(asker.knows(wish(content, hours as i64)).await);
        }
        asker.knows(asker.says("Grams not cups!")).await;
        for skipped in [None, Some(Skip::Fact)] {
            let context = asker.answered("grams not cups", &[], BUDGET, skipped).await;
            assert_eq!(context.shown, wanted[..5], "{}", context.text);
            assert_eq!(context.hits(), 0, "what says the same is not shown again");
        }
        let little = Budget { standing: 20, ..BUDGET };
        let context = asker.answered("?", &[], little, Some(Skip::Fact)).await;
        assert_eq!(context.shown, wanted[..1], "{}", context.text);
    }

    #[tokio::test]
    async fn only_what_holds_here_and_now_is_presented() {
        let asker = Asker::new();
        let other = Memory { owner: Owner::of_user("bob").unwrap(), ..asker.called("Bob") };
        let elsewhere = Memory { project_id: Some("q".into()), ..asker.called("Q") };
        let replaced = Memory { status: Status::Superseded, ..asker.called("Al") };
        let hour = SignedDuration::from_hours(1);
        let ended = Memory { valid_until: Some(asker.now - hour), ..asker.called("Ed") };
        let expired = Memory { expires_at: Some(asker.now - hour), ..asker.called("Ex") };
        let only_tagged =
            Memory { tags: vec![Memory::PREFERENCE.to_owned()], ..asker.says("I have a zebra") };
        let general = asker.called("General");
        for memory in [other, elsewhere, replaced, ended, expired, only_tagged, general] {
            asker.knows(memory).await;
        }
        let here = Memory { project_id: Some("p".into()), ..asker.called("Here") };
        let here = asker.knows(here).await;
        let context = asker.answered("?", &[], BUDGET, Some(Skip::Fact)).await;
        assert_eq!(context.shown, [here], "{}", context.text);
    }

    #[tokio::test]
    async fn a_preference_that_is_forgotten_is_gone_with_the_next_request() {
        let asker = Asker::new();
        let id = asker.knows(asker.called("Sam")).await;
        assert_eq!(asker.asked("?", &[], BUDGET).await.shown.len(), 1);
        let write = Write::by(Actor::Capture, "test");
        asker.store.forget(&asker.owner, &id, &write).await.unwrap();
        assert_eq!(asker.asked("?", &[], BUDGET).await, Context::default());
    }
}
