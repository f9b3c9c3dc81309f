//! Searches: results and their evidence.

use crate::conformance::*;
use memgate_core::memory::{MemoryStore, Status, Within};

const EAST: [f32; 4] = [1.0, 0.0, 0.0, 0.0];
const NORTH: [f32; 4] = [0.0, 1.0, 0.0, 0.0];
const NORTH_EAST: [f32; 4] = [1.0, 1.0, 0.0, 0.0];
const WEST: [f32; 4] = [-1.0, 0.0, 0.0, 0.0];

async fn keep(
    store: &dyn MemoryStore,
    user: &str,
    name: &str,
    content: &str,
    vector: Option<[f32; 4]>,
) {
    let vectors = vector.map(|values| embedding(0, values)).into_iter().collect();
    store.store(note(user, name, content), vectors, &write()).await.unwrap();
}

pub(crate) async fn words_find_what_holds_them(store: &dyn MemoryStore) {
    keep(store, "alice", "budget", "My budget for the Hawaii trip is $10,000", None).await;
    keep(store, "alice", "cat", "The cat is called Schnurri", None).await;
    keep(store, "alice", "预算", "夏威夷旅行的预算是一万美元", None).await;
    keep(store, "bob", "his", "My budget is $5", None).await;
    let found = store.retrieve(&words("alice", "What's my BUDGET for the trip?")).await.unwrap();
    assert_eq!(found[0].memory.id.as_str(), "budget");
    let lexical = found[0].lexical.unwrap();
    assert!(lexical.bm25 > 0.0 && lexical.coverage > 0.9, "{lexical:?}");
    assert_eq!((found[0].cosine, found[0].part), (None, None));
    assert!(found.iter().all(|evidence| evidence.memory.owner == owner("alice")));
    for (text, expected) in
        [("Schnurri", "cat"), ("schnurri's?", "cat"), ("预算是多少", "预算"), ("10000", "budget")]
    {
        let found = store.retrieve(&words("alice", text)).await.unwrap();
        assert_eq!(found[0].memory.id.as_str(), expected, "{text}");
    }
    for text in ["volcano", "", "?!", "\u{0}"] {
        assert!(store.retrieve(&words("alice", text)).await.unwrap().is_empty(), "{text}");
    }
    assert!(store.retrieve(&words("nobody", "budget")).await.unwrap().is_empty());
}

pub(crate) async fn the_words_said_just_before_count(store: &dyn MemoryStore) {
    let said = [
        ("asked", "Where is Schnurri?", Some("s"), None),
        ("gone", "Nobody knows", Some("s"), Some(at(50))),
        ("answer", "Under the sofa", Some("s"), None),
        ("later", "Thanks", Some("s"), None),
        ("elsewhere", "Under the roof", Some("t"), None),
        ("alone", "Under the hat", None, None),
    ];
    for (n, (name, content, session, expires_at)) in (0..).zip(said) {
        let session_id = session.map(str::to_owned);
        let told = note("alice", name, content);
        let memory = Memory { created_at: at(n), session_id, expires_at, ..told };
        store.store(memory, Vec::new(), &write()).await.unwrap();
    }
    let found = store.retrieve(&words("alice", "Schnurri")).await.unwrap();
    assert_eq!(ids(&found), ["asked", "answer"]);
    let [asked, answer] = [0, 1].map(|at| found[at].lexical.unwrap());
    assert!(asked.window > 0.0 && answer.window > 0.0, "{asked:?} {answer:?}");
    assert!(asked.bm25 > 0.0 && answer.bm25 == 0.0 && answer.coverage == 0.0);
}

pub(crate) async fn vectors_find_what_is_near(store: &dyn MemoryStore) {
    keep(store, "alice", "east", "x", Some(EAST)).await;
    keep(store, "alice", "north-east", "x", Some(NORTH_EAST)).await;
    keep(store, "alice", "west", "x", Some(WEST)).await;
    keep(store, "bob", "his", "x", Some(EAST)).await;
    let found = store.retrieve(&near("alice", EAST)).await.unwrap();
    assert_eq!(ids(&found), ["east", "north-east", "west"]);
    for (evidence, cosine) in found.iter().zip([1.0, 0.5_f32.sqrt(), -1.0]) {
        assert!((evidence.cosine.unwrap() - cosine).abs() < 1e-5, "{evidence:?}");
        assert_eq!((evidence.part, evidence.lexical), (Some(0), None));
    }
    let found = store.retrieve(&Search { limit: 1, ..near("alice", NORTH) }).await.unwrap();
    assert_eq!(ids(&found), ["north-east"]);
}

