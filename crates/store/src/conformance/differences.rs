//! Property tests: random operations of many owners, compared with a simple model (isolation) and
//! with the in-memory store (equality).
//!
//! `MEMGATE_CASES` sets the number of sequences of all stores.

use std::collections::{BTreeMap, HashMap};

use proptest::{
    prelude::*,
    sample::select,
    strategy::ValueTree,
    test_runner::{Config, RngSeed, TestRunner},
};
use serde_json::json;

use crate::{
    InMemoryStore,
    conformance::{transfer::all, *},
};
use memgate_core::memory::{
    Comparison, Filter, ForgetScope, ListQuery, MemoryStore, MetadataTest, Reader, Restored,
    SharedScope, Status, StoreError, TimeField, Touch, Visibility, Whole, Within,
};

/// Owners whose ids, partition keys or escapes resemble each other.
const USERS: [(&str, &str); 16] = [
    ("default", "a"),
    ("default", "A"),
    ("default", "a "),
    ("default", "a%"),
    ("default", "a/b"),
    ("default", "a%2Fb"),
    ("default", "a%252Fb"),
    ("default/a", "b"),
    ("default%2Fa", "b"),
    ("default", "á"),
    ("default", "a\u{301}"),
    ("default", "a' OR '1'='1"),
    ("default", "*"),
    ("default", "_"),
    ("a", "default"),
    ("DEFAULT", "a"),
];

const NAMES: [&str; 4] = ["m1", "m2", "m3", "%"];
const WORDS: [&str; 6] = ["cat", "dogs", "Hawaii", "预算", "the", "10,000"];
const ENTITIES: [&str; 5] = ["Ana", "ANA ", "Groß", "GROSS", "an%"];
const PROJECTS: [Option<&str>; 3] = [None, Some("p"), Some("p/q")];

#[derive(Clone, Debug)]
enum Operation {
    Store(Memory, Vec<Embedding>),
    Update {
        memory: Memory,
        ahead: bool,
        vectors: Option<Vec<Embedding>>,
    },
    Amend {
        memory: Memory,
        ahead: bool,
    },
    Restore(Box<Whole>),
    /// Compares two scans of an owner or of all owners.
    Scan(Option<Owner>, usize),
    Forget(Owner, MemoryId),
    ForgetScope(ForgetScope),
    Touch(Touch),
    Embed(Owner, MemoryId, u32, Vec<Embedding>),
    Get(Owner, MemoryId),
    Search(Search),
    List(ListQuery),
    Count(ScopeQuery, Option<Filter>),
    History(Owner, MemoryId),
}

fn owners() -> impl Strategy<Value = Owner> {
    let users = select(&USERS[..]).prop_map(|(tenant, user)| Owner::new(tenant, user).unwrap());
    let spaces = select(vec![
        Owner::organisation("default").unwrap(),
        Owner::agent("default", "p").unwrap(),
        Owner::session("default", "a").unwrap(),
    ]);
    prop_oneof![6 => users, 1 => spaces]
}

fn visibilities() -> impl Strategy<Value = Visibility> {
    let shared = |users: &[&str], roles: &[&str]| {
        let [users, roles] =
            [users, roles].map(|names| names.iter().map(|&name| name.to_owned()).collect());
        Visibility::Shared { users, roles }
    };
    select(vec![
        Visibility::Private,
        Visibility::Private,
        Visibility::Public,
        shared(&["a", "a%"], &[]),
        shared(&[], &["r'"]),
    ])
}

prop_compose! {
    fn shared_scopes()(
        owner in owners(),
        roles in select(vec![vec![], vec!["r'"], vec!["r", "a"]]),
        agent in some(&PROJECTS),
        projects in within(),
        types in select(vec![vec![], vec![], vec!["semantic"]]),
    ) -> SharedScope {
        let [roles, types] =
            [roles, types].map(|names| names.into_iter().map(str::to_owned).collect());
        SharedScope { reader: Reader { owner, roles, agent }, projects, types }
    }
}

fn names() -> impl Strategy<Value = MemoryId> {
    select(&NAMES[..]).prop_map(id)
}

fn texts() -> impl Strategy<Value = String> {
    prop::collection::vec(select(&WORDS[..]), 1..4).prop_map(|words| words.join(" "))
}

fn some(texts: &'static [Option<&'static str>]) -> impl Strategy<Value = Option<String>> {
    select(texts).prop_map(|text| text.map(str::to_owned))
}

