//! Lists, pages, scopes, filters and counts.

use serde_json::json;

use crate::conformance::*;
use memgate_core::memory::{
    Comparison, Filter, ListQuery, MAX_FILTER_SIZE, MemoryStore, MetadataTest, Page, Status,
    StoreError, TimeField, Within,
};

fn all_of(user: &str) -> ListQuery {
    let scope = ScopeQuery::of(owner(user));
    ListQuery { scope, filter: None, limit: 100, cursor: None, now: now() }
}

fn names(page: &Page) -> Vec<&str> {
    page.memories.iter().map(|memory| memory.id.as_str()).collect()
}

pub(crate) async fn lists_are_newest_first_and_page_without_gaps(store: &dyn MemoryStore) {
    // Several with the same time, distinguished only by their ids.
    for (name, seconds) in [("c", 1), ("a", 1), ("é", 1), ("Z", 1), ("late", 5), ("early", 0)] {
        let memory = Memory { created_at: at(seconds), ..note("alice", name, "x") };
        store.store(memory, vec![], &write()).await.unwrap();
    }
    store.store(note("bob", "his", "x"), vec![], &write()).await.unwrap();
    let expected = ["late", "é", "c", "a", "Z", "early"];
    let page = store.list(&all_of("alice")).await.unwrap();
    assert_eq!((names(&page), &page.next), (expected.to_vec(), &None));
    for limit in 1..=7 {
        let mut query = ListQuery { limit, ..all_of("alice") };
        let mut listed = Vec::new();
        loop {
            let page = store.list(&query).await.unwrap();
            assert!(page.memories.len() <= limit);
            listed.extend(page.memories.into_iter().map(|memory| memory.id.as_str().to_owned()));
            query.cursor = page.next;
            if query.cursor.is_none() {
                break;
            }
        }
        assert_eq!(listed, expected, "{limit} a page");
    }
}

pub(crate) async fn pages_stay_stable_while_memories_are_added(store: &dyn MemoryStore) {
    for n in 0..6 {
        let memory = Memory { created_at: at(n), ..note("alice", &format!("m{n}"), "x") };
        store.store(memory, vec![], &write()).await.unwrap();
    }
    let first = store.list(&ListQuery { limit: 3, ..all_of("alice") }).await.unwrap();
    assert_eq!(names(&first), ["m5", "m4", "m3"]);
    let newer = Memory { created_at: at(9), ..note("alice", "newer", "x") };
    store.store(newer, vec![], &write()).await.unwrap();
    store.forget(&owner("alice"), &id("m3"), &write()).await.unwrap();
    let rest = ListQuery { limit: 3, cursor: first.next, ..all_of("alice") };
    let rest = store.list(&rest).await.unwrap();
    assert_eq!((names(&rest), &rest.next), (vec!["m2", "m1", "m0"], &None));
}

pub(crate) async fn scopes_narrow_by_project_agent_session_and_type(store: &dyn MemoryStore) {
    let some = |name: &str| (name != "-").then(|| name.to_owned());
    for (name, project, agent, session, kind) in [
        ("bare", "-", "-", "-", "semantic"),
        ("p", "p", "-", "-", "semantic"),
        ("q", "q", "-", "-", "episodic"),
        ("pa", "p", "a", "-", "procedural"),
        ("b", "-", "b", "s", "episodic"),
    ] {
        let mut memory = note("alice", name, "cat");
        memory.project_id = some(project);
        memory.agent_id = some(agent);
        memory.session_id = some(session);
        memory.memory_type = MemoryType::new(kind);
        store.store(memory, vec![], &write()).await.unwrap();
    }
    for (project, agent, session, types, expected) in [
        ("-", "-", "-", &[][..], &["b", "bare", "p", "pa", "q"][..]),
        ("p", "-", "-", &[], &["b", "bare", "p", "pa"]),
        ("-", "a", "-", &[], &["bare", "p", "pa", "q"]),
        ("p", "b", "-", &[], &["b", "bare", "p"]),
        ("-", "-", "s", &[], &["b"]),
        ("unknown", "-", "-", &[], &["b", "bare"]),
        ("-", "-", "-", &["episodic", "procedural"], &["b", "pa", "q"]),
        ("p", "-", "-", &["episodic"], &["b"]),
        ("-", "-", "-", &["unknown"], &[]),
    ] {
        let scope = ScopeQuery {
            projects: some(project).map_or(Within::All, Within::Shared),
            agents: some(agent).map_or(Within::All, Within::Shared),
            session_id: some(session),
            types: types.iter().map(|name| (*name).to_owned()).collect(),
            ..ScopeQuery::of(owner("alice"))
        };
        let mut listed =
            store.list(&ListQuery { scope: scope.clone(), ..all_of("alice") }).await.unwrap();
        listed.memories.sort_by(|a, b| a.id.cmp(&b.id));
        assert_eq!(names(&listed), expected, "{scope:?}");
        for search in [search("alice"), words("alice", "cat")] {
            let found =
                store.retrieve(&Search { scopes: vec![scope.clone()], ..search }).await.unwrap();
            assert_eq!(sorted(&found), expected, "{scope:?}");
        }
        let counts = store.count(&scope, None, SPACE, now()).await.unwrap();
        assert_eq!(counts.total, expected.len() as u64, "{scope:?}");
    }
}

