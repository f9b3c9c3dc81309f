use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::{Timestamp, civil::Date};

use crate::{
    Cut, DecidedBy, Hit, PresentedMemory, Query, QueryConfig, QueryWords, RankingConfig,
    RecallRecord, RecallTrail, Recalled, ScoreBreakdown, Selection, Standing, Step, Trace,
    TrailSettings, Why, request::tests::request, tests::recall_on,
};
use memgate_core::memory::{Memory, MemoryId, MemoryStore, MemoryType, Owner, Source};
use memgate_embed::{Embedder, deterministic::DeterministicEmbedder};
use memgate_store::InMemoryStore;
use memgate_telemetry::Metrics;

fn owner() -> Owner {
    Owner::of_user("u").unwrap()
}

fn hit(content: &str, session: &str, score: f32) -> Hit {
    let mut memory = Memory::new(
        MemoryId::derived(&[content]),
        owner(),
        MemoryType::new(MemoryType::SEMANTIC),
        content,
        Source::ExplicitUserInput,
        Timestamp::UNIX_EPOCH,
    );
    memory.session_id = Some(session.to_owned());
    Hit { memory, scope: crate::HitScope::default(), score, breakdown: ScoreBreakdown::default() }
}

fn recalled(id: &str, trace: Trace) -> Recalled {
    Recalled {
        request_id: id.to_owned(),
        owner: owner(),
        at: Timestamp::UNIX_EPOCH,
        began: Instant::now(),
        decision: "searched",
        threshold: 0.6,
        limit: 2,
        trace,
        presented: Vec::new(),
        context: String::new(),
        message: Some("where do I live".to_owned()),
    }
}

/// A trail with a running task.
fn trail(requests: usize, content: bool) -> RecallTrail {
    let settings = TrailSettings { requests, bytes: 1 << 20, content };
    let may_store = |message: &str| !message.contains("secret");
    let (trail, task) = RecallTrail::new(settings, None, Arc::new(may_store));
    tokio::spawn(task);
    trail
}

#[test]
fn the_words_of_a_session_without_a_user_are_not_kept() {
    let words = |owner: Owner| {
        let trace = Trace::default();
        let query = Query::of("where is my boat?", Date::default(), &QueryConfig::default());
        trace.searched(query);
        let recalled = Recalled { owner, ..recalled("r", trace) };
        RecallRecord::of(recalled, QueryWords::All).query.is_some()
    };
    assert!(words(owner()));
    assert!(!words(Owner::session("default", "s").unwrap()));
}

#[test]
fn each_hit_that_is_not_presented_is_cut_for_one_reason_and_selecting_changes_nothing_else() {
    let all = || {
        vec![
            hit("a cat", "s", 0.97),
            hit("a cat!", "t", 0.96),
            hit("a dog", "s", 0.95),
            hit("below", "u", 0.59),
            hit("a bird", "v", 0.94),
            hit("one too many", "w", 0.93),
        ]
    };
    let selection = Selection { limit: 2, threshold: 0.6, types: Vec::new() };
    let ranking = RankingConfig { max_per_session: 1, ..RankingConfig::default() };
    let (owner, trace, metrics) = (owner(), Trace::default(), Metrics::new());
    let mut wanted = request(&owner, &selection, Timestamp::UNIX_EPOCH);
    wanted.settings.ranking = &ranking;
    wanted.trace = Some(&trace);
    let shown = crate::select::Limits::of(&wanted).select(all(), &metrics);
    assert_eq!(shown, crate::select(all(), &selection, &ranking, &metrics));
    let cut: Vec<_> =
        trace.into_seen().cut.into_iter().map(|(hit, why)| (hit.memory.content, why)).collect();
    let expected = [
        ("a cat!", Cut::NearDuplicate),
        ("a dog", Cut::SessionCap),
        ("below", Cut::Threshold),
        ("one too many", Cut::Limit),
    ];
    assert_eq!(cut, expected.map(|(words, why)| (words.to_owned(), why)));
}

#[tokio::test]
async fn a_record_has_each_candidate_once_with_what_became_of_it() {
    let trail = trail(9, false);
    let trace = Trace::default();
    trace.decided(DecidedBy::Model, Some(0.9));
    trace.searched(Query { text: "where do I live".into(), ..Query::default() });
    trace.step(Step::Embed, Duration::from_millis(3));
    trace.step(Step::Embed, Duration::from_millis(2));
    // Found for a part of the question, too, where it was cut.
    trace.cut(vec![
        (hit("shown", "s", 0.4), Cut::Threshold),
        (hit("far", "s", 0.1), Cut::Threshold),
    ]);
    trace.selected(vec![hit("shown", "s", 0.9), hit("no room", "s", 0.8)]);
    let id = |content: &str| MemoryId::derived(&[content]);
    let breakdown = Box::default();
    let presented = vec![PresentedMemory {
        id: id("shown"),
        why: Why::Found { scope: crate::HitScope::User, score: 0.9, breakdown },
    }];
    let context = "- shown\n".to_owned();
    trail.record(Recalled { presented, context, ..recalled("r", trace) });
    let record = trail.find("r", |_| true).await.unwrap().unwrap();
    let found: Vec<_> =
        record.candidates.iter().map(|it| (it.id.clone(), it.standing, it.score)).collect();
    let expected = [
        (id("shown"), Standing::Presented, Some(0.9)),
        (id("no room"), Standing::Cut(Cut::Budget), Some(0.8)),
        (id("far"), Standing::Cut(Cut::Threshold), Some(0.1)),
    ];
    assert_eq!(found, expected);
    assert_eq!(
        (record.decided_by.as_deref(), record.need, &record.query),
        (Some("model"), Some(0.9), &None)
    );
    assert_eq!((record.context_bytes, record.context_tokens > 0), (8, true));
    assert_eq!(record.steps, [(Step::Embed, Duration::from_millis(3))]);
}