pub(crate) async fn the_nearest_part_counts(store: &dyn MemoryStore) {
    let parts = vec![embedding(1, NORTH), embedding(0, WEST), embedding(2, NORTH_EAST)];
    store.store(note("alice", "parts", "x"), parts, &write()).await.unwrap();
    keep(store, "alice", "near", "x", Some([1.0, 0.9, 0.0, 0.0])).await;
    for (direction, part, first) in
        [(NORTH, 1, "parts"), (WEST, 0, "parts"), (NORTH_EAST, 2, "parts")]
    {
        let found = store.retrieve(&near("alice", direction)).await.unwrap();
        assert_eq!((ids(&found).len(), found[0].memory.id.as_str()), (2, first));
        assert_eq!(found[0].part, Some(part));
        assert!((found[0].cosine.unwrap() - 1.0).abs() < 1e-5);
    }
}

pub(crate) async fn the_best_of_both_kinds_are_returned(store: &dyn MemoryStore) {
    keep(store, "alice", "near", "nothing", Some(EAST)).await;
    keep(store, "alice", "nearer words", "cat and dog", Some(NORTH)).await;
    keep(store, "alice", "words only", "cat cat", None).await;
    keep(store, "alice", "far", "nothing", Some(WEST)).await;
    let both = Search { vector: Some(query(EAST)), limit: 1, ..words("alice", "cat") };
    let found = store.retrieve(&both).await.unwrap();
    assert_eq!(sorted(&found), ["near", "words only"]);
    let both = Search { limit: 10, ..both };
    let found = store.retrieve(&both).await.unwrap();
    assert_eq!(sorted(&found), ["far", "near", "nearer words", "words only"]);
    for evidence in found {
        let has_vector = evidence.memory.id.as_str() != "words only";
        assert_eq!(evidence.cosine.is_some(), has_vector);
        let words = evidence.lexical.unwrap();
        assert_eq!(words.bm25 > 0.0, evidence.memory.content.contains("cat"));
    }
}

pub(crate) async fn a_search_for_nothing_in_particular_gives_the_newest(store: &dyn MemoryStore) {
    for n in 0..5 {
        let memory = Memory { created_at: at(n), ..note("alice", &format!("m{n}"), "x") };
        store.store(memory, vec![embedding(0, EAST)], &write()).await.unwrap();
    }
    let found = store.retrieve(&Search { limit: 3, ..search("alice") }).await.unwrap();
    assert_eq!(ids(&found), ["m4", "m3", "m2"]);
    assert!(found.iter().all(|e| e.cosine.is_none() && e.part.is_none() && e.lexical.is_none()));
    let none = Search { scopes: vec![], ..search("alice") };
    assert!(store.retrieve(&none).await.unwrap().is_empty());
}

pub(crate) async fn several_scopes_are_merged_without_repetition(store: &dyn MemoryStore) {
    for (user, name, kind, seconds) in [
        ("alice", "fact", "semantic", 1),
        ("alice", "event", "episodic", 3),
        ("team", "shared", "semantic", 2),
        ("bob", "his", "semantic", 4),
    ] {
        let mut memory = note(user, name, "cat");
        memory.memory_type = MemoryType::new(kind);
        memory.created_at = at(seconds);
        store.store(memory, vec![embedding(0, EAST)], &write()).await.unwrap();
    }
    let only = |user: &str, kind: &str| ScopeQuery {
        types: vec![kind.into()],
        ..ScopeQuery::of(owner(user))
    };
    let scopes =
        vec![only("alice", "semantic"), ScopeQuery::of(owner("team")), only("alice", "semantic")];
    for search in [search("alice"), words("alice", "cat"), near("alice", EAST)] {
        let found =
            store.retrieve(&Search { scopes: scopes.clone(), ..search.clone() }).await.unwrap();
        assert_eq!(sorted(&found), ["fact", "shared"]);
        let all = vec![
            only("alice", "episodic"),
            ScopeQuery::of(owner("team")),
            ScopeQuery::of(owner("alice")),
        ];
        let found = store.retrieve(&Search { scopes: all, ..search }).await.unwrap();
        assert_eq!(sorted(&found), ["event", "fact", "shared"]);
    }
    let newest = Search { scopes, limit: 1, ..search("alice") };
    assert_eq!(ids(&store.retrieve(&newest).await.unwrap()), ["shared"]);
}

