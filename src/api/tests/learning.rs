use jiff::{SignedDuration, Timestamp, tz::TimeZone};

use crate::api::tests::*;
use memgate_capture::{Circumstances, FinishedTurn};
use memgate_core::{
    clock::Clock,
    memory::{Actor, Memory, MemoryId, MemoryType, Owner, Source, Write},
};
use memgate_dialect::{Ask, Ending, Reply};

/// A completed exchange of `user` in a session.
pub(super) fn turn_in(session: &str, user: &str, number: u32, said: &str) -> FinishedTurn {
    turn_of(None, session, user, number, said)
}

fn turn_of(
    request_id: Option<&str>,
    session: &str,
    user: &str,
    number: u32,
    said: &str,
) -> FinishedTurn {
    let ask = Ask { user_text: Some(said.into()), user_ordinal: number, ..Ask::default() };
    let reply = Reply {
        response_id: None,
        model: None,
        text: "I see.".into(),
        refusal: None,
        tool_calls: Vec::new(),
        outcome: Ending::Complete,
        usage: None,
        items: Vec::new(),
    };
    let now = Clock::System.now();
    let of = Circumstances {
        owner: Owner::of_user(user).unwrap(),
        project_id: None,
        agent_id: None,
        session_header: Some(session.into()),
        ends_session: false,
        learn: true,
        request_id: request_id.map(str::to_owned),
        began: now,
        ended: now,
        zone: TimeZone::UTC,
    };
    FinishedTurn::new(&ask, reply, of).unwrap()
}

fn turn(user: &str, number: u32, said: &str) -> FinishedTurn {
    turn_in("s", user, number, said)
}

impl Server {
    pub(super) fn talk(&self, turn: FinishedTurn) {
        let capture = &self.operations.capture;
        capture.offer(turn, capture.exchange_begins());
    }

    /// Offers a turn of a request.
    pub(super) fn talk_of(&self, request_id: &str, user: &str, said: &str) {
        self.talk(turn_of(Some(request_id), "s", user, 1, said));
    }

    /// Stores a turn in the journal, in this session.
    pub(super) async fn talk_in(&self, session: &str, user: &str) {
        self.talk(turn_in(session, user, 1, "I moved to Lyon last week"));
        // Ending a session waits for all turns offered before.
        let nobody = Owner::of_user("nobody").unwrap();
        self.operations.capture.end_session(&nobody, "none").await.unwrap();
    }

    async fn flush(&self, user: &str) -> Value {
        let (status, flushed) = self.post("/v1/memory/flush", json!({"user_id": user})).await;
        assert_eq!(status, StatusCode::OK, "{flushed}");
        flushed
    }

    async fn memories(&self, user: &str) -> Vec<Value> {
        let (_, page) = self.get(&format!("/v1/memory?user_id={user}")).await;
        page["memories"].as_array().unwrap().clone()
    }
}

#[tokio::test]
async fn a_flush_stores_memories_and_ends_the_sessions() {
    let server = Server::start().await;
    server.talk(turn("u", 1, "my budget is $10,000"));
    server.talk(turn("v", 1, "nothing to do with u"));
    let flushed = server.flush("u").await;
    assert_eq!(flushed["sessions_ended"], 1);
    assert_eq!(flushed["jobs_pending"], 0);
    assert_eq!(flushed["jobs_dead"], 0);
    assert!(flushed["jobs_done"].is_number());
    let memories = server.memories("u").await;
    let turns: Vec<_> = memories.iter().filter(|memory| memory["type"] == "episodic").collect();
    assert_eq!(turns.len(), 1);
    assert!(memories[0]["content"].as_str().unwrap().contains("$10,000"));
    assert_eq!(memories[0]["session_id"], "s");
    let too_long = json!({"user_id": "u", "timeout_ms": 600_001});
    let answer = server.post("/v1/memory/flush", too_long).await;
    assert_eq!(error(&answer), (400, "invalid_value", Some("timeout_ms")));
    server.stop().await;
}

#[tokio::test]
async fn ending_a_session_returns_its_turns_and_another_users_is_404() {
    let server = Server::start().await;
    server.talk(turn("u", 1, "one"));
    server.talk(turn("u", 2, "two"));
    let end = |user: &str| server.post("/v1/sessions/s/end", json!({"user_id": user}));
    assert_eq!(error(&end("v").await), (404, "not_found", None));
    assert_eq!(end("u").await, (StatusCode::OK, json!({"turns": 2})));
    server.stop().await;
}

#[tokio::test]
async fn forgotten_memories_do_not_come_back_from_the_journal() {
    let server = Server::start().await;
    server.talk(turn("u", 1, "my first secret plan"));
    server.talk(turn("u", 2, "my second plan"));
    server.flush("u").await;
    let memories = server.memories("u").await;
    assert_eq!(memories.len(), 2);
    let first = memories.iter().find(|m| m.to_string().contains("first")).unwrap();
    let path = format!("/v1/memory/{}?user_id=u", first["id"].as_str().unwrap());
    assert_eq!(server.delete(&path).await.1, json!({"deleted": 1}));
    server.flush("u").await;
    assert_eq!(server.memories("u").await.len(), 1);
    // The third turn is not yet a memory when everything is forgotten.
    server.talk(turn("u", 3, "my third plan"));
    assert_eq!(server.delete("/v1/memory?user_id=u").await.0, StatusCode::OK);
    server.flush("u").await;
    assert_eq!(server.memories("u").await, Vec::<Value>::new());
    server.stop().await;
}

