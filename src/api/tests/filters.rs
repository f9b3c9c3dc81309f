//! Tests docs/filters.md.

use jiff::Timestamp;
use memgate_located::{Errors, Node, read};

use crate::api::tests::*;
use memgate_core::memory::{Filter, Memory, MemoryId, MemoryType, Source};
use memgate_text::entity::Mention;

const PAGE: &str = include_str!("../../../docs/filters.md");

fn filter(text: &str) -> Result<Filter, Errors> {
    read(&serde_json::from_str::<Node>(text).unwrap())
}

/// Operator and example of each row.
fn rows() -> Vec<(&'static str, &'static str)> {
    let rows = PAGE.lines().filter(|line| line.starts_with("| `"));
    let code = |cell: &'static str| cell.trim().trim_matches('`');
    let row = |line: &'static str| {
        let cells: Vec<_> = line.split(" | ").collect();
        (code(cells[0].trim_start_matches('|')), code(cells[1]))
    };
    rows.map(row).collect()
}

fn memory(content: &str, source: Source, day: &str) -> Memory {
    let (id, owner) = (MemoryId::fresh(), Owner::of_user("alice").unwrap());
    let at: Timestamp = day.parse().unwrap();
    Memory::new(id, owner, MemoryType::new(MemoryType::PROCEDURAL), content, source, at)
}

/// A memory that matches the page's examples, and one that does not.
fn memories() -> (Memory, Memory) {
    let day = "2026-05-03T10:00:00Z";
    let wanted = Memory {
        memory_type: MemoryType::new(MemoryType::SEMANTIC),
        tags: vec!["health".to_owned()],
        metadata: json!({"lang": "en"}).as_object().unwrap().clone(),
        importance: 0.9,
        confidence: Some(0.95),
        session_id: Some("s-17".to_owned()),
        project_id: Some("hawaii".to_owned()),
        mentions: vec![Mention { name: "Ana".to_owned(), kind: None }],
        ..memory("Ana is allergic to Peanuts", Source::ExplicitUserInput, day)
    };
    let mut other =
        memory("the office closes at six", Source::ExternalData, "2025-01-01T00:00:00Z");
    other.status = memgate_core::memory::Status::Review;
    other.tags = vec!["draft".to_owned()];
    other.kind = memgate_core::memory::MemoryKind::Wish;
    (wanted, other)
}

#[test]
fn every_example_matches_only_its_memory() {
    let (wanted, other) = memories();
    for (operator, example) in rows() {
        let read = filter(example).unwrap();
        assert!(read.matches(&wanted), "{example}");
        assert!(!read.matches(&other), "{example}");
        let members: serde_json::Map<_, _> = serde_json::from_str(example).unwrap();
        assert_eq!(members.keys().collect::<Vec<_>>(), [operator]);
    }
}

#[test]
fn the_page_lists_every_operator_once() {
    let refused = ApiError::from(filter("{}").unwrap_err());
    let (_, known) = refused.message.split_once("one of ").unwrap();
    let listed: Vec<_> = rows().into_iter().map(|(operator, _)| operator).collect();
    assert_eq!(listed.join(", "), known);
}

#[tokio::test]
async fn the_example_search_finds_the_memory() {
    let (_, block) = PAGE.split_once("```json\n").unwrap();
    let request: Value = serde_json::from_str(block.split_once("```").unwrap().0).unwrap();
    let server = Server::start().await;
    for (content, tag, importance) in [
        ("I take aspirin", "health", 0.9),
        ("I take sugar", "health", 0.1),
        ("I take tea", "drink", 0.9),
    ] {
        let body = json!({"user_id": "alice", "content": content, "tags": [tag], "importance": importance});
        assert_eq!(server.post("/v1/memory", body).await.0, StatusCode::CREATED);
    }
    let (status, found) = server.post("/v1/memory/search", request).await;
    assert_eq!(status, StatusCode::OK, "{found}");
    let hits = found["hits"].as_array().unwrap();
    let contents: Vec<_> = hits.iter().map(|hit| &hit["memory"]["content"]).collect();
    assert_eq!(contents, ["I take aspirin"]);
    server.stop().await;
}
