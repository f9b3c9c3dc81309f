//! Mentions and relations of entities.

use crate::conformance::*;
use memgate_core::memory::{Filter, ForgetScope, ListQuery, MemoryStore};

/// A memory that mentions these entities.
fn about(user: &str, name: &str, entities: &[&str]) -> Memory {
    let mentions = entities.iter().map(|entity| mention(entity, None)).collect();
    Memory { mentions, ..note(user, name, "x") }
}

/// Sorted ids of a user's memories that match a filter; lists, searches and counts must agree.
async fn found(store: &dyn MemoryStore, user: &str, filter: Filter) -> Vec<String> {
    let scope = ScopeQuery::of(owner(user));
    let query = ListQuery {
        scope: scope.clone(),
        filter: Some(filter.clone()),
        limit: 100,
        cursor: None,
        now: now(),
    };
    let page = store.list(&query).await.unwrap();
    let mut listed: Vec<String> = page.memories.iter().map(|m| m.id.to_string()).collect();
    listed.sort();
    for search in [search(user), words(user, "x")] {
        let search = Search { filter: Some(filter.clone()), limit: 100, ..search };
        assert_eq!(sorted(&store.retrieve(&search).await.unwrap()), listed, "{filter:?}");
    }
    let counts = store.count(&scope, Some(&filter), SPACE, now()).await.unwrap();
    assert_eq!(counts.total, listed.len() as u64, "{filter:?}");
    listed
}

async fn naming(store: &dyn MemoryStore, user: &str, name: &str) -> Vec<String> {
    found(store, user, Filter::Entity(name.into())).await
}

pub(crate) async fn an_entity_is_found_however_its_name_is_spelt(store: &dyn MemoryStore) {
    for (name, entities) in [
        ("a", &["Ana", "New  York"][..]),
        ("b", &["ANA"]),
        ("c", &["Anna", "José"]),
        ("d", &["Groß", "ΟΔΥΣΣΕΥΣ"]),
        ("e", &[]),
    ] {
        store.store(about("alice", name, entities), vec![], &write()).await.unwrap();
    }
    let mut related = note("alice", "f", "x");
    related.entity_relations = vec![relation("Ana", "works_at", "Ｈelio")];
    store.store(related, vec![], &write()).await.unwrap();
    for (name, expected) in [
        ("ana", &["a", "b", "f"][..]),
        (" Ana\n", &["a", "b", "f"]),
        ("new york", &["a"]),
        ("New\u{a0}York", &["a"]),
        ("York", &[]),
        ("Jose\u{301}", &["c"]),
        ("Jose", &[]),
        ("GROSS", &["d"]),
        ("Οδυσσευς", &["d"]),
        ("helio", &["f"]),
        ("works_at", &[]),
        ("", &[]),
    ] {
        assert_eq!(naming(store, "alice", name).await, expected, "{name}");
    }
    let ana = || Filter::Entity("Ana".into());
    let not = Filter::Not(Box::new(ana()));
    assert_eq!(found(store, "alice", not).await, ["c", "d", "e"]);
    let both = Filter::And(vec![ana(), Filter::Entity("new york".into())]);
    assert_eq!(found(store, "alice", both).await, ["a"]);
    let either = Filter::Or(vec![Filter::Entity("josé".into()), Filter::Entity("helio".into())]);
    assert_eq!(found(store, "alice", either).await, ["c", "f"]);
}

pub(crate) async fn hostile_names_are_names(store: &dyn MemoryStore) {
    let hostile = [
        "x' OR '1'='1",
        "'; DROP TABLE entities; --",
        "\"Ana\"",
        "%",
        "_",
        "*",
        "a\\",
        "null",
        "${x}",
        "🦀🏳️‍🌈",
        "\u{202E}anA",
        "نص",
        "预算",
    ];
    for name in hostile {
        store.store(about("alice", name, &[name, "all"]), vec![], &write()).await.unwrap();
    }
    for name in hostile {
        assert_eq!(naming(store, "alice", name).await, [name]);
    }
    assert_eq!(naming(store, "alice", "ALL").await.len(), hostile.len());
}

