//! Writing, reading and removing single memories.

use futures_util::future::join_all;
use serde_json::json;

use crate::conformance::*;
use memgate_core::memory::{
    ForgetScope, MemoryStore, Occurrence, Provenance, Relation, Status, StoreError, Touch,
    Visibility, Within,
};
use memgate_text::entity::{MAX_ENTITY_RELATIONS, MAX_MENTIONS, MAX_NAME_BYTES};

/// A memory with unusual values in every field.
pub(super) fn full() -> Memory {
    let mut memory = note("alice", "full", "The budget is 10,000 $ \u{1F334} \u{0} 'x' \"y\"");
    memory.kind = MemoryKind::Turn;
    memory.reply = Some("10,000 $, noted \u{0}".into());
    memory.sub_type = Some("preference".into());
    memory.raw = Some("my budget is like 10k".into());
    memory.structured = Some(json!({"budget": {"amount": 10_000, "of": [1, null, "é"]}}));
    memory.project_id = Some("hawaii".into());
    memory.agent_id = Some("planner".into());
    memory.session_id = Some("s 1".into());
    memory.visibility =
        Visibility::Shared { users: vec!["bob".into()], roles: vec!["team/a".into()] };
    memory.source = Source::CorrectedMemory;
    memory.status = Status::Review;
    memory.importance = 0.1;
    memory.confidence = Some(0.7);
    memory.tags = vec!["travel".into(), "Ä ö".into(), String::new()];
    memory.metadata = json!({"k": [1, {"x": null}], "": "empty key"}).as_object().unwrap().clone();
    memory.version = 3;
    memory.access_count = 7;
    memory.last_accessed_at = Some(at(1));
    memory.decay_score = Some(0.25);
    memory.event_time = Some(at(-10_000_000_000));
    memory.valid_from = Some(at(2));
    memory.valid_until = Some(at(3));
    memory.expires_at = Some(at(1_000_000));
    memory.document_id = Some("doc".into());
    memory.chunk = Some(u32::MAX);
    memory.relations = vec![Relation { kind: "related_to".into(), target: id("other") }];
    memory.mentions = vec![mention(" Ana  O’Brien", Some("person")), mention("ANA O'BRIEN", None)];
    memory.entity_relations = vec![relation("Ana O'Brien", "works at; --", "Ｈelio")];
    memory.provenance = Provenance {
        turn: Some("t".into()),
        extractor: Some("llm".into()),
        extractor_version: Some("2".into()),
        said_at: Some(at(3)),
        again: vec![Occurrence {
            turn: "u".into(),
            session: Some("s".into()),
            extractor: Some("local".into()),
            said_at: Some(at(2)),
        }],
    };
    memory.updated_at = at(4);
    memory
}

pub(crate) async fn a_stored_memory_comes_back_whole(store: &dyn MemoryStore) {
    let mut memory = full();
    memory.created_at += SignedDuration::from_nanos(1_999);
    memory.valid_from = Some("1969-12-31T23:59:59.9999999Z".parse().unwrap());
    let stored = store.store(memory.clone(), vec![], &write()).await.unwrap();
    memory.created_at = at(0) + SignedDuration::from_micros(1);
    memory.valid_from = Some("1969-12-31T23:59:59.999999Z".parse().unwrap());
    assert_eq!(stored, memory, "times are kept to the microsecond");
    assert_eq!(store.get(&memory.owner, &memory.id, now()).await.unwrap(), memory);
    assert_eq!(store.retrieve(&search("alice")).await.unwrap()[0].memory, memory);
    let plain = store.store(note("alice", "plain", "x"), vec![], &write()).await.unwrap();
    assert_eq!(
        store.get(&plain.owner, &plain.id, now()).await.unwrap(),
        note("alice", "plain", "x")
    );
}

