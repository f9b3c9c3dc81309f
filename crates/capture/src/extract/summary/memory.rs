//! Which turns of a session are summarised together, and the memory of a summary.

use jiff::Timestamp;

use crate::{
    extract::{local::holds_back, turns},
    turn::StoredTurn,
};
use memgate_core::memory::{
    Memory, MemoryId, MemoryKind, MemoryType, Provenance, Relation, Source, extractor,
};

/// The version of this extractor, in every memory it makes.
const VERSION: &str = "1";

/// A session of fewer turns that say something is not summed up: its turns are
/// its summary.
const FEWEST_TURNS: usize = 3;

/// The longest summary, in characters.
pub(super) const MAX_CHARS: usize = 600;

/// The turns of a session that are summed up, by scope: a summary belongs to one project and agent,
/// as what it holds. Scopes of too few turns are left out.
pub(crate) fn by_scope(turns: Vec<StoredTurn>) -> Vec<Vec<StoredTurn>> {
    let mut scopes: Vec<Vec<StoredTurn>> = Vec::new();
    for turn in turns {
        if !turns::worth_it(&turn) || holds_back(&turn.user_text) {
            continue;
        }
        let same =
            |other: &StoredTurn| (&other.project, &other.agent) == (&turn.project, &turn.agent);
        match scopes.iter_mut().find(|scope| scope.first().is_some_and(same)) {
            Some(scope) => scope.push(turn),
            None => scopes.push(vec![turn]),
        }
    }
    scopes.retain(|turns| turns.len() >= FEWEST_TURNS);
    scopes
}

/// The memory of a summary of these turns, which are of one session and scope
/// and at least one. The session and scope of the turns determine its id.
pub(crate) fn memory(words: &str, turns: &[StoredTurn], now: Timestamp) -> Option<Memory> {
    let (first, last) = (turns.first()?, turns.last()?);
    let (project, agent) = (first.project.as_deref(), first.agent.as_deref());
    let id = MemoryId::of_summary(&first.owner, &first.session, project, agent);
    let kind = MemoryType::new(MemoryType::EPISODIC);
    let mut memory =
        Memory::new(id, first.owner.clone(), kind, words, Source::SystemGenerated, now);
    memory.kind = MemoryKind::Summary;
    memory.project_id.clone_from(&first.project);
    memory.agent_id.clone_from(&first.agent);
    memory.session_id = Some(first.session.clone());
    memory.event_time = Some(first.began);
    memory.structured = Some(serde_json::json!({
        "session": {"from": first.began, "until": last.began, "turns": turns.len()},
    }));
    let link = |turn: &StoredTurn| Relation::new(Relation::SUMMARY_OF, turn.memory_id());
    memory.relations = turns.iter().map(link).collect();
    // No turn: a summary is of several.
    memory.provenance = Provenance {
        turn: None,
        extractor: Some(extractor::SUMMARY.to_owned()),
        extractor_version: Some(VERSION.to_owned()),
        said_at: Some(first.began),
        again: Vec::new(),
    };
    Some(memory)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::test_support::stored_turn;

    pub(crate) fn turn(number: usize, text: &str) -> StoredTurn {
        StoredTurn {
            began: Timestamp::from_second(1_770_000_000).unwrap(),
            ..stored_turn(&format!("k{number}"), text, "Noted.")
        }
    }

    #[test]
    fn turns_are_summed_up_by_scope_and_only_where_enough_is_said() {
        let told = |n| turn(n, &format!("I have {n} cats"));
        let of_project =
            |n| StoredTurn { project: Some("p".into()), ..turn(n, &format!("I sail {n} boats")) };
        let mut turns: Vec<StoredTurn> = (1..=2).map(told).collect();
        turns.extend((3..=5).map(of_project));
        turns.extend([turn(6, "hi!"), turn(7, "How many cats?"), turn(8, "My PIN is 4471.")]);
        let scopes = by_scope(turns);
        let keys: Vec<_> = scopes.iter().flatten().map(|turn| turn.key.as_str()).collect();
        assert_eq!((scopes.len(), keys), (1, vec!["k3", "k4", "k5"]));
    }

    #[test]
    fn a_summary_is_dated_linked_to_its_turns_and_one_a_session_and_scope() {
        let turns = [turn(1, "I have a cat"), turn(2, "It is called Rex")];
        let now = turns[1].began;
        let summary = memory("A cat called Rex.", &turns, now).unwrap();
        assert_eq!(summary.text(), "Session summary: A cat called Rex.");
        assert_eq!(summary.event_time, Some(turns[0].began));
        assert_eq!(summary.source, Source::SystemGenerated);
        let targets: Vec<_> = summary.relations.iter().map(|link| link.target.clone()).collect();
        assert_eq!(targets, [turns[0].memory_id(), turns[1].memory_id()]);
        assert_eq!(memory("Other words.", &turns[1..], now).unwrap().id, summary.id);
        let elsewhere = StoredTurn { project: Some("p".into()), ..turns[0].clone() };
        assert_ne!(memory("x", &[elsewhere], now).unwrap().id, summary.id);
        assert!(summary.as_turn().is_none() && summary.said().is_none());
    }
}