/// Times around the moment of the search, some between two microseconds.
fn times() -> impl Strategy<Value = Timestamp> {
    (-3_i64..4).prop_map(|nanos| now() + SignedDuration::from_nanos(nanos * 500))
}

fn shares() -> impl Strategy<Value = f32> {
    select(&[0.0, 0.1, 0.5, 1.0][..])
}

fn directions() -> impl Strategy<Value = [f32; 4]> {
    [-3_i8..4, -3_i8..4, -3_i8..4, 1_i8..4].prop_map(|values| values.map(f32::from))
}

fn embeddings() -> impl Strategy<Value = Vec<Embedding>> {
    prop::collection::vec(directions(), 0..3)
        .prop_map(|all| (0..).zip(all).map(|(part, values)| embedding(part, values)).collect())
}

fn mentions() -> impl Strategy<Value = Mention> {
    let kinds = select(&[None, Some("person"), Some("place")][..]);
    (select(&ENTITIES[..]), kinds).prop_map(|(name, kind)| mention(name, kind))
}

prop_compose! {
    fn memories()(
        owner in owners(),
        name in names(),
        content in texts(),
        reply in prop::option::of(texts()),
        project in some(&PROJECTS),
        agent in some(&PROJECTS),
        session in some(&PROJECTS),
        kind in select(&["semantic", "answer"][..]),
        (status, visibility) in (
            select(&[Status::Active, Status::Active, Status::Review, Status::Superseded][..]),
            visibilities(),
        ),
        source in select(Source::ALL),
        (importance, confidence) in (shares(), prop::option::of(shares())),
        tags in prop::collection::vec(select(&["t", "T", "t'"][..]), 0..3),
        member in select(vec![json!(null), json!(1), json!(1.5), json!("1"), json!({"b": 1, "a": []})]),
        (created, updated) in (times(), times()),
        (event, end) in (prop::option::of(times()), prop::option::of(times())),
        mentions in prop::collection::vec(mentions(), 0..3),
        related in prop::option::weighted(0.2, (mentions(), mentions())),
    ) -> Memory {
        let mut memory = Memory::new(name, owner, MemoryType::new(kind), content, source, created);
        if reply.is_some() {
            memory = memory.clone().of_turn(memory.content, reply);
        }
        memory.project_id = project;
        memory.agent_id = agent;
        memory.session_id = session;
        memory.status = status;
        memory.visibility = visibility;
        memory.importance = importance;
        memory.confidence = confidence;
        memory.tags = tags.into_iter().map(str::to_owned).collect();
        memory.metadata.insert("k".into(), member);
        memory.updated_at = updated;
        memory.event_time = event;
        memory.expires_at = end;
        memory.mentions = mentions;
        memory.entity_relations =
            related.into_iter().map(|(one, other)| relation(&one.name, "knows", &other.name)).collect();
        memory
    }
}

fn filters() -> impl Strategy<Value = Filter> {
    let comparisons =
        || select(&[Comparison::Gte, Comparison::Lte, Comparison::Gt, Comparison::Lt][..]);
    let leaf = prop_oneof![
        select(&["semantic", "x"][..]).prop_map(|kind| Filter::Type(vec![kind.into()])),
        select(Status::ALL).prop_map(|status| Filter::Status(vec![status, Status::Active])),
        select(Source::ALL).prop_map(|source| Filter::Source(vec![source])),
        select(MemoryKind::ALL).prop_map(|kind| Filter::Kind(vec![kind, MemoryKind::Turn])),
        select(&["t", "T", "t'", "t''"][..]).prop_map(|tag| Filter::Tag(tag.into())),
        (
            select(&["k", "j"][..]),
            select(vec![json!(null), json!(1), json!("1"), json!({"a": [], "b": 1})])
        )
            .prop_map(|(key, equals)| Filter::Metadata(MetadataTest { key: key.into(), equals })),
        select(&["CAT", "ii", "预", "%", "0,0"][..]).prop_map(|text| Filter::Text(text.into())),
        (comparisons(), shares()).prop_map(|(how, value)| Filter::Importance(how, value)),
        (comparisons(), shares()).prop_map(|(how, value)| Filter::Confidence(how, value)),
        (
            select(&[TimeField::Created, TimeField::Updated, TimeField::Event][..]),
            prop::option::of(times()),
            prop::option::of(times())
        )
            .prop_map(|(field, from, until)| Filter::Time { field, from, until }),
        select(&["p", "p/q", "q"][..]).prop_map(|id| Filter::Session(id.into())),
        select(&["p", "p/q", "q"][..]).prop_map(|id| Filter::Project(id.into())),
        select(&["ana", "groß", "%"][..]).prop_map(|name| Filter::Entity(name.into())),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Filter::And),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Filter::Or),
            inner.prop_map(|inner| Filter::Not(Box::new(inner))),
        ]
    })
}