pub(crate) async fn every_kind_of_filter_narrows(store: &dyn MemoryStore) {
    let mut red = note("alice", "red", "Straße nach HAWAII 100% _sure_");
    red.tags = vec!["travel".into(), "it's".into()];
    red.metadata =
        json!({"n": 1, "s": "1", "deep": {"a": [1, 2]}, "null": null}).as_object().unwrap().clone();
    red.importance = 0.9;
    red.confidence = Some(0.5);
    red.event_time = Some(at(50));
    red.session_id = Some("s".into());
    red.updated_at = at(70);
    let mut blue = note("alice", "blue", "plain");
    blue.kind = MemoryKind::Summary;
    blue.memory_type = MemoryType::new("custom");
    blue.source = Source::SystemGenerated;
    blue.status = Status::Review;
    blue.created_at = at(60);
    blue.project_id = Some("p".into());
    let old = Memory { status: Status::Superseded, ..note("alice", "old", "plain") };
    let red = red.clone().of_turn(red.content, Some("Gute REISE".into()));
    for memory in [red, blue, old] {
        store.store(memory, vec![], &write()).await.unwrap();
    }
    let is = |key: &str, equals: serde_json::Value| {
        Filter::Metadata(MetadataTest { key: key.into(), equals })
    };
    let time = |field, from: Option<i64>, until: Option<i64>| Filter::Time {
        field,
        from: from.map(at),
        until: until.map(at),
    };
    let nanos = SignedDuration::from_nanos(1);
    let cases: Vec<(Filter, &[&str])> = vec![
        (Filter::And(vec![]), &["blue", "red"]),
        (Filter::Or(vec![]), &[]),
        (Filter::Not(Box::new(Filter::Or(vec![]))), &["blue", "red"]),
        (Filter::Type(vec!["custom".into(), "x' OR 1=1".into()]), &["blue"]),
        (Filter::Type(vec![]), &[]),
        (Filter::Status(vec![Status::Superseded]), &["old"]),
        (Filter::Not(Box::new(Filter::Status(vec![Status::Active]))), &["blue", "old"]),
        (Filter::Source(vec![Source::SystemGenerated]), &["blue"]),
        (Filter::Kind(vec![MemoryKind::Summary, MemoryKind::Wish]), &["blue"]),
        (Filter::Not(Box::new(Filter::Kind(vec![MemoryKind::Summary]))), &["red"]),
        (Filter::Tag("travel".into()), &["red"]),
        (Filter::Tag("it's".into()), &["red"]),
        (Filter::Tag("trav".into()), &[]),
        (is("n", json!(1)), &["red"]),
        (is("n", json!("1")), &[]),
        (is("s", json!("1")), &["red"]),
        (is("deep", json!({"a": [1, 2]})), &["red"]),
        (is("null", json!(null)), &["blue", "red"]),
        (is("n", json!(null)), &["blue"]),
        (Filter::Text("hawaii".into()), &["red"]),
        (Filter::Text("STRASSE".into()), &[]),
        (Filter::Text("straße".into()), &["red"]),
        (Filter::Text("_\ngute reise".into()), &["red"]),
        (Filter::Text("user:".into()), &[]),
        (Filter::Text("%".into()), &["red"]),
        (Filter::Text("_SURE".into()), &["red"]),
        (Filter::Text("p_a".into()), &[]),
        (Filter::Importance(Comparison::Gte, 0.9), &["red"]),
        (Filter::Importance(Comparison::Gt, 0.9), &[]),
        (Filter::Importance(Comparison::Lt, 0.9), &["blue"]),
        (Filter::Importance(Comparison::Gte, f32::NAN), &[]),
        (Filter::Confidence(Comparison::Lte, 0.5), &["red"]),
        (Filter::Not(Box::new(Filter::Confidence(Comparison::Lte, 0.5))), &["blue"]),
        (time(TimeField::Created, Some(60), None), &["blue"]),
        (time(TimeField::Created, None, Some(60)), &["red"]),
        (time(TimeField::Updated, Some(70), Some(71)), &["red"]),
        (time(TimeField::Event, None, None), &["red"]),
        (Filter::Not(Box::new(time(TimeField::Event, None, Some(99)))), &["blue"]),
        (Filter::Time { field: TimeField::Event, from: Some(at(50) + nanos), until: None }, &[]),
        (
            Filter::Time { field: TimeField::Event, from: None, until: Some(at(50) + nanos) },
            &["red"],
        ),
        (Filter::Session("s".into()), &["red"]),
        (Filter::Not(Box::new(Filter::Session("s".into()))), &["blue"]),
        (Filter::Project("p".into()), &["blue"]),
        (Filter::And(vec![Filter::Tag("travel".into()), Filter::Session("s".into())]), &["red"]),
        (Filter::And(vec![Filter::Tag("travel".into()), Filter::Project("p".into())]), &[]),
        (
            Filter::Or(vec![Filter::Tag("travel".into()), Filter::Project("p".into())]),
            &["blue", "red"],
        ),
    ];
    for (filter, expected) in cases {
        let listed = ListQuery { filter: Some(filter.clone()), ..all_of("alice") };
        let mut listed = store.list(&listed).await.unwrap();
        listed.memories.sort_by(|a, b| a.id.cmp(&b.id));
        assert_eq!(names(&listed), expected, "{filter:?}");
        let in_use: Vec<_> = expected.iter().copied().filter(|name| *name != "old").collect();
        for search in [search("alice"), words("alice", "hawaii plain")] {
            let found = Search { filter: Some(filter.clone()), ..search };
            assert_eq!(sorted(&store.retrieve(&found).await.unwrap()), in_use, "{filter:?}");
        }
    }
}