pub(crate) async fn several_memories_are_got_at_once(store: &dyn MemoryStore) {
    for (user, name) in [("alice", "m"), ("bob", "m"), ("bob", "n")] {
        store.store(note(user, name, user), vec![], &write()).await.unwrap();
    }
    let expired = Memory { expires_at: Some(now()), ..note("alice", "expired", "cat") };
    store.store(expired, vec![], &write()).await.unwrap();
    let asked = [("bob", "n"), ("alice", "n"), ("alice", "m"), ("alice", "expired"), ("bob", "m")];
    let asked = asked.map(|(user, name)| (owner(user), id(name)));
    let found = store.get_all(&asked, now()).await.unwrap();
    let found: Vec<(&str, &str)> =
        found.iter().map(|memory| (&*memory.content, memory.id.as_str())).collect();
    assert_eq!(found, [("bob", "n"), ("alice", "m"), ("bob", "m")]);
    assert!(store.get_all(&[], now()).await.unwrap().is_empty());
}

pub(crate) async fn an_id_is_taken_once_an_owner(store: &dyn MemoryStore) {
    store.store(note("alice", "m", "hers"), vec![], &write()).await.unwrap();
    let again = store.store(note("alice", "m", "again"), vec![], &write()).await;
    assert!(matches!(again, Err(StoreError::Exists)), "{again:?}");
    store.store(note("bob", "m", "his"), vec![], &write()).await.unwrap();
    assert_eq!(store.get(&owner("alice"), &id("m"), now()).await.unwrap().content, "hers");
    assert_eq!(store.get(&owner("bob"), &id("m"), now()).await.unwrap().content, "his");
}

pub(crate) async fn an_update_makes_a_version_and_keeps_the_old_one(store: &dyn MemoryStore) {
    let first = store.store(note("alice", "m", "one"), vec![], &write()).await.unwrap();
    let touch = Touch { owner: owner("alice"), id: id("m"), at: at(5) };
    store.touch(&[touch]).await.unwrap();
    let mut second = full();
    second.id = id("m");
    second.version = 1;
    second.created_at = at(9);
    let stored = store.update(second.clone(), None, &write()).await.unwrap();
    let expected = Memory {
        version: 2,
        created_at: first.created_at,
        access_count: 1,
        last_accessed_at: Some(at(5)),
        ..second
    };
    assert_eq!(stored, expected);
    let third = Memory { content: "three".into(), ..stored.clone() };
    let third = store.update(third, None, &write()).await.unwrap();
    let history = store.history(&owner("alice"), &id("m")).await.unwrap();
    assert_eq!(history.iter().map(|m| m.version).collect::<Vec<_>>(), [3, 2, 1]);
    assert_eq!(history[..2], [third, stored]);
    assert_eq!(history[2].content, "one");
}

pub(crate) async fn what_else_is_known_is_written_without_a_version(store: &dyn MemoryStore) {
    let first = store.store(note("alice", "m", "one"), vec![], &write()).await.unwrap();
    let told = Memory { id: id("m"), version: 1, content: "other".into(), ..full() };
    store.amend(told.clone()).await.unwrap();
    let expected = Memory {
        session_id: told.session_id.clone(),
        confidence: told.confidence,
        metadata: told.metadata.clone(),
        provenance: told.provenance.clone(),
        ..first
    };
    assert_eq!(store.history(&owner("alice"), &id("m")).await.unwrap(), [expected]);
    let in_session =
        ScopeQuery { session_id: told.session_id.clone(), ..ScopeQuery::of(owner("alice")) };
    let found = Search { scopes: vec![in_session], ..search("alice") };
    assert_eq!(store.retrieve(&found).await.unwrap().len(), 1, "it is found there at once");
    let other = store.amend(Memory { version: 2, ..told.clone() }).await;
    assert!(matches!(other, Err(StoreError::Conflict { expected: 2, found: 1 })), "{other:?}");
    for missing in [Memory { id: id("n"), ..told.clone() }, Memory { owner: owner("bob"), ..told }]
    {
        let missing = store.amend(missing).await;
        assert!(matches!(missing, Err(StoreError::NotFound)), "{missing:?}");
    }
}

