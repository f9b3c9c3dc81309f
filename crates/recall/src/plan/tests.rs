use std::sync::Arc;

use jiff::Timestamp;

use crate::{
    Budget, Recall, Selection, plan::*, request::tests::request, signals::Earlier, tests::recall_on,
};
use memgate_core::{
    clock::Clock,
    memory::{
        Actor, Embedding, Memory, MemoryId, MemoryStore, MemoryType, Owner, Preference, Source,
        Units, Write,
    },
};
use memgate_embed::{Embedder, deterministic::DeterministicEmbedder};
use memgate_store::InMemoryStore;
use memgate_telemetry::Metrics;

const LATER: Duration = Duration::from_secs(60);
const BOAT: &str = "The red boat of my uncle lies in Trondheim";
const WISH: &str = "Use metric units.";

struct Asker {
    recall: Recall,
    owner: Owner,
    budget: Budget,
    now: Timestamp,
}

impl Asker {
    /// A user who told of a boat, and how to be answered.
    async fn new() -> Self {
        let store: Arc<dyn MemoryStore> = Arc::new(InMemoryStore::new());
        let embedder: Arc<dyn Embedder> = Arc::new(DeterministicEmbedder::new(256));
        let (owner, now) = (Owner::of_user("u").unwrap(), Clock::System.now());
        for content in [BOAT, WISH] {
            let kind = MemoryType::new(MemoryType::SEMANTIC);
            let source = Source::ExplicitUserInput;
            let mut memory =
                Memory::new(MemoryId::fresh(), owner.clone(), kind, content, source, now);
            let metric = Preference::Units(Units::Metric);
            memory.set_preference((content == WISH).then_some(metric));
            let values = embedder.embed_query(content).await.unwrap();
            let vector = Embedding { space: embedder.space().id().into(), part: 0, values };
            store.store(memory, vec![vector], &Write::by(Actor::Api, "t")).await.unwrap();
        }
        let recall = recall_on(store, embedder, Metrics::new());
        Self { recall, owner, budget: Budget { context: 512, standing: 96 }, now }
    }

    /// The context presented to a message, and why nothing was searched for it.
    async fn asks(&self, text: &str, earlier: &[&str]) -> (String, Option<Skip>) {
        let context = self.asks_by(text, earlier, Instant::now() + LATER).await.unwrap();
        (context.text, context.skipped)
    }

    async fn asks_by(
        &self,
        text: &str,
        earlier: &[&str],
        deadline: Instant,
    ) -> Result<Context, RecallError> {
        let selection = Selection { limit: 5, threshold: 0.5, types: Vec::new() };
        let message = Message { text, signals: &Earlier::SILENT, tools_offered: false };
        let request = request(&self.owner, &selection, self.now);
        let mut request = RecallRequest { earlier, deadline, ..request };
        request.settings.budget = self.budget;
        let plan = self.recall.plan(message, &request).await?;
        let context = plan.context(|_| true).await?;
        assert_eq!(plan.skipped(), context.skipped);
        assert!(plan.silent().is_none() || context.text.is_empty());
        Ok(context)
    }
}

const FACT: &str = "what is the capital of France, and how many people live there";

#[tokio::test]
async fn what_memory_can_help_with_gets_hits_and_preferences_and_others_only_preferences() {
    let mut asker = Asker::new().await;
    let (text, skipped) = asker.asks("Where does the red boat of my uncle lie?", &[]).await;
    assert!(text.contains(BOAT) && text.contains(WISH), "{text}");
    assert_eq!(skipped, None);
    let (text, skipped) = asker.asks(FACT, &[]).await;
    assert!(!text.contains(BOAT) && text.contains(WISH), "{text}");
    assert_eq!(skipped, Some(Skip::Fact));
    let (text, skipped) = asker.asks("hello!", &[]).await;
    assert!(!text.contains(BOAT) && text.contains(WISH), "{text}");
    assert_eq!(skipped, Some(Skip::Greeting));
    asker.budget.standing = 0;
    assert_eq!(asker.asks("hello!", &[]).await, (String::new(), Some(Skip::Greeting)));
    assert_eq!(asker.asks(FACT, &[]).await, (String::new(), Some(Skip::Fact)));
}

#[tokio::test]
async fn a_vague_message_is_searched_with_the_words_of_those_before_it() {
    let asker = Asker::new().await;
    let before = "I would like to sail with the red boat, uncle Trondheim";
    assert!(!asker.asks("what about that one", &[]).await.0.contains(BOAT));
    assert!(asker.asks("what about that one", &[before]).await.0.contains(BOAT));
}

#[tokio::test]
async fn nothing_is_searched_when_the_time_was_up_before() {
    let asker = Asker::new().await;
    let asked = |text: &'static str| asker.asks_by(text, &[], Instant::now());
    let late = asked("Where does the red boat of my uncle lie?").await;
    assert!(matches!(late, Err(RecallError::Deadline)), "{late:?}");
    assert_eq!(asked("hello!").await.unwrap().skipped, Some(Skip::Greeting), "it costs nothing");
}
