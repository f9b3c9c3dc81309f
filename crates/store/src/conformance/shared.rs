//! Searches of what others share: who finds it, in every haystack and at every moment, and who never does.

use futures_util::future::join_all;

use super::*;
use crate::owner_documents::MAX_SHARED;
use memgate_core::memory::{
    Filter, MemoryStore, MetadataTest, Reader, SharedScope, Status, StoreError, Visibility, Within,
};

const EAST: [f32; 4] = [1.0, 0.0, 0.0, 0.0];
const NORTH: [f32; 4] = [0.0, 1.0, 0.0, 0.0];

fn in_tenant(tenant: &str, user: &str) -> Owner {
    Owner::new(tenant, user).unwrap()
}

fn to(users: &[&str], roles: &[&str]) -> Visibility {
    let [users, roles] =
        [users, roles].map(|names| names.iter().map(|&name| name.to_owned()).collect());
    Visibility::Shared { users, roles }
}

/// A search of the reader through what others share.
fn shared(reader: &Owner, roles: &[&str], agent: Option<&str>) -> Search {
    let roles = roles.iter().map(|&role| role.to_owned()).collect();
    let reader = Reader { owner: reader.clone(), roles, agent: agent.map(str::to_owned) };
    let scope = SharedScope { reader, projects: Within::All, types: Vec::new() };
    Search { scopes: Vec::new(), shared: Some(scope), ..search("nobody") }
}

async fn put(store: &dyn MemoryStore, owner: &Owner, name: &str, visibility: Visibility) -> Memory {
    let memory = Memory {
        owner: owner.clone(),
        visibility,
        ..note("nobody", name, &format!("olive {name}"))
    };
    store.store(memory, vec![embedding(0, EAST)], &write()).await.unwrap()
}

/// The ids that a search finds by words, by its vector, and newest first; the same each time.
async fn found(store: &dyn MemoryStore, search: &Search) -> Vec<String> {
    let by_words = Search { text: Some("olive".into()), ..search.clone() };
    let by_vector = Search { vector: Some(query(EAST)), ..search.clone() };
    let ids = async |search: &Search| -> Vec<String> {
        let found = store.retrieve(search).await.unwrap();
        sorted(&found).into_iter().map(str::to_owned).collect()
    };
    let (words, vector, newest) = (ids(&by_words).await, ids(&by_vector).await, ids(search).await);
    assert_eq!(words, vector);
    assert_eq!(words, newest);
    words
}

pub(crate) async fn what_is_shared_is_found_by_those_it_is_shared_with(store: &dyn MemoryStore) {
    let alice = in_tenant("t", "alice");
    let spaces = [
        alice.clone(),
        Owner::organisation("t").unwrap(),
        Owner::agent("t", "bot").unwrap(),
        Owner::session("t", "s").unwrap(),
    ];
    for (space, prefix) in spaces.iter().zip(["alice", "org", "bot", "session"]) {
        put(store, space, &format!("{prefix} private"), Visibility::Private).await;
        put(store, space, &format!("{prefix} to bob"), to(&["bob", "%"], &[])).await;
        put(store, space, &format!("{prefix} to hr"), to(&[], &["hr"])).await;
        put(store, space, &format!("{prefix} public"), Visibility::Public).await;
    }
    put(store, &in_tenant("t2", "alice"), "other tenant", Visibility::Public).await;
    put(store, &in_tenant("t/", "alice"), "tenant with a slash", Visibility::Public).await;
    let of = |names: &[&str]| -> Vec<String> {
        let mut names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        names.sort_unstable();
        names
    };
    let public = ["alice public", "org public"];
    let bob = in_tenant("t", "bob");
    for (reader, roles, agent, expected) in [
        (&bob, &[][..], None, of(&[&public[..], &["alice to bob", "org to bob"]].concat())),
        (
            &bob,
            &["dev", "hr"],
            Some("bot"),
            of(&[
                &public[..],
                &["alice to bob", "org to bob", "alice to hr", "org to hr"],
                &["bot to bob", "bot to hr", "bot public"],
            ]
            .concat()),
        ),
        (&in_tenant("t", "carol"), &["HR", "bob"], Some("bots"), of(&public)),
        (&in_tenant("t", "_"), &[], None, of(&public)),
        // One's own is not among what others share.
        (&alice, &["hr"], None, of(&["org public", "org to hr"])),
        (&in_tenant("t2", "bob"), &["hr"], Some("bot"), of(&["other tenant"])),
        (&in_tenant("t/", "bob"), &["hr"], None, of(&["tenant with a slash"])),
        (&in_tenant("T", "bob"), &["hr"], None, of(&[])),
    ] {
        let search = Search { limit: 50, ..shared(reader, roles, agent) };
        assert_eq!(found(store, &search).await, expected, "{roles:?} {agent:?}");
    }
}