#[tokio::test]
async fn words_are_kept_only_where_configured_and_go_with_what_their_user_forgets() {
    let asked = |id| {
        let trace = Trace::default();
        trace.searched(Query { text: "where do I live".into(), ..Query::default() });
        recalled(id, trace)
    };
    let trail = trail(9, true);
    trail.record(asked("before"));
    let words = |record: crate::RecallRecord| record.query.map(|query| query.text);
    let known = trail.find("before", |_| true).await.unwrap().and_then(words);
    assert_eq!(known.as_deref(), Some("where do I live"));
    let in_flight = asked("in flight");
    trail.forget(&Owner::of_user("another").unwrap());
    assert!(trail.find("before", |_| true).await.unwrap().and_then(words).is_some());
    trail.forget(&owner());
    trail.record(in_flight);
    trail.record(asked("after"));
    for (id, kept) in [("before", false), ("in flight", false), ("after", true)] {
        let record = trail.find(id, |_| true).await.unwrap().unwrap();
        assert_eq!(words(record).is_some(), kept, "{id}");
    }
}

#[tokio::test]
async fn words_are_kept_only_of_a_message_that_may_be_stored_and_never_of_earlier_ones() {
    let trail = trail(9, true);
    let kept = async |id: &str, message: Option<&str>| {
        let trace = Trace::default();
        trace.searched(Query {
            text: "and that one? Geneva".to_owned(),
            key_terms: vec!["Geneva".to_owned()],
            message: "and that one?".to_owned(),
            ..Query::default()
        });
        trace.rewritten("What about Geneva?");
        let message = message.map(str::to_owned);
        trail.record(Recalled { message, ..recalled(id, trace) });
        trail.find(id, |_| true).await.unwrap().unwrap().query
    };
    let query = kept("fine", Some("and that one?")).await.unwrap();
    assert_eq!((&*query.text, query.rewritten), ("and that one?", None));
    assert_eq!(kept("not learned from", None).await, None);
    assert_eq!(kept("refused", Some("my secret, and that one?")).await, None);
}

#[tokio::test]
async fn of_an_erased_owner_no_record_stays_or_comes_later() {
    let trail = trail(9, true);
    let in_flight = recalled("in flight", Trace::default());
    trail.record(recalled("before", Trace::default()));
    assert!(trail.find("before", |_| true).await.unwrap().is_some());
    trail.erase(&owner());
    trail.record(in_flight);
    trail.record(recalled("after", Trace::default()));
    let ids = trail.newest(&owner(), 9).await.unwrap().into_iter().map(|record| record.request_id);
    assert_eq!(ids.collect::<Vec<_>>(), ["after"]);
}

#[tokio::test]
async fn a_trail_of_no_requests_keeps_nothing() {
    let trail = trail(0, true);
    assert!(!trail.is_kept());
    trail.record(recalled("r", Trace::default()));
    assert_eq!(trail.find("r", |_| true).await.unwrap(), None);
    assert_eq!(trail.newest(&owner(), 9).await.unwrap(), []);
}

#[tokio::test]
async fn recall_notes_the_decision_the_query_the_steps_and_what_the_conversation_holds() {
    let store: Arc<dyn MemoryStore> = Arc::new(InMemoryStore::new());
    let embedder: Arc<dyn Embedder> = Arc::new(DeterministicEmbedder::new(64));
    let recall = recall_on(store.clone(), embedder, Metrics::new());
    let now = Timestamp::UNIX_EPOCH;
    for content in ["My budget for the trip is $10,000", "My trip goes to Hawaii"] {
        let mut memory = hit(content, "s", 0.0).memory;
        memory.raw = Some(content.to_owned());
        memory.provenance.turn = Some("t".to_owned());
        let write = memgate_core::memory::Write::by(memgate_core::memory::Actor::Api, "t");
        store.store(memory, Vec::new(), &write).await.unwrap();
    }
    let selection = Selection { limit: 5, threshold: 0.0, types: Vec::new() };
    let (owner, trace) = (owner(), Trace::default());
    let earlier = ["My trip goes to Hawaii"];
    let mut wanted = request(&owner, &selection, now);
    (wanted.earlier, wanted.trace) = (&earlier, Some(&trace));
    let signals = crate::Earlier { personal: Some(true), ..crate::Earlier::SILENT };
    let text = "What is my budget for the trip?";
    let message = crate::Message { text, signals: &signals, tools_offered: false };
    let plan = recall.plan(message, &wanted).await.unwrap();
    let context = plan.context(|_| false).await.unwrap();
    assert_eq!(context.hits(), 1, "{context:?}");
    let seen = trace.into_seen();
    assert_eq!(seen.decided.map(|(by, _)| by), Some("earlier"));
    assert_eq!(seen.query.map(|query| query.text).as_deref(), Some(text));
    let held: Vec<_> = seen.left_out.iter().map(|(it, why)| (&*it.memory.content, *why)).collect();
    assert_eq!(held, [("My trip goes to Hawaii", Cut::Conversation)]);
    assert_eq!(seen.selected.len(), 1);
    let mut steps: Vec<&str> = seen.steps.iter().map(|(step, _)| (*step).into()).collect();
    steps.sort_unstable();
    assert_eq!(steps, ["context", "decide", "embed", "query", "rank", "search"]);
}
