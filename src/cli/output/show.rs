//! Prints memories for people: one line with the properties of a memory, one with its text.

use crate::{
    api::{HitView, HitsView, MemoriesView, MemoryView},
    cli::output::text::{Width, cut, one_line},
};
use memgate_core::memory::Status;

/// Indentation of a memory's text.
const INDENT: &str = "    ";

/// Minimum width of the properties line: a score and an id fit.
const USEFUL: usize = 44;

/// A page of memories.
pub(crate) fn memories(page: &MemoriesView, width: Width) -> String {
    if page.memories.is_empty() {
        return "No memories.".to_owned();
    }
    let mut lines = Vec::new();
    for memory in &page.memories {
        lines.extend(lines_of(&about(memory), memory, width));
    }
    if let Some(cursor) = &page.next_cursor {
        lines.push(format!("More: --cursor {}", one_line(cursor)));
    }
    lines.join("\n")
}

/// The hits of a search, with score breakdowns if requested.
pub(crate) fn hits(found: &HitsView, width: Width) -> String {
    if found.hits.is_empty() {
        return "No memories above the threshold.".to_owned();
    }
    let mut lines = Vec::new();
    for hit in &found.hits {
        let score = hit.score.map(|score| format!("{score:.2}  "));
        let head = score.unwrap_or_default() + &about(&hit.memory);
        lines.extend(lines_of(&head, &hit.memory, width));
        let parts = parts(hit).into_iter().flatten();
        lines.extend(parts.map(|parts| format!("{INDENT}{parts}")));
    }
    lines.join("\n")
}

/// A memory that was just stored.
pub(crate) fn stored(memory: &MemoryView, width: Width) -> String {
    lines_of(&about(memory), memory, width).join("\n")
}

fn lines_of(head: &str, memory: &MemoryView, width: Width) -> [String; 2] {
    let words = width.map(|width| width.saturating_sub(INDENT.len()));
    let content = one_line(&memory.content);
    // A truncated id would be useless.
    let head_width = width.map(|width| width.max(USEFUL));
    [cut(head, head_width).into_owned(), format!("{INDENT}{}", cut(&content, words))]
}

/// The properties. The id comes first, so that it is truncated last.
fn about(memory: &MemoryView) -> String {
    let mut about = vec![
        one_line(&memory.id),
        one_line(&memory.memory_type),
        memory.created_at.strftime("%Y-%m-%d %H:%M").to_string(),
    ];
    if memory.status != Status::Active {
        about.push(memory.status.name().to_owned());
    }
    about.extend(memory.project_id.as_ref().map(|project| format!("in {}", one_line(project))));
    about.extend(memory.tags.iter().map(|tag| format!("#{}", one_line(tag))));
    about.join("  ")
}

/// The breakdown of a hit's relevance and of its rank.
fn parts(hit: &HitView) -> Option<[String; 2]> {
    let parts = hit.parts?;
    let known = [
        ("cosine", parts.cosine),
        ("gap", parts.gap),
        ("words", parts.coverage),
        ("bm25", parts.bm25),
        ("window", parts.window),
        ("length", Some(parts.length)),
    ];
    let known = known.iter().filter_map(|(name, value)| Some(format!("{name} {:.2}", (*value)?)));
    let relevance = format!("relevance {:.2}: {}", hit.score?, joined(known));
    let order = match parts.ranks {
        None => {
            let added =
                parts.features.named().into_iter().filter(|(_, value)| value.abs() >= 0.005);
            let added = added.map(|(name, value)| format!("{name} {value:+.2}"));
            let own = format!("relevance {:+.2}", parts.order - parts.boost);
            format!("order {:.2}: {}", parts.order, joined(std::iter::once(own).chain(added)))
        }
        Some(ranks) => {
            let ranks = [
                ("cosine", ranks.cosine),
                ("words", ranks.lexical),
                ("context", Some(ranks.boost)),
            ];
            let ranks =
                ranks.iter().filter_map(|(name, rank)| Some(format!("{name} #{}", (*rank)?)));
            format!("order {:.4}: {}", parts.order, joined(ranks))
        }
    };
    Some([relevance, order])
}

fn joined(told: impl Iterator<Item = String>) -> String {
    told.collect::<Vec<_>>().join("  ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn told(parts: &Value) -> String {
        let hit = json!({"scope": "user", "score": 0.83, "parts": parts, "memory": {
            "id": "m1", "type": "semantic", "content": "Ana moved", "user_id": "u",
            "source": "explicit_user_input", "status": "active", "importance": 0.5,
            "visibility": {"kind": "private"},
            "confidence": null, "tags": [], "metadata": {}, "version": 1, "access_count": 0,
            "created_at": "2026-03-01T10:00:00Z", "updated_at": "2026-03-01T10:00:00Z",
        }});
        hits(&serde_json::from_value(json!({"hits": [hit]})).unwrap(), None)
    }

    #[test]
    fn shows_the_breakdown_of_relevance_and_order() {
        let told = told(&json!({
            "cosine": 0.61, "gap": -0.1, "coverage": 0.7, "length": 1.0, "context": 3.5,
            "order": 5.09, "added": {"speaker": 4.0, "type": -0.5},
        }));
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(
            lines[2..],
            [
                "    relevance 0.83: cosine 0.61  gap -0.10  words 0.70  length 1.00",
                "    order 5.09: relevance +1.59  speaker +4.00  type -0.50",
            ]
        );
    }

    #[test]
    fn shows_the_ranks_of_an_order_by_ranks() {
        let ranks = json!({"words": 2, "context": 1});
        let told = told(&json!({"length": 1.0, "order": 0.0325, "ranks": ranks}));
        assert!(told.ends_with("    order 0.0325: words #2  context #1"), "{told}");
    }
}