pub(crate) async fn an_owner_who_shares_thousands_hides_nobody_elses_memories(
    store: &dyn MemoryStore,
) {
    let write = write();
    for (tenant, flooding) in [("t", 0), ("u", 1)] {
        let owners = [
            in_tenant(tenant, "mallory"),
            Owner::organisation(tenant).unwrap(),
            Owner::agent(tenant, "bot").unwrap(),
            in_tenant(tenant, "carol"),
            in_tenant(tenant, "%organisation"),
        ];
        let flood = (0..MAX_SHARED + 8).map(|n| {
            let memory = Memory {
                owner: owners[flooding].clone(),
                visibility: Visibility::Public,
                created_at: Timestamp::MAX,
                ..note("nobody", &format!("flood {n}"), "olive flood")
            };
            store.store(memory, vec![embedding(0, EAST)], &write)
        });
        for stored in join_all(flood).await {
            stored.unwrap();
        }
        let mut expected = Vec::new();
        for (at, owner) in owners.iter().enumerate().filter(|(at, _)| *at != flooding) {
            put(store, owner, &at.to_string(), Visibility::Public).await;
            expected.push(at.to_string());
        }
        let reader = in_tenant(tenant, "bob");
        let search = Search { limit: 1_000, ..shared(&reader, &[], Some("bot")) };
        let found = found(store, &search).await;
        let (flood, others): (Vec<String>, _) =
            found.into_iter().partition(|id| id.starts_with("flood"));
        assert_eq!(others, expected, "{:?}", owners[flooding]);
        assert_eq!(flood.len(), MAX_SHARED - expected.len(), "the other places are not empty");
    }
}

pub(crate) async fn what_is_taken_back_is_shared_no_longer(store: &dyn MemoryStore) {
    let (alice, bob) = (in_tenant("t", "alice"), in_tenant("t", "bob"));
    let search = shared(&bob, &[], None);
    let memory = put(store, &alice, "m", Visibility::Private).await;
    assert!(found(store, &search).await.is_empty());
    let change = async |memory: Memory, visibility: Visibility, status: Status| {
        let memory = Memory { visibility, status, ..memory };
        store.update(memory, None, &write()).await.unwrap()
    };
    let (public, active) = (Visibility::Public, Status::Active);
    let memory = change(memory, public.clone(), active).await;
    assert_eq!(found(store, &search).await, ["m"]);
    let memory = change(memory, to(&["carol"], &["hr"]), active).await;
    assert!(found(store, &search).await.is_empty());
    let memory = change(memory, to(&["bob"], &[]), active).await;
    assert_eq!(found(store, &search).await, ["m"]);
    let memory = change(memory, to(&["bob"], &[]), Status::Superseded).await;
    assert!(found(store, &search).await.is_empty());
    let memory = change(memory, public.clone(), active).await;
    assert_eq!(found(store, &search).await, ["m"]);
    let memory = change(memory, Visibility::Private, active).await;
    assert!(found(store, &search).await.is_empty());
    let memory = change(memory, public, active).await;
    assert_eq!(found(store, &search).await, ["m"]);
    store.forget(&alice, &memory.id, &write()).await.unwrap();
    assert!(found(store, &search).await.is_empty());
}

