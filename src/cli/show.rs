//! Memories as lines for people: one with what is known of a memory, one with what it says.

use super::text::{Width, cut, one_line};
use crate::{
    api::{HitView, HitsView, MemoriesView, MemoryView},
    memory::Status,
};

/// What stands before a memory's words.
const INDENT: &str = "    ";

/// Columns that the line about a memory may always have: an id and a score before it fit.
const USEFUL: usize = 44;

/// A page of memories.
pub(super) fn memories(page: &MemoriesView, width: Width) -> String {
    if page.memories.is_empty() {
        return "No memories.".to_owned();
    }
    let mut lines = Vec::new();
    for memory in &page.memories {
        lines.extend(lines_of(&about(memory), memory, width));
    }
    if let Some(cursor) = &page.next_cursor {
        lines.push(format!("There are more: --cursor {}", one_line(cursor)));
    }
    lines.join("\n")
}

/// What a search found, with the parts of each score where they were asked for.
pub(super) fn hits(found: &HitsView, width: Width) -> String {
    if found.hits.is_empty() {
        return "No memories above the threshold.".to_owned();
    }
    let mut lines = Vec::new();
    for hit in &found.hits {
        let head = format!("{:.2}  {}", hit.score, about(&hit.memory));
        lines.extend(lines_of(&head, &hit.memory, width));
        lines.extend(parts(hit).map(|parts| format!("{INDENT}{parts}")));
    }
    lines.join("\n")
}

/// A memory that was just stored, as it is kept now.
pub(super) fn stored(memory: &MemoryView, width: Width) -> String {
    lines_of(&about(memory), memory, width).join("\n")
}

fn lines_of(head: &str, memory: &MemoryView, width: Width) -> [String; 2] {
    let words = width.map(|width| width.saturating_sub(INDENT.len()));
    let content = one_line(&memory.content);
    // A cut id is of no use to anybody.
    let head_width = width.map(|width| width.max(USEFUL));
    [cut(head, head_width).into_owned(), format!("{INDENT}{}", cut(&content, words))]
}

/// All but the words. The id comes first and the rest is cut first.
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

fn parts(hit: &HitView) -> Option<String> {
    let parts = hit.parts?;
    let known = [
        ("cosine", parts.cosine),
        ("words", parts.coverage),
        ("bm25", parts.bm25),
        ("window", parts.window),
        ("session", parts.session),
    ];
    let told: Vec<_> = known
        .iter()
        .filter_map(|(name, value)| value.map(|value| format!("{name} {value:.2}")))
        .collect();
    Some(told.join("  "))
}