/// A memory to restore, as the current or a later version.
fn whole(memory: Memory, earlier: bool, vectors: Vec<Embedding>) -> Whole {
    let history = if earlier { vec![memory.clone()] } else { vec![] };
    let memory = if earlier { Memory { version: 3, access_count: 2, ..memory } } else { memory };
    Whole { memory, history, vectors }
}

prop_compose! {
    fn within()(id in some(&PROJECTS), kind in 0..4) -> Within {
        match (kind, id) {
            (0, _) => Within::All,
            (1, Some(id)) => Within::Shared(id),
            (2, Some(id)) => Within::Only(id),
            _ => Within::None,
        }
    }
}

prop_compose! {
    fn scopes()(
        owner in owners(),
        projects in within(),
        agents in within(),
        session_id in some(&[None, None, None, Some("p")]),
        types in select(vec![vec![], vec![], vec!["semantic"], vec!["semantic", "answer"]]),
        answers in any::<bool>(),
    ) -> ScopeQuery {
        let types = types.into_iter().map(str::to_owned).collect();
        ScopeQuery { owner, projects, agents, session_id, types, answers }
    }
}

prop_compose! {
    fn searches()(
        scopes in prop::collection::vec(scopes(), 1..3),
        shared in prop::option::weighted(0.4, shared_scopes()),
        filter in prop::option::weighted(0.3, filters()),
        vector in prop::option::of(directions()),
        text in prop::option::of(texts()),
        limit in select(&[1, 2, 50][..]),
        now in times(),
    ) -> Search {
        // One's own is not among what others share, and nothing is found twice.
        let is_own = |scope: &ScopeQuery| {
            shared.as_ref().is_none_or(|shared| scope.owner == shared.reader.owner)
        };
        let scopes = scopes.into_iter().filter(is_own).collect();
        Search { scopes, shared, filter, vector: vector.map(query), text, limit, now }
    }
}

prop_compose! {
    fn lists()(
        scope in scopes(),
        filter in prop::option::of(filters()),
        limit in select(&[1, 3, 50][..]),
        now in times(),
    ) -> ListQuery {
        ListQuery { scope, filter, limit, cursor: None, now }
    }
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation = prop_oneof![
        8 => (memories(), embeddings()).prop_map(|(memory, vectors)| Operation::Store(memory, vectors)),
        3 => (memories(), prop::bool::weighted(0.1), prop::option::of(embeddings()))
            .prop_map(|(memory, ahead, vectors)| Operation::Update { memory, ahead, vectors }),
        1 => (memories(), prop::bool::weighted(0.1))
            .prop_map(|(memory, ahead)| Operation::Amend { memory, ahead }),
        2 => (memories(), prop::bool::weighted(0.5), embeddings())
            .prop_map(|(memory, earlier, vectors)| Operation::Restore(Box::new(whole(memory, earlier, vectors)))),
        1 => (prop::option::of(owners()), select(&[1, 2, 50][..]))
            .prop_map(|(owner, limit)| Operation::Scan(owner, limit)),
        2 => (owners(), names()).prop_map(|(owner, id)| Operation::Forget(owner, id)),
        1 => (owners(), some(&PROJECTS))
            .prop_map(|(owner, project_id)| Operation::ForgetScope(ForgetScope { owner, project_id })),
        1 => (owners(), names(), times()).prop_map(|(owner, id, at)| Operation::Touch(Touch { owner, id, at })),
        1 => (owners(), names(), 1_u32..3, embeddings())
            .prop_map(|(owner, id, version, vectors)| Operation::Embed(owner, id, version, vectors)),
        2 => (owners(), names()).prop_map(|(owner, id)| Operation::Get(owner, id)),
        8 => searches().prop_map(Operation::Search),
        4 => lists().prop_map(Operation::List),
        2 => (scopes(), prop::option::of(filters())).prop_map(|(scope, filter)| Operation::Count(scope, filter)),
        1 => (owners(), names()).prop_map(|(owner, id)| Operation::History(owner, id)),
    ];
    prop::collection::vec(operation, 1..60)
}