pub(crate) async fn what_is_shared_is_searched_apart_and_beside_ones_own(store: &dyn MemoryStore) {
    let (alice, bob) = (in_tenant("t", "alice"), in_tenant("t", "bob"));
    for n in 0..5 {
        put(store, &alice, &format!("hers {n}"), Visibility::Public).await;
    }
    let own = note("nobody", "his", "olive");
    let own = Memory { owner: bob.clone(), ..own };
    store.store(own, vec![embedding(0, NORTH)], &write()).await.unwrap();
    let words = |search: Search| Search { text: Some("olive".into()), ..search };
    let alone = words(Search { scopes: vec![ScopeQuery::of(bob.clone())], ..search("nobody") });
    let before = store.retrieve(&alone).await.unwrap();
    assert_eq!(ids(&before), ["his"]);
    let both = Search { scopes: alone.scopes.clone(), ..words(shared(&bob, &[], None)) };
    let found = store.retrieve(&both).await.unwrap();
    assert_eq!(sorted(&found), ["hers 0", "hers 1", "hers 2", "hers 3", "hers 4", "his"]);
    let his = found.iter().find(|found| found.memory.id.as_str() == "his").unwrap();
    assert_eq!(his.lexical, before[0].lexical, "statistics are the haystack's own");
    let few = Search { limit: 2, ..words(shared(&bob, &[], None)) };
    assert_eq!(store.retrieve(&few).await.unwrap().len(), 2);
    let few = Search { limit: 1, vector: Some(query(EAST)), ..both };
    let found = store.retrieve(&few).await.unwrap();
    let of_his = found.iter().filter(|found| found.memory.owner == bob).count();
    assert_eq!((of_his, found.len()), (1, 2), "neither takes the other's places");
}

pub(crate) async fn what_is_not_shared_with_a_reader_changes_no_score(store: &dyn MemoryStore) {
    let (alice, bob) = (in_tenant("t", "alice"), in_tenant("t", "bob"));
    put(store, &alice, "public", Visibility::Public).await;
    let search = Search { text: Some("olive".into()), ..shared(&bob, &["hr"], None) };
    let before = store.retrieve(&search).await.unwrap();
    assert_eq!(ids(&before), ["public"]);
    for n in 0..5 {
        put(store, &alice, &format!("private {n}"), Visibility::Private).await;
        put(store, &alice, &format!("to carol {n}"), to(&["carol"], &["dev"])).await;
        let coach = Owner::agent("t", "coach").unwrap();
        put(store, &coach, &format!("of another agent {n}"), Visibility::Public).await;
    }
    let after = store.retrieve(&search).await.unwrap();
    assert_eq!(after[0].lexical, before[0].lexical);
    assert_eq!(ids(&after), ["public"]);
}

pub(crate) async fn what_nobody_could_read_is_not_shared(store: &dyn MemoryStore) {
    for (visibility, field) in [
        (to(&[], &[]), "visibility"),
        (to(&["a\nb"], &[]), "visibility.users"),
        (to(&[], &["\0"]), "visibility.roles"),
        (to(&[], &["r"; 65]), "visibility.roles"),
    ] {
        let memory = Memory { visibility, ..note("alice", "m", "olive") };
        match store.store(memory, Vec::new(), &write()).await {
            Err(StoreError::Invalid { field: refused, .. }) => assert_eq!(refused, field),
            outcome => panic!("{outcome:?}"),
        }
    }
}

pub(crate) async fn what_is_shared_is_narrowed_like_ones_own(store: &dyn MemoryStore) {
    let organisation = Owner::organisation("t").unwrap();
    for (name, project, kind, room) in [
        ("of p", Some("p"), "semantic", "a"),
        ("of q", Some("q"), "semantic", "b"),
        ("of none", None, "procedural", "a"),
    ] {
        let mut memory = note("nobody", name, &format!("olive {name}"));
        memory.owner = organisation.clone();
        memory.visibility = Visibility::Public;
        memory.project_id = project.map(str::to_owned);
        memory.memory_type = MemoryType::new(kind);
        memory.metadata.insert("room".into(), room.into());
        memory.mentions = vec![mention(&format!("Tree {room}"), None)];
        store.store(memory, vec![embedding(0, EAST)], &write()).await.unwrap();
    }
    let bob = in_tenant("t", "bob");
    let narrowed = |projects: Within, types: &[&str], filter: Option<Filter>| {
        let mut search = shared(&bob, &[], None);
        let scope = search.shared.as_mut().unwrap();
        scope.projects = projects;
        scope.types = types.iter().map(|&name| name.to_owned()).collect();
        Search { filter, ..search }
    };
    let in_room = Filter::Metadata(MetadataTest { key: "room".into(), equals: "a".into() });
    for (search, expected) in [
        (narrowed(Within::None, &[], None), &["of none"][..]),
        (narrowed(Within::Shared("p".into()), &[], None), &["of none", "of p"]),
        (narrowed(Within::All, &["semantic"], None), &["of p", "of q"]),
        (narrowed(Within::All, &[], Some(in_room)), &["of none", "of p"]),
        (narrowed(Within::All, &[], Some(Filter::Entity("tree A".into()))), &["of none", "of p"]),
        (narrowed(Within::All, &[], Some(Filter::Text("OF Q".into()))), &["of q"]),
    ] {
        assert_eq!(found(store, &search).await, expected, "{search:?}");
    }
    let expired = narrowed(Within::All, &[], None);
    let mut memory = store.get(&organisation, &id("of q"), now()).await.unwrap();
    memory.expires_at = Some(at(10));
    store.update(memory, None, &write()).await.unwrap();
    assert_eq!(found(store, &expired).await, ["of none", "of p"]);
}