pub(crate) async fn an_update_of_another_version_changes_nothing(store: &dyn MemoryStore) {
    let stored = store.store(note("alice", "m", "one"), vec![], &write()).await.unwrap();
    for version in [2, 9] {
        let other = Memory { version, content: "two".into(), ..stored.clone() };
        let refused = store.update(other, None, &write()).await;
        let expected = matches!(refused, Err(StoreError::Conflict { expected, found: 1 }) if expected == version);
        assert!(expected, "{refused:?}");
    }
    for (user, name) in [("alice", "n"), ("bob", "m")] {
        let refused = store.update(note(user, name, "two"), None, &write()).await;
        assert!(matches!(refused, Err(StoreError::NotFound)), "{refused:?}");
    }
    assert_eq!(store.history(&owner("alice"), &id("m")).await.unwrap(), [stored]);
    let missing = store.history(&owner("bob"), &id("m")).await;
    assert!(matches!(missing, Err(StoreError::NotFound)), "{missing:?}");
}

pub(crate) async fn of_many_updates_at_once_one_wins(store: &dyn MemoryStore) {
    let stored = store.store(note("alice", "m", "one"), vec![], &write()).await.unwrap();
    let updates = (0..20).map(|n| {
        let memory = Memory { content: format!("update {n}"), ..stored.clone() };
        async move { store.update(memory, None, &write()).await }
    });
    let results = join_all(updates).await;
    let won: Vec<_> = results.into_iter().filter_map(Result::ok).collect();
    assert_eq!(won.len(), 1);
    assert_eq!(store.get(&owner("alice"), &id("m"), now()).await.unwrap(), won[0]);
    assert_eq!(store.history(&owner("alice"), &id("m")).await.unwrap().len(), 2);
}

pub(crate) async fn many_writers_lose_nothing(store: &dyn MemoryStore) {
    let writes = (0..200).map(|n| {
        let memory = note(["alice", "bob"][n % 2], &format!("m{n}"), "x");
        async move { store.store(memory, vec![embedding(0, [1.0, 0.0, 0.0, 0.0])], &write()).await }
    });
    for result in join_all(writes).await {
        result.unwrap();
    }
    for user in ["alice", "bob"] {
        let scope = ScopeQuery::of(owner(user));
        let counts = store.count(&scope, None, SPACE, now()).await.unwrap();
        assert_eq!((counts.total, counts.embedded), (100, 100));
    }
}

pub(crate) async fn what_is_forgotten_is_gone_with_its_history(store: &dyn MemoryStore) {
    let stored = store.store(note("alice", "m", "one"), vec![], &write()).await.unwrap();
    store.store(note("bob", "m", "his"), vec![], &write()).await.unwrap();
    store.update(stored, None, &write()).await.unwrap();
    assert_eq!(store.forget(&owner("carol"), &id("m"), &write()).await.unwrap(), 0);
    assert_eq!(store.forget(&owner("alice"), &id("m"), &write()).await.unwrap(), 1);
    assert_eq!(store.forget(&owner("alice"), &id("m"), &write()).await.unwrap(), 0);
    let gone = store.get(&owner("alice"), &id("m"), now()).await;
    assert!(matches!(gone, Err(StoreError::NotFound)), "{gone:?}");
    let gone = store.history(&owner("alice"), &id("m")).await;
    assert!(matches!(gone, Err(StoreError::NotFound)), "{gone:?}");
    assert!(store.retrieve(&words("alice", "one")).await.unwrap().is_empty());
    assert_eq!(store.get(&owner("bob"), &id("m"), now()).await.unwrap().content, "his");
    let again = store.store(note("alice", "m", "anew"), vec![], &write()).await.unwrap();
    assert_eq!(store.history(&owner("alice"), &id("m")).await.unwrap(), [again]);
}

