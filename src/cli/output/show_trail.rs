//! Prints the trail for people.

use crate::{
    api::{CandidateView, DecisionHead, RecallView, TurnEventView, TurnView, WhyView},
    cli::output::text::{Width, cut, one_line},
};

/// Indentation of what belongs to a line.
const INDENT: &str = "    ";

/// The recall for a request.
pub(crate) fn recall(recall: &RecallView, width: Width) -> String {
    let head = &recall.head;
    let mut lines = vec![
        format!("{}  {}", one_line(&head.request_id), head.at.strftime("%Y-%m-%d %H:%M:%S")),
        decision(head),
    ];
    if let Some(query) = &recall.query {
        lines.push(format!("query: {}", one_line(&query.text)));
        let rewritten = query.rewritten.iter().chain(&query.statement);
        lines.extend(rewritten.map(|text| format!("{INDENT}as: {}", one_line(text))));
        lines.extend(query.parts.iter().map(|part| format!("{INDENT}part: {}", one_line(part))));
    }
    if !recall.techniques.is_empty() {
        lines.push(format!("techniques: {}", recall.techniques.join(", ")));
    }
    lines.push(format!(
        "context: {} tokens, {} bytes; threshold {:.2}, limit {}",
        head.context_tokens, recall.context_bytes, recall.threshold, recall.limit,
    ));
    let steps = recall.steps.iter().map(|step| format!("{} {:.1}", step.step, step.ms));
    lines.push(format!("milliseconds: {}", steps.collect::<Vec<_>>().join("  ")));
    if recall.candidates.is_empty() {
        lines.push("No candidates.".to_owned());
    }
    lines.extend(recall.candidates.iter().map(candidate));
    let lines = lines.iter().flat_map(|line| line.split('\n'));
    lines.map(|line| cut(line, width).into_owned()).collect::<Vec<_>>().join("\n")
}

fn decision(head: &DecisionHead) -> String {
    let mut decision = format!("decision: {}", one_line(&head.decision));
    if let Some(by) = &head.decided_by {
        decision.push_str(&format!(", by {}", one_line(by)));
    }
    if let Some(need) = head.need {
        decision.push_str(&format!(" (need {need:.2})"));
    }
    decision
}

/// The first line keeps its place when it is cut: outcome, relevance, id.
fn candidate(candidate: &CandidateView) -> String {
    let score = candidate.score.map_or_else(|| "   -".to_owned(), |score| format!("{score:.2}"));
    let mut about =
        format!("{score}  {:<16}  {}", candidate.outcome, one_line(&candidate.memory_id));
    if let Some(parts) = &candidate.parts {
        let known = [("cosine", parts.cosine), ("words", parts.coverage), ("bm25", parts.bm25)];
        let known =
            known.iter().filter_map(|(name, value)| Some(format!("{name} {:.2}", (*value)?)));
        let added = parts.features.named().into_iter().filter(|(_, value)| value.abs() >= 0.005);
        let added = added.map(|(name, value)| format!("{name} {value:+.2}"));
        let all: Vec<String> = known.chain(added).collect();
        about.push_str(&format!("  {}", all.join("  ")));
    }
    match &candidate.content {
        Some(content) => format!("{about}\n{INDENT}{}", one_line(content)),
        None => about,
    }
}

/// The outcomes of a turn.
pub(crate) fn turn(turn: &TurnView, width: Width) -> String {
    let id = turn.request_id.as_ref().or(turn.id.as_ref());
    let head = format!(
        "{}  {}",
        one_line(id.map_or("", String::as_str)),
        turn.at.strftime("%Y-%m-%d %H:%M:%S")
    );
    let events = turn.events.iter().map(|event| format!("{INDENT}{}", event_line(event)));
    let lines = std::iter::once(head).chain(events);
    lines.map(|line| cut(&line, width).into_owned()).collect::<Vec<_>>().join("\n")
}