pub(crate) async fn what_expires_can_be_kept_longer_together(store: &dyn MemoryStore) {
    let session = Owner::session("t", "s").unwrap();
    for (owner, name, end) in [
        (&session, "early", Some(at(10))),
        (&session, "late", Some(at(500))),
        (&session, "for ever", None),
        (&in_tenant("t", "alice"), "hers", Some(at(10))),
    ] {
        let memory = note("nobody", name, "olive");
        let memory = Memory { owner: owner.clone(), expires_at: end, ..memory };
        store.store(memory, Vec::new(), &write()).await.unwrap();
    }
    let seen = async |owner: &Owner, seconds: i64| -> Vec<String> {
        let scopes = vec![ScopeQuery::of(owner.clone())];
        let search = Search { scopes, now: at(seconds), ..words("nobody", "olive") };
        let found = store.retrieve(&search).await.unwrap();
        sorted(&found).into_iter().map(str::to_owned).collect()
    };
    assert_eq!(seen(&session, 20).await, ["for ever", "late"]);
    store.keep_until(&session, at(100), at(20)).await.unwrap();
    assert_eq!(seen(&session, 20).await, ["for ever", "late"], "what has expired stays so");
    store.keep_until(&session, at(100), at(5)).await.unwrap();
    assert_eq!(seen(&session, 20).await, ["early", "for ever", "late"]);
    assert_eq!(seen(&session, 100).await, ["for ever", "late"]);
    assert_eq!(seen(&session, 499).await, ["for ever", "late"], "it is never made shorter");
    assert_eq!(seen(&session, 500).await, ["for ever"]);
    assert!(seen(&in_tenant("t", "alice"), 20).await.is_empty());
    let early = store.get(&session, &id("early"), at(20)).await.unwrap();
    assert_eq!((early.version, early.expires_at), (1, Some(at(100))));
    store.keep_until(&Owner::session("t", "none").unwrap(), at(100), at(5)).await.unwrap();
}

pub(crate) async fn the_spaces_of_one_name_are_different_owners(store: &dyn MemoryStore) {
    let owners = [
        in_tenant("t", "bot"),
        Owner::agent("t", "bot").unwrap(),
        Owner::session("t", "bot").unwrap(),
        Owner::organisation("t").unwrap(),
        in_tenant("t", "organisation"),
        in_tenant("t", "%organisation"),
        in_tenant("t", "%agent:bot"),
    ];
    for (n, owner) in owners.iter().enumerate() {
        put(store, owner, "m", Visibility::Private).await;
        let mut memory = store.get(owner, &id("m"), now()).await.unwrap();
        memory.content = format!("olive number {n}");
        store.update(memory, None, &write()).await.unwrap();
    }
    for (n, owner) in owners.iter().enumerate() {
        let scope =
            Search { scopes: vec![ScopeQuery::of(owner.clone())], ..words("nobody", "olive") };
        let found = store.retrieve(&scope).await.unwrap();
        let contents: Vec<&str> = found.iter().map(|found| &*found.memory.content).collect();
        assert_eq!(contents, [format!("olive number {n}")]);
        assert_eq!(found[0].memory.owner, *owner);
        let all = store.scan(Some(owner), None, 10).await.unwrap().found;
        assert!(all.len() == 1 && all[0].memory.owner == *owner);
    }
    store.forget(&owners[1], &id("m"), &write()).await.unwrap();
    let left = store.scan(None, None, 100).await.unwrap().found;
    assert_eq!(left.len(), owners.len() - 1);
}