pub(crate) async fn several_are_forgotten_at_once(store: &dyn MemoryStore) {
    for (user, name) in [("alice", "a"), ("alice", "b"), ("alice", "c"), ("bob", "a")] {
        store.store(note(user, name, "cat"), vec![], &write()).await.unwrap();
    }
    let ids_of = |names: &[&str]| names.iter().map(|name| id(name)).collect::<Vec<_>>();
    let forgotten = store.forget_all(&owner("alice"), &ids_of(&["a", "b", "x"]), &write()).await;
    assert_eq!(forgotten.unwrap(), 2);
    assert_eq!(store.forget_all(&owner("alice"), &[], &write()).await.unwrap(), 0);
    assert_eq!(ids(&store.retrieve(&search("alice")).await.unwrap()), ["c"]);
    assert_eq!(ids(&store.retrieve(&search("bob")).await.unwrap()), ["a"]);
}

pub(crate) async fn a_history_is_forgotten_and_the_memory_stays(store: &dyn MemoryStore) {
    let first = store.store(note("alice", "m", "one"), vec![], &write()).await.unwrap();
    let changed = Memory { content: "two".into(), ..first };
    let second = store.update(changed, None, &write()).await.unwrap();
    assert_eq!(store.forget_history(&owner("bob"), &id("m"), &write()).await.unwrap(), 0);
    assert_eq!(store.forget_history(&owner("alice"), &id("m"), &write()).await.unwrap(), 1);
    assert_eq!(store.history(&owner("alice"), &id("m")).await.unwrap(), [second]);
}

pub(crate) async fn forgetting_a_scope_spares_the_rest(store: &dyn MemoryStore) {
    for (user, name, project) in [
        ("alice", "none", None),
        ("alice", "a1", Some("a")),
        ("alice", "a2", Some("a")),
        ("alice", "b", Some("b")),
        ("bob", "a1", Some("a")),
    ] {
        let memory = Memory { project_id: project.map(str::to_owned), ..note(user, name, "x") };
        store.store(memory, vec![], &write()).await.unwrap();
    }
    let scope = |project: Option<&str>| ForgetScope {
        owner: owner("alice"),
        project_id: project.map(str::to_owned),
    };
    assert_eq!(store.forget_by_scope(&scope(Some("a")), &write()).await.unwrap(), 2);
    assert_eq!(store.forget_by_scope(&scope(Some("%")), &write()).await.unwrap(), 0);
    assert_eq!(sorted(&store.retrieve(&search("alice")).await.unwrap()), ["b", "none"]);
    assert_eq!(store.forget_by_scope(&scope(None), &write()).await.unwrap(), 2);
    assert!(store.retrieve(&search("alice")).await.unwrap().is_empty());
    assert_eq!(ids(&store.retrieve(&search("bob")).await.unwrap()), ["a1"]);
}

pub(crate) async fn clearing_leaves_nothing(store: &dyn MemoryStore) {
    for user in ["alice", "bob"] {
        store.store(note(user, "m", "cat"), vec![], &write()).await.unwrap();
        assert_eq!(store.retrieve(&words(user, "cat")).await.unwrap().len(), 1);
    }
    store.clear(&write()).await.unwrap();
    for user in ["alice", "bob"] {
        assert!(store.retrieve(&words(user, "cat")).await.unwrap().is_empty());
    }
    store.store(note("alice", "m", "dog"), vec![], &write()).await.unwrap();
    assert!(store.retrieve(&words("alice", "cat")).await.unwrap().is_empty());
    assert_eq!(store.retrieve(&words("alice", "dog")).await.unwrap().len(), 1);
}