pub(crate) async fn an_answer_is_found_where_it_is_asked_for_and_changes_no_score_elsewhere(
    store: &dyn MemoryStore,
) {
    keep(store, "alice", "fact", "cat and dog", Some(EAST)).await;
    let both = Search { vector: Some(query(NORTH_EAST)), ..words("alice", "cat bird") };
    let before = store.retrieve(&both).await.unwrap();
    let mut answer = note("alice", "answer", "cat bird");
    answer.memory_type = MemoryType::new(MemoryType::ANSWER);
    store.store(answer, vec![embedding(0, NORTH_EAST)], &write()).await.unwrap();
    assert_eq!(store.retrieve(&both).await.unwrap(), before);
    assert_eq!(ids(&store.retrieve(&search("alice")).await.unwrap()), ["fact"]);
    let asked = ScopeQuery { answers: true, ..ScopeQuery::of(owner("alice")) };
    let named =
        ScopeQuery { types: vec![MemoryType::ANSWER.to_owned()], ..ScopeQuery::of(owner("alice")) };
    for (scope, found) in [(asked, vec!["answer", "fact"]), (named, vec!["answer"])] {
        for search in [both.clone(), search("alice")] {
            let search = Search { scopes: vec![scope.clone()], ..search };
            assert_eq!(sorted(&store.retrieve(&search).await.unwrap()), found);
        }
    }
}

pub(crate) async fn another_owners_memories_change_no_score(store: &dyn MemoryStore) {
    keep(store, "alice", "m", "cat and dog", Some(EAST)).await;
    let both = Search { vector: Some(query(NORTH_EAST)), ..words("alice", "cat bird") };
    let before = store.retrieve(&both).await.unwrap();
    for n in 0..20 {
        keep(store, "bob", &format!("m{n}"), "cat bird", Some(NORTH_EAST)).await;
    }
    assert_eq!(store.retrieve(&both).await.unwrap(), before);
}

pub(crate) async fn a_search_sees_every_write_before_it(store: &dyn MemoryStore) {
    let by_words = words("alice", "cat");
    let by_vector = near("alice", EAST);
    let found = async |search: &Search| -> Vec<String> {
        let found = store.retrieve(search).await.unwrap();
        sorted(&found).into_iter().map(str::to_owned).collect()
    };
    for round in 0..20 {
        assert!(found(&by_words).await.is_empty() && found(&by_vector).await.is_empty());
        keep(store, "alice", "m", "cat", Some(EAST)).await;
        assert_eq!(
            (found(&by_words).await, found(&by_vector).await),
            (vec!["m".into()], vec!["m".into()])
        );
        let memory = store.get(&owner("alice"), &id("m"), now()).await.unwrap();
        let dog = Memory { content: "dog".into(), ..memory };
        let dog = store.update(dog, Some(vec![]), &write()).await.unwrap();
        assert!(found(&by_words).await.is_empty() && found(&by_vector).await.is_empty(), "{round}");
        store
            .embed(&owner("alice"), &id("m"), dog.version, vec![embedding(0, EAST)])
            .await
            .unwrap();
        assert_eq!(found(&by_vector).await, ["m"]);
        let put_away = Memory { status: Status::Superseded, ..dog };
        let put_away = store.update(put_away, None, &write()).await.unwrap();
        assert!(found(&by_vector).await.is_empty(), "{round}");
        let back = Memory { status: Status::Active, content: "cat".into(), ..put_away };
        store.update(back, None, &write()).await.unwrap();
        assert_eq!(found(&by_words).await, ["m"]);
        store.forget(&owner("alice"), &id("m"), &write()).await.unwrap();
    }
}

pub(crate) async fn an_exact_scope_holds_nothing_of_a_wider_or_another_one(
    store: &dyn MemoryStore,
) {
    for (name, project) in [("own", Some("p")), ("none", None), ("other", Some("q"))] {
        let memory =
            Memory { project_id: project.map(str::to_owned), ..note("alice", name, "olives") };
        store.store(memory, Vec::new(), &write()).await.unwrap();
    }
    for (project, expected) in [(Some("p"), "own"), (None, "none")] {
        let scope =
            ScopeQuery { projects: Within::exactly(project), ..ScopeQuery::of(owner("alice")) };
        let search = Search { scopes: vec![scope], ..words("alice", "olives") };
        assert_eq!(ids(&store.retrieve(&search).await.unwrap()), [expected]);
    }
}