fn event_line(event: &TurnEventView) -> String {
    let mut line = format!("{} {}", one_line(&event.what), one_line(&event.became));
    if let Some(reason) = &event.reason {
        line.push_str(&format!(": {}", one_line(reason)));
    }
    if let Some(memory) = &event.memory_id {
        line.push_str(&format!("  {}", one_line(memory)));
    }
    if let Some(by) = &event.by {
        line.push_str(&format!("  by {}", one_line(by)));
    }
    if event.count != 1 {
        line.push_str(&format!("  ×{}", event.count));
    }
    line
}

/// Why a text is remembered and shown, or not.
pub(crate) fn why(why: &WhyView, width: Width) -> String {
    let reason = why.reason.as_deref().map(one_line);
    let reason = reason.as_deref().unwrap_or("unknown");
    let score = why.score.map_or_else(|| "unknown".to_owned(), |score| format!("{score:.2}"));
    let limits = || {
        let threshold = why.threshold.map_or_else(String::new, |it| format!(", threshold {it:.2}"));
        format!("relevance {score}{threshold}")
    };
    let said = match (&*why.answer, &why.reason) {
        ("never_stored", Some(_)) => format!("Never stored: it would be refused ({reason})."),
        ("never_stored", None) => "Never stored.".to_owned(),
        ("superseded", Some(_)) => format!("Stored, and superseded by {reason}."),
        ("superseded", None) => "Stored, and superseded.".to_owned(),
        ("not_asked", _) => "Stored; no request since is in the trail.".to_owned(),
        ("not_searched", _) => format!("Stored, but memory was not searched: {reason}."),
        ("not_found", _) => format!("Stored, but not found ({}).", limits()),
        ("cut", _) => format!("Found, but cut: {reason} ({}).", limits()),
        ("presented", _) => format!("Presented ({}).", limits()),
        (other, _) => one_line(other),
    };
    let mut lines = vec![said];
    lines.extend(why.request_id.as_ref().map(|id| format!("request: {}", one_line(id))));
    if let Some(memory) = &why.memory {
        lines.push(format!("memory:  {}  {}", one_line(&memory.id), one_line(&memory.content)));
    }
    if !why.turns.is_empty() {
        lines.push("Not kept of the latest turns:".to_owned());
    }
    let mut lines: Vec<String> = lines.iter().map(|line| cut(line, width).into_owned()).collect();
    lines.extend(why.turns.iter().map(|it| turn(it, width)));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn shows_what_cut_a_memory_and_at_what_relevance() {
        let view = json!({"answer": "cut", "reason": "threshold", "score": 0.55, "threshold": 0.6});
        let told = why(&serde_json::from_value(view).unwrap(), None);
        assert_eq!(told, "Found, but cut: threshold (relevance 0.55, threshold 0.60).");
        let view = json!({"answer": "never_stored", "reason": "secret"});
        let told = why(&serde_json::from_value(view).unwrap(), None);
        assert_eq!(told, "Never stored: it would be refused (secret).");
    }

    #[test]
    fn shows_a_recall_with_its_candidates() {
        let view = json!({
            "request_id": "r1", "user_id": "u", "at": "2026-03-01T10:00:00Z",
            "decision": "searched", "decided_by": "model", "need": 0.93, "techniques": [],
            "threshold": 0.6, "limit": 5, "context_bytes": 120, "context_tokens": 40,
            "steps": [{"step": "search", "ms": 1.25}],
            "candidates": [
                {"memory_id": "m1", "scope": "user", "outcome": "presented", "score": 0.8,
                 "parts": {"cosine": 0.61, "length": 1.0}, "content": "Ana moved"},
                {"memory_id": "m2", "scope": "user", "outcome": "conversation", "score": null},
            ],
        });
        let told = recall(&serde_json::from_value(view).unwrap(), None);
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(
            lines[1..],
            [
                "decision: searched, by model (need 0.93)",
                "context: 40 tokens, 120 bytes; threshold 0.60, limit 5",
                "milliseconds: search 1.2",
                "0.80  presented         m1  cosine 0.61",
                "    Ana moved",
                "   -  conversation      m2",
            ]
        );
    }
}