#[tokio::test]
async fn a_turn_and_the_statement_in_it_are_forgotten_together() {
    let server = Server::start().await;
    for forgotten in ["semantic", "episodic"] {
        server.talk(turn("u", 1, "My sister Anna lives in Porto."));
        server.talk(turn("u", 2, "My brother Bo lives in Ghent."));
        server.flush("u").await;
        let memories = server.memories("u").await;
        assert_eq!(memories.len(), 4, "{memories:?}");
        let of_anna = |m: &&Value| m["type"] == forgotten && m.to_string().contains("Anna");
        let id = memories.iter().find(of_anna).unwrap()["id"].as_str().unwrap();
        let path = format!("/v1/memory/{id}?user_id=u");
        assert_eq!(server.delete(&path).await.1, json!({"deleted": 1}));
        server.flush("u").await;
        let left = server.memories("u").await;
        assert!(left.len() == 2 && left.iter().all(|m| m.to_string().contains("Bo")), "{left:?}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_repeated_statement_is_forgotten_in_all_sessions() {
    let server = Server::start().await;
    for (session, told) in
        [("a", "I'm allergic to peanuts."), ("b", "I'm allergic to peanuts!"), ("c", "thanks")]
    {
        server.talk(turn_in(session, "u", 1, told));
        server.flush("u").await;
    }
    let memories = server.memories("u").await;
    let facts: Vec<_> = memories.iter().filter(|memory| memory["type"] == "semantic").collect();
    assert_eq!(facts.len(), 1, "{memories:?}");
    assert_eq!(facts[0]["metadata"]["reinforced"], 1);
    assert!(!facts[0].to_string().contains("peanuts!"), "the other words stay in their turn");
    let id = facts[0]["id"].as_str().unwrap();
    let (status, _) = server.delete(&format!("/v1/memory/{id}?user_id=u")).await;
    assert_eq!(status, StatusCode::OK);
    // What the journal still holds would become memories now.
    server.flush("u").await;
    let left = server.memories("u").await;
    assert!(!left.iter().any(|memory| memory.to_string().contains("peanuts")), "{left:?}");
    let (_, sessions) = server.get("/v1/sessions?user_id=u").await;
    assert!(!sessions.to_string().contains("\"a\"") && !sessions.to_string().contains("\"b\""));
    server.stop().await;
}

#[tokio::test]
async fn a_memory_is_gone_from_lists_and_searches_once_it_has_expired() {
    let (folder, store) = (tempfile::tempdir().unwrap(), Arc::new(InMemoryStore::new()));
    let (told, expires): (Timestamp, Timestamp) =
        ("2026-05-01T10:00:00Z".parse().unwrap(), "2026-05-08T10:00:00Z".parse().unwrap());
    let (time, clock) = Clock::settable(told);
    let operations = Operations { clock, ..operations(store, folder.path(), Config::default()) };
    let (kind, source) = (MemoryType::new(MemoryType::SEMANTIC), Source::ExplicitUserInput);
    let owner = Owner::of_user("alice").unwrap();
    let memory = Memory::new(MemoryId::fresh(), owner, kind, "The code is 17", source, told);
    let memory = Memory { expires_at: Some(expires), ..memory };
    operations.store.store(memory, Vec::new(), &Write::by(Actor::Api, "test")).await.unwrap();
    let whose = Whose::user("alice", None);
    let request = ListRequest {
        whose: whose.clone(),
        filter: ListFilter::default(),
        paging: Paging::default(),
    };
    let me = Caller::command_line();
    let listed = async || operations.list(&me, request.clone()).await.unwrap().memories.len();
    let counted = async || operations.stats(&me, whose.clone()).await.unwrap().total;
    time.set(expires - SignedDuration::from_secs(1));
    assert_eq!((listed().await, counted().await), (1, 1));
    time.set(expires);
    assert_eq!((listed().await, counted().await), (0, 0));
    operations.capture.shutdown(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn a_corrected_fact_is_taken_out_of_the_turn_that_said_it() {
    let server = Server::start().await;
    server.talk(turn("u", 1, "My budget for the Hawaii trip is $10,000. I prefer window seats."));
    server.flush("u").await;
    let memories = server.memories("u").await;
    let fact = memories.iter().find(|memory| {
        memory["type"] == "semantic" && memory["content"].as_str().unwrap().contains("$10,000")
    });
    let path = format!("/v1/memory/{}", fact.unwrap()["id"].as_str().unwrap());
    let right = "My budget for the Hawaii trip is $12,500.";
    let change = json!({"user_id": "u", "content": right});
    assert_eq!(server.patch(&path, change).await.0, StatusCode::OK);
    let said: String = server
        .memories("u")
        .await
        .iter()
        .map(|it| it["content"].as_str().unwrap().to_owned() + "\n")
        .collect();
    assert!(said.contains(right) && !said.contains("$10,000"), "{said}");
    assert!(said.matches("window seats").count() > 1, "the rest of the turn stays: {said}");
    server.stop().await;
}