/// Random sequences, the same in each run unless `PROPTEST_RNG_SEED` is set.
fn sequences(count: u32) -> impl Iterator<Item = Vec<Operation>> {
    let cases = std::env::var("MEMGATE_CASES").ok().and_then(|cases| cases.parse().ok());
    let mut config = Config::default();
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(1);
    }
    let mut runner = TestRunner::new(config);
    let operations = operations();
    (0..cases.unwrap_or(count)).map(move |_| operations.new_tree(&mut runner).unwrap().current())
}

/// Cosine, and BM25 with coverage and window. Equal within a thousandth: stores may add in another order.
#[derive(Debug)]
struct Scores(Option<f32>, Option<[f32; 3]>);

impl PartialEq for Scores {
    fn eq(&self, other: &Self) -> bool {
        let near = |(one, other): (f32, f32)| (one - other).abs() < 1e-3;
        let cosine = match (self.0, other.0) {
            (Some(one), Some(other)) => near((one, other)),
            (one, other) => one.is_none() && other.is_none(),
        };
        let lexical = match (self.1, other.1) {
            (Some(one), Some(other)) => one.into_iter().zip(other).all(near),
            (one, other) => one.is_none() && other.is_none(),
        };
        cosine && lexical
    }
}

/// The result of an operation, comparable between stores.
#[derive(Debug, PartialEq)]
enum Shown {
    Nothing,
    Number(u64, u64),
    Refused(&'static str),
    Memories(Vec<Memory>),
    Found(BTreeMap<(String, String), (Memory, Scores)>),
    Restored(Restored),
    Wholes(Vec<Whole>),
}

fn refused(error: &StoreError) -> Shown {
    Shown::Refused(match error {
        StoreError::NotFound => "not found",
        StoreError::Exists => "exists",
        StoreError::Conflict { .. } => "conflict",
        StoreError::Invalid { field, .. } => field,
        StoreError::Busy(_) | StoreError::Unavailable(_) | StoreError::Unreadable(_) => {
            panic!("{error}")
        }
    })
}

fn found(all: Vec<Evidence>) -> Shown {
    let entries = all.into_iter().map(|evidence| {
        let key = (evidence.memory.owner.key(), evidence.memory.id.as_str().to_owned());
        let lexical = evidence.lexical.map(|l| [l.bm25, l.coverage, l.window]);
        (key, (evidence.memory, Scores(evidence.cosine, lexical)))
    });
    Shown::Found(entries.collect())
}

async fn perform(store: &dyn MemoryStore, operation: Operation) -> Shown {
    let memories = |result: Result<Vec<Memory>, StoreError>| match result {
        Ok(memories) => Shown::Memories(memories),
        Err(error) => refused(&error),
    };
    match operation {
        Operation::Store(memory, vectors) => {
            memories(store.store(memory, vectors, &write()).await.map(|memory| vec![memory]))
        }
        Operation::Update { mut memory, ahead, vectors } => {
            let stored = store.history(&memory.owner, &memory.id).await;
            memory.version = stored.map_or(1, |versions| versions[0].version) + u32::from(ahead);
            memories(store.update(memory, vectors, &write()).await.map(|memory| vec![memory]))
        }
        Operation::Amend { mut memory, ahead } => {
            let stored = store.history(&memory.owner, &memory.id).await;
            memory.version = stored.map_or(1, |versions| versions[0].version) + u32::from(ahead);
            store.amend(memory).await.map_or_else(|error| refused(&error), |()| Shown::Nothing)
        }
        Operation::Restore(whole) => match store.restore(*whole, &write()).await {
            Ok(restored) => Shown::Restored(restored),
            Err(error) => refused(&error),
        },
        Operation::Scan(owner, limit) => {
            let found = all(store, owner.as_ref(), limit).await;
            for whole in found.clone() {
                assert_eq!(store.restore(whole, &write()).await.unwrap(), Restored::Same);
            }
            Shown::Wholes(found)
        }
        Operation::Forget(owner, id) => {
            Shown::Number(store.forget(&owner, &id, &write()).await.unwrap(), 0)
        }
        Operation::ForgetScope(scope) => {
            Shown::Number(store.forget_by_scope(&scope, &write()).await.unwrap(), 0)
        }
        Operation::Touch(touch) => {
            store.touch(&[touch]).await.unwrap();
            Shown::Nothing
        }
        Operation::Embed(owner, id, version, vectors) => {
            store.embed(&owner, &id, version, vectors).await.unwrap();
            Shown::Nothing
        }
        Operation::Get(owner, id) => {
            memories(store.get(&owner, &id, now()).await.map(|memory| vec![memory]))
        }
        Operation::Search(search) => found(store.retrieve(&search).await.unwrap()),
        Operation::List(mut query) => {
            let mut listed = Vec::new();
            loop {
                let page = store.list(&query).await.unwrap();
                listed.extend(page.memories);
                query.cursor = page.next;
                if query.cursor.is_none() {
                    return Shown::Memories(listed);
                }
            }
        }
        Operation::Count(scope, filter) => {
            let counts = store.count(&scope, filter.as_ref(), SPACE, now()).await.unwrap();
            Shown::Number(counts.total, counts.embedded)
        }
        Operation::History(owner, id) => memories(store.history(&owner, &id).await),
    }
}

pub(crate) async fn no_sequence_of_operations_tells_stores_apart(
    store: &dyn MemoryStore,
    count: u32,
) {
    for operations in sequences(count) {
        store.clear(&write()).await.unwrap();
        let plain = InMemoryStore::new();
        for (step, operation) in operations.iter().enumerate() {
            let shown = perform(store, operation.clone()).await;
            let expected = perform(&plain, operation.clone()).await;
            assert_eq!(shown, expected, "step {step} of {:#?}", &operations[..=step]);
        }
        let missing = |memories: Vec<Memory>| {
            let mut keys: Vec<_> = memories.iter().map(|m| (m.owner.key(), m.id.clone())).collect();
            keys.sort();
            keys
        };
        let shown = missing(store.unembedded(SPACE, 1000).await.unwrap());
        assert_eq!(shown, missing(plain.unembedded(SPACE, 1000).await.unwrap()), "{operations:#?}");
    }
}

/// Compares with the model of what each owner has: every result must belong to the owner of the
/// request.
pub(crate) async fn nobody_sees_anything_of_anybody_else(store: &dyn MemoryStore, count: u32) {
    let mut looks = 0;
    for operations in sequences(count) {
        store.clear(&write()).await.unwrap();
        let mut model: HashMap<(Owner, MemoryId), String> = HashMap::new();
        for operation in operations {
            let asked: Vec<Owner> = match &operation {
                Operation::Search(search) => {
                    search.scopes.iter().map(|s| s.owner.clone()).collect()
                }
                Operation::List(query) => vec![query.scope.owner.clone()],
                Operation::Get(owner, _)
                | Operation::History(owner, _)
                | Operation::Scan(Some(owner), _) => vec![owner.clone()],
                _ => vec![],
            };
            let shared = match &operation {
                Operation::Search(search) => search.shared.clone(),
                _ => None,
            };
            let shown = match perform(store, operation.clone()).await {
                Shown::Memories(memories) => memories,
                Shown::Found(found) => found.into_values().map(|(memory, ..)| memory).collect(),
                Shown::Wholes(found) if !asked.is_empty() => {
                    found.into_iter().map(|whole| whole.memory).collect()
                }
                Shown::Restored(restored) => {
                    if let (Operation::Restore(whole), Restored::Written) = (&operation, restored) {
                        let memory = whole.memory.clone();
                        model.insert((memory.owner, memory.id), memory.content);
                    }
                    vec![]
                }
                _ => vec![],
            };
            match operation {
                Operation::Store(memory, _) | Operation::Update { memory, .. } => {
                    if !shown.is_empty() {
                        model.insert((memory.owner, memory.id), memory.content);
                    }
                    continue;
                }
                Operation::Forget(owner, id) => {
                    model.remove(&(owner, id));
                }
                Operation::History(..) => continue,
                _ => {}
            }
            for memory in shown {
                looks += 1;
                let is_shared = shared.as_ref().is_some_and(|shared| shared.holds(&memory));
                let may_be_seen = asked.contains(&memory.owner) || is_shared;
                assert!(may_be_seen, "{memory:?} is not of {asked:?}");
                let key = (memory.owner.clone(), memory.id.clone());
                assert_eq!(model.get(&key), Some(&memory.content));
            }
        }
    }
    assert!(looks > 0, "a test that sees nothing proves nothing");
}