pub(crate) async fn touches_count_and_bring_nothing_back(store: &dyn MemoryStore) {
    store.store(note("alice", "m", "x"), vec![], &write()).await.unwrap();
    let touch = |user: &str, name: &str, seconds| Touch {
        owner: owner(user),
        id: id(name),
        at: at(seconds),
    };
    let touches = [touch("alice", "m", 7), touch("alice", "gone", 8), touch("bob", "m", 8)];
    store.touch(&touches).await.unwrap();
    store.touch(&[touch("alice", "m", 3)]).await.unwrap();
    let memory = store.get(&owner("alice"), &id("m"), now()).await.unwrap();
    assert_eq!((memory.access_count, memory.last_accessed_at), (2, Some(at(7))));
    assert_eq!((memory.version, memory.updated_at), (1, at(0)));
    assert_eq!(store.retrieve(&search("alice")).await.unwrap()[0].memory, memory);
    store.forget(&owner("alice"), &id("m"), &write()).await.unwrap();
    store.touch(&touches).await.unwrap();
    for user in ["alice", "bob"] {
        assert!(store.retrieve(&search(user)).await.unwrap().is_empty());
    }
}

pub(crate) async fn what_is_not_in_use_is_shown_to_nobody(store: &dyn MemoryStore) {
    for &status in Status::ALL {
        let memory = Memory { status, ..note("alice", status.name(), "cat") };
        store.store(memory, vec![embedding(0, [1.0, 0.0, 0.0, 0.0])], &write()).await.unwrap();
    }
    for (name, end) in [("ends now", 0), ("ended", -1), ("ends", 1)] {
        let expires_at = Some(now() + SignedDuration::from_micros(end));
        let memory = Memory { expires_at, ..note("alice", name, "cat") };
        store.store(memory, vec![embedding(0, [1.0, 0.0, 0.0, 0.0])], &write()).await.unwrap();
    }
    let in_use = ["active", "ends", "review"];
    for search in [search("alice"), words("alice", "cat"), near("alice", [1.0, 0.0, 0.0, 0.0])] {
        assert_eq!(sorted(&store.retrieve(&search).await.unwrap()), in_use);
    }
    let superseded = store.get(&owner("alice"), &id("superseded"), now()).await.unwrap();
    assert_eq!(superseded.status, Status::Superseded);
    for name in ["ended", "ends now"] {
        let expired = store.get(&owner("alice"), &id(name), now()).await;
        assert!(matches!(expired, Err(StoreError::NotFound)), "{expired:?}");
    }
    // Words of expired memories do not make a word more common.
    store.forget(&owner("alice"), &id("ended"), &write()).await.unwrap();
    let before = store.retrieve(&words("alice", "cat")).await.unwrap();
    store.forget(&owner("alice"), &id("ends now"), &write()).await.unwrap();
    store.forget(&owner("alice"), &id("archived"), &write()).await.unwrap();
    let after = store.retrieve(&words("alice", "cat")).await.unwrap();
    assert_eq!(before[0].lexical, after[0].lexical);
}