pub(crate) async fn too_large_a_filter_is_refused(store: &dyn MemoryStore) {
    store.store(note("alice", "m", "x"), vec![], &write()).await.unwrap();
    let of_size = |size: usize| Filter::Or(vec![Filter::Text("x".into()); size - 1]);
    let list = |filter| ListQuery { filter: Some(filter), ..all_of("alice") };
    assert_eq!(names(&store.list(&list(of_size(MAX_FILTER_SIZE))).await.unwrap()), ["m"]);
    let refused = store.list(&list(of_size(MAX_FILTER_SIZE + 1))).await;
    assert!(matches!(refused, Err(StoreError::Invalid { field: "filter", .. })), "{refused:?}");
    let many = Filter::Type(vec!["x".into(); MAX_FILTER_SIZE]);
    let refused = store.retrieve(&Search { filter: Some(many), ..search("alice") }).await;
    assert!(matches!(refused, Err(StoreError::Invalid { field: "filter", .. })), "{refused:?}");
}

pub(crate) async fn counts_are_of_what_is_in_use(store: &dyn MemoryStore) {
    let scope = ScopeQuery::of(owner("alice"));
    let count = async |filter: Option<&Filter>, space| {
        let counts = store.count(&scope, filter, space, now()).await.unwrap();
        (counts.total, counts.embedded)
    };
    assert_eq!(count(None, SPACE).await, (0, 0));
    let vectors = vec![embedding(0, [1.0, 0.0, 0.0, 0.0]), embedding(1, [1.0, 0.0, 0.0, 0.0])];
    store.store(note("alice", "with", "x"), vectors, &write()).await.unwrap();
    store.store(note("alice", "without", "x"), vec![], &write()).await.unwrap();
    store.store(note("bob", "his", "x"), vec![], &write()).await.unwrap();
    let gone = Memory { expires_at: Some(now()), ..note("alice", "gone", "x") };
    store.store(gone, vec![], &write()).await.unwrap();
    let old = Memory { status: Status::Superseded, ..note("alice", "old", "x") };
    store.store(old, vec![], &write()).await.unwrap();
    assert_eq!(count(None, SPACE).await, (2, 1));
    assert_eq!(count(None, "never used").await, (2, 0));
    assert_eq!(count(Some(&Filter::Text("y".into())), SPACE).await, (0, 0));
    assert_eq!(count(Some(&Filter::Status(vec![Status::Superseded])), SPACE).await, (1, 0));
}
