//! Recall of what others share, beside the user's own memories.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

use super::*;
use crate::{Conversation, Earlier, HitScope, ScopesConfig, context_for_exchange};
use memgate_core::{
    memory::{Reader, StoreError, Visibility},
    wrap_memory_store,
};

/// A store that counts what is read.
struct CountingStore {
    store: InMemoryStore,
    reads: AtomicUsize,
    /// The number of a read that goes wrong.
    spoilt: Mutex<Option<(usize, Spoilt)>>,
}

#[derive(Clone, Copy)]
enum Spoilt {
    Fails,
    NeverEnds,
}

impl CountingStore {
    async fn read<T>(
        &self,
        read: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let number = self.reads.fetch_add(1, Ordering::SeqCst);
        let spoilt = *self.spoilt.lock().unwrap();
        match spoilt.filter(|(at, _)| *at == number) {
            Some((_, Spoilt::Fails)) => Err(StoreError::Unavailable("test".to_owned())),
            Some((_, Spoilt::NeverEnds)) => std::future::pending().await,
            None => read.await,
        }
    }

    async fn change<T>(
        &self,
        change: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        change.await
    }
}

wrap_memory_store! {
    CountingStore, read: read, change: change,

    async fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn is_enabled(&self) -> bool {
        true
    }

    async fn close(&self) {}
}

/// Recall on a counting store with a memory of the user's own, one that another shares, and one that another does not.
async fn stack() -> (Stack, Arc<CountingStore>) {
    let spoilt = Mutex::default();
    let store = CountingStore { store: InMemoryStore::new(), reads: 0.into(), spoilt };
    let store = Arc::new(store);
    let shared: Arc<dyn MemoryStore> = store.clone();
    let embedder: Arc<dyn Embedder> = Arc::new(DeterministicEmbedder::new(64));
    let metrics = Metrics::new();
    let (access, _) = AccessTracker::new(shared.clone());
    let models = Models::for_embedder(embedder.space()).unwrap();
    let recall = Recall::new(shared.clone(), embedder.clone(), models, access, metrics.clone());
    let stack = Stack { store: shared, embedder, recall, metrics, now: Clock::System.now() };
    stack.remember("my boat is called Heron", |_| {}).await;
    for (content, visibility) in [
        ("the boat of the club is called Gull", Visibility::Public),
        ("the boat of my aunt is called Crane", Visibility::Private),
    ] {
        let change = |memory: &mut Memory| {
            memory.owner = Owner::of_user("another").unwrap();
            memory.visibility = visibility;
        };
        stack.remember(content, change).await;
    }
    (stack, store)
}

/// The hits for the user, and how often the store was read.
async fn found(stack: &Stack, store: &CountingStore, shared: bool) -> (Vec<Hit>, usize) {
    let owner = owner();
    let reader = Reader { owner: owner.clone(), roles: Vec::new(), agent: None };
    let scopes = ScopesConfig { shared, ..ScopesConfig::default() };
    let selection = Selection { limit: 5, threshold: 0.0, types: Vec::new() };
    let query = Query::of("what is the boat called?", Date::default(), &QueryConfig::default());
    let mut request = request(&owner, &selection, stack.now);
    request.reader = Some(&reader);
    request.settings.scopes = &scopes;
    request.deadline = Instant::now() + Duration::from_secs(2);
    let before = store.reads.load(Ordering::SeqCst);
    let hits = stack.recall.search(&query, &request).await.unwrap();
    (hits, store.reads.load(Ordering::SeqCst) - before)
}

fn scopes(hits: &[Hit]) -> Vec<(HitScope, &str)> {
    let mut scopes: Vec<_> = hits
        .iter()
        .map(|hit| (hit.scope, hit.memory.content.rsplit(' ').next().unwrap()))
        .collect();
    scopes.sort_by_key(|(_, word)| word.to_owned());
    scopes
}

#[tokio::test]
async fn what_others_share_is_searched_beside_the_users_own() {
    let (stack, store) = stack().await;
    let (hits, reads) = found(&stack, &store, false).await;
    assert_eq!((scopes(&hits), reads), (vec![(HitScope::User, "Heron")], 1));
    let alone = hits[0].score;
    let (hits, reads) = found(&stack, &store, true).await;
    assert_eq!(scopes(&hits), [(HitScope::Shared, "Gull"), (HitScope::User, "Heron")]);
    assert_eq!(reads, 2);
    let own = hits.iter().find(|hit| hit.scope == HitScope::User).unwrap();
    assert_eq!(own.score, alone, "what others share makes the user's own no less relevant");
}

#[tokio::test]
async fn a_search_of_what_others_share_that_fails_or_never_ends_costs_the_users_own_nothing() {
    let (stack, store) = stack().await;
    for (times, spoilt) in [(1, Spoilt::Fails), (2, Spoilt::NeverEnds)] {
        // The first read is of the user's own.
        let next = store.reads.load(Ordering::SeqCst) + 1;
        *store.spoilt.lock().unwrap() = Some((next, spoilt));
        let (hits, reads) = found(&stack, &store, true).await;
        assert_eq!((scopes(&hits), reads), (vec![(HitScope::User, "Heron")], 2));
        let counted = format!("memgate_failures_total{{kind=\"shared\"}} {times}");
        assert!(stack.metrics.encode().contains(&counted));
    }
    let (hits, _) = found(&stack, &store, true).await;
    assert_eq!(hits.len(), 2, "the next request is given both");
}

#[tokio::test]
async fn a_tool_loop_gets_what_others_share_again_only_while_it_is_shared() {
    let (stack, _) = stack().await;
    let (owner, another) = (owner(), Owner::of_user("another").unwrap());
    let reader = Reader { owner: owner.clone(), roles: Vec::new(), agent: None };
    let scopes = ScopesConfig { shared: true, ..ScopesConfig::default() };
    let selection = Selection { limit: 5, threshold: 0.0, types: Vec::new() };
    let mut request = request(&owner, &selection, stack.now);
    (request.reader, request.settings.scopes) = (Some(&reader), &scopes);
    let call = async |in_tool_loop| {
        let conversation = Conversation {
            user_text: Some("what is the boat called?"),
            first_user_text: None,
            journaled: &[],
            session: Some("s"),
            signals: &Earlier::SILENT,
            in_tool_loop,
            tools_offered: true,
        };
        let models = &stack.recall.services.models;
        let recall = Some(&stack.recall);
        let context = context_for_exchange(recall, models, &conversation, &request, |_| true);
        context.await.unwrap().unwrap()
    };
    let first = call(false).await;
    assert!(first.text.contains("Gull") && first.text.contains("Heron"), "{}", first.text);
    stack.remember("my other boat is called Ibis", |_| {}).await;
    assert_eq!(call(true).await, first, "nothing that is learnt meanwhile changes it");
    let id = &first.shared[0].id;
    let memory = stack.store.get(&another, id, stack.now).await.unwrap();
    let memory = Memory { visibility: Visibility::Private, ..memory };
    let write = Write::by(Actor::Capture, "test");
    stack.store.update(memory, None, &write).await.unwrap();
    let after = call(true).await;
    assert!(!after.text.contains("Gull") && after.text.contains("Heron"), "{}", after.text);
    assert_eq!(call(true).await, after);
}