pub(crate) async fn what_cannot_be_stored_is_refused_by_field(store: &dyn MemoryStore) {
    let refuse = async |memory: Memory, vectors: Vec<Embedding>, expected: &str| match store
        .store(memory, vectors, &write())
        .await
    {
        Err(StoreError::Invalid { field, cause }) => assert_eq!(field, expected, "{cause}"),
        other => panic!("{expected}: {other:?}"),
    };
    let good = note("alice", "m", "x");
    let vector =
        |part, values: &[f32]| Embedding { space: SPACE.into(), part, values: values.into() };
    refuse(Memory { content: String::new(), ..good.clone() }, vec![], "content").await;
    let long = "x".repeat(crate::MAX_CONTENT_BYTES + 1);
    refuse(Memory { content: long, ..good.clone() }, vec![], "content").await;
    refuse(Memory { reply: Some("x".into()), ..good.clone() }, vec![], "reply").await;
    for kind in [MemoryKind::Preference, MemoryKind::Wish] {
        refuse(Memory { kind, ..good.clone() }, vec![], "structured").await;
    }
    refuse(Memory { id: id(""), ..good.clone() }, vec![], "id").await;
    refuse(Memory { id: id("a\nb"), ..good.clone() }, vec![], "id").await;
    refuse(Memory { memory_type: MemoryType::new(""), ..good.clone() }, vec![], "type").await;
    for importance in [-0.1, 1.1, f32::NAN] {
        refuse(Memory { importance, ..good.clone() }, vec![], "importance").await;
    }
    refuse(Memory { confidence: Some(2.0), ..good.clone() }, vec![], "confidence").await;
    for name in ["", " ", "a\0b", &"x".repeat(MAX_NAME_BYTES + 1)] {
        let mentions = vec![mention(name, None)];
        refuse(Memory { mentions, ..good.clone() }, vec![], "mentions").await;
        let mentions = vec![mention("Ana", Some(name))];
        refuse(Memory { mentions, ..good.clone() }, vec![], "mentions").await;
        for related in
            [relation(name, "x", "y"), relation("x", name, "y"), relation("x", "y", name)]
        {
            let entity_relations = vec![related];
            refuse(Memory { entity_relations, ..good.clone() }, vec![], "entity_relations").await;
        }
    }
    let mentions = vec![mention("Ana", None); MAX_MENTIONS + 1];
    refuse(Memory { mentions, ..good.clone() }, vec![], "mentions").await;
    let entity_relations = vec![relation("x", "y", "z"); MAX_ENTITY_RELATIONS + 1];
    refuse(Memory { entity_relations, ..good.clone() }, vec![], "entity_relations").await;
    refuse(good.clone(), vec![vector(0, &[])], "vectors").await;
    refuse(good.clone(), vec![vector(0, &[f32::NAN])], "vectors").await;
    refuse(good.clone(), vec![vector(0, &[1.0]), vector(0, &[1.0])], "vectors").await;
    refuse(good.clone(), vec![vector(1, &[1.0])], "vectors").await;
    assert!(store.retrieve(&search("alice")).await.unwrap().is_empty());
}

pub(crate) async fn strange_ids_and_texts_are_kept_as_they_are(store: &dyn MemoryStore) {
    let strange = [
        "auth0|123",
        "a+b@x.org",
        "'; DROP TABLE memories; --",
        "\"quoted\"",
        "back\\slash",
        "%",
        "_",
        "a/b",
        "a%2Fb",
        "🦀🏳️‍🌈",
        "é",
        "e\u{301}",
        "İ",
        "نص",
        " ",
        "null",
        "${x}",
        "{{x}}",
        "\u{202E}rtl",
    ];
    // Each user has a quarter of the names: a write takes some servers a tenth of a second.
    let names = |of: usize| strange.into_iter().enumerate().skip(of % 4).step_by(4);
    for (of, user) in strange.into_iter().enumerate() {
        for (n, name) in names(of) {
            let mut memory = note(user, name, &format!("{name} of {user}"));
            memory.project_id = Some(name.into());
            memory.created_at = at(n.try_into().unwrap());
            memory.tags = vec![name.into()];
            store.store(memory, vec![], &write()).await.unwrap();
        }
    }
    for (of, user) in strange.into_iter().enumerate() {
        let listed = store.retrieve(&Search { limit: 100, ..search(user) }).await.unwrap();
        let mut expected: Vec<_> = names(of).map(|(_, name)| name).collect();
        expected.reverse();
        assert_eq!(ids(&listed), expected, "{user}");
        let mut one = ScopeQuery::of(owner(user));
        one.projects = Within::Shared("_".into());
        let found = store.retrieve(&Search { scopes: vec![one], ..search(user) }).await.unwrap();
        expected.retain(|name| *name == "_");
        assert_eq!(ids(&found), expected);
        let content = format!("_ of {user}");
        assert!(found.iter().all(|it| it.memory.content == content), "{user}");
    }
}

pub(crate) async fn a_closed_store_says_so(store: &dyn MemoryStore) {
    store.check().await.unwrap();
    assert!(store.is_enabled());
    store.close().await;
    assert!(!store.is_enabled());
    let results = [
        store.check().await.err(),
        store.retrieve(&search("alice")).await.err(),
        store.store(note("alice", "m", "x"), vec![], &write()).await.err(),
    ];
    for error in results {
        assert!(matches!(error, Some(StoreError::Unavailable(_))), "{error:?}");
    }
}
