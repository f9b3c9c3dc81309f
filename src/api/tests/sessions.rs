//! The turns of a session, and what was learned from each.

use crate::api::tests::{learning::turn_in, records::in_query, *};
use memgate_core::memory::{Actor, MemoryId, Status, Write};

#[tokio::test]
async fn a_deletion_by_filter_erases_the_turns_too() {
    let server = Server::start().await;
    server.talk_in("s", "u").await;
    server.post("/v1/memory/flush", json!({"user_id": "u"})).await;
    assert_eq!(
        server.get("/v1/sessions/s/turns?user_id=u").await.1["turns"].as_array().unwrap().len(),
        1
    );
    let path = format!("/v1/memory?user_id=u&{}", in_query(&json!({"text": "Lyon"})));
    assert!(server.delete(&path).await.1["deleted"].as_u64().unwrap() > 0);
    // A session without turns is no session.
    let gone = server.get("/v1/sessions/s/turns?user_id=u").await;
    assert_eq!(error(&gone), (404, "not_found", None));
    server.stop().await;
}

#[tokio::test]
async fn a_session_shows_its_turns_and_what_was_learned_from_each() {
    let server = Server::start().await;
    server.talk_in("s", "u").await;
    server.talk_in("other", "u").await;
    server.post("/v1/memory/flush", json!({"user_id": "u"})).await;
    let (status, page) = server.get("/v1/sessions/s/turns?user_id=u").await;
    assert_eq!(status, StatusCode::OK, "{page}");
    let turns = page["turns"].as_array().unwrap();
    assert_eq!((turns.len(), &page["next_cursor"]), (1, &Value::Null));
    assert_eq!(turns[0]["user"], "I moved to Lyon last week");
    assert_eq!(turns[0]["assistant"], "I see.");
    let learned = turns[0]["learned"].as_array().unwrap();
    assert!(
        !learned.is_empty() && learned.iter().all(|memory| memory["session_id"] == "s"),
        "{page}"
    );
    let id = turns[0]["id"].as_str().unwrap();
    assert_eq!(server.get(&format!("/v1/turns/{id}?user_id=u")).await.0, StatusCode::OK);
    for path in ["/v1/sessions/s/turns?user_id=v", "/v1/sessions/x/turns?user_id=u"] {
        assert_eq!(error(&server.get(path).await), (404, "not_found", None), "{path}");
    }
    let refused = server.get("/v1/sessions/s/turns?user_id=u&limit=0").await;
    assert_eq!(error(&refused), (400, "invalid_value", Some("limit")));
    server.stop().await;
}

#[tokio::test]
async fn a_turn_with_a_forgotten_memory_is_hidden_and_older_ones_are_reached() {
    let server = Server::start().await;
    server.talk(turn_in("s", "u", 1, "I moved to Lyon last week"));
    server.talk(turn_in("s", "u", 2, "My cat is called Mia"));
    server.post("/v1/memory/flush", json!({"user_id": "u"})).await;
    let path = "/v1/sessions/s/turns?user_id=u&limit=1";
    let (_, page) = server.get(path).await;
    let newest = &page["turns"][0];
    assert_eq!(newest["user"], "My cat is called Mia", "{page}");
    let store = &server.operations.store;
    let (owner, now) = (Owner::of_user("u").unwrap(), server.operations.clock.now());
    for memory in newest["learned"].as_array().unwrap() {
        let id = MemoryId::from_outside(memory["id"].as_str().unwrap());
        let mut memory = store.get(&owner, &id, now).await.unwrap();
        memory.status = Status::Forgotten;
        store.update(memory, None, &Write::by(Actor::Api, "test")).await.unwrap();
    }
    let (_, page) = server.get(path).await;
    assert_eq!(page["turns"], json!([]));
    let cursor = page["next_cursor"].as_str().unwrap();
    let (_, page) = server.get(&format!("{path}&cursor={cursor}")).await;
    assert_eq!(page["turns"][0]["user"], "I moved to Lyon last week");
    server.stop().await;
}