pub(crate) async fn an_update_replaces_mentions_and_history_keeps_the_old(store: &dyn MemoryStore) {
    let mut first = about("alice", "m", &["Ana", "Rex"]);
    first.entity_relations = vec![relation("Rex", "dog_of", "Ana")];
    let first = store.store(first, vec![], &write()).await.unwrap();
    store.store(about("alice", "other", &["Ana"]), vec![], &write()).await.unwrap();
    let second = Memory {
        mentions: vec![mention("Rex", Some("pet")), mention("Lyon", Some("place"))],
        entity_relations: vec![relation("Rex", "lives_in", "Lyon")],
        ..first.clone()
    };
    let second = store.update(second, None, &write()).await.unwrap();
    assert_eq!(naming(store, "alice", "Ana").await, ["other"]);
    assert_eq!(naming(store, "alice", "Rex").await, ["m"]);
    assert_eq!(naming(store, "alice", "Lyon").await, ["m"]);
    let third = Memory { content: "x y".into(), ..second.clone() };
    let third = store.update(third, None, &write()).await.unwrap();
    assert_eq!(naming(store, "alice", "Rex").await, ["m"]);
    let fourth = Memory { mentions: vec![], entity_relations: vec![], ..third.clone() };
    let fourth = store.update(fourth, None, &write()).await.unwrap();
    assert!(naming(store, "alice", "Rex").await.is_empty());
    let history = store.history(&owner("alice"), &id("m")).await.unwrap();
    assert_eq!(history, [fourth, third, second, first]);
}

pub(crate) async fn an_entity_of_one_owner_is_unknown_to_all_others(store: &dyn MemoryStore) {
    for user in ["alice", "bob"] {
        store.store(about(user, user, &["Ana"]), vec![], &write()).await.unwrap();
    }
    store.store(about("bob", "his", &["Rex"]), vec![], &write()).await.unwrap();
    assert_eq!(naming(store, "alice", "Ana").await, ["alice"]);
    assert_eq!(naming(store, "bob", "Ana").await, ["bob"]);
    assert!(naming(store, "alice", "Rex").await.is_empty());
    let both = Search {
        scopes: vec![ScopeQuery::of(owner("alice")), ScopeQuery::of(owner("bob"))],
        shared: None,
        filter: Some(Filter::Entity("rex".into())),
        ..words("alice", "x")
    };
    assert_eq!(ids(&store.retrieve(&both).await.unwrap()), ["his"]);
    store.forget(&owner("alice"), &id("alice"), &write()).await.unwrap();
    assert_eq!(naming(store, "bob", "Ana").await, ["bob"]);
}

pub(crate) async fn nothing_is_left_of_an_entity_that_is_forgotten(store: &dyn MemoryStore) {
    let project = |memory: Memory, project: &str| Memory {
        project_id: Some(project.into()),
        entity_relations: vec![relation("Rex", "dog_of", "Ana")],
        ..memory
    };
    let all = async || {
        for (name, inside) in [("a", "p"), ("b", "p"), ("c", "q")] {
            let memory = project(about("alice", name, &["Ana", "Lyon"]), inside);
            store.store(memory, vec![], &write()).await.unwrap();
        }
    };
    all().await;
    store.forget(&owner("alice"), &id("a"), &write()).await.unwrap();
    for name in ["Ana", "Rex", "Lyon"] {
        assert_eq!(naming(store, "alice", name).await, ["b", "c"]);
    }
    let scope = |project: Option<&str>| ForgetScope {
        owner: owner("alice"),
        project_id: project.map(str::to_owned),
    };
    store.forget_by_scope(&scope(Some("p")), &write()).await.unwrap();
    assert_eq!(naming(store, "alice", "Rex").await, ["c"]);
    store.forget_by_scope(&scope(None), &write()).await.unwrap();
    assert!(naming(store, "alice", "Rex").await.is_empty());
    // Leftovers would match these.
    all().await;
    assert_eq!(naming(store, "alice", "Rex").await, ["a", "b", "c"]);
    store.store(note("alice", "plain", "x"), vec![], &write()).await.unwrap();
    assert_eq!(naming(store, "alice", "Ana").await, ["a", "b", "c"]);
    store.clear(&write()).await.unwrap();
    assert!(naming(store, "alice", "Ana").await.is_empty());
}
