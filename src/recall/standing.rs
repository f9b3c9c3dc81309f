//! Where a memory stands among all that was found: whose words it tells, which session it was said
//! in and when, what was said just before it. This orders hits; whether one is presented at all, its own
//! relevance decides.
//!
//! The weights are rounded from a fit to two of LoCoMo's conversations (26 and 42; 349 questions);
//! docs/quality.md has the figures on three others. They are in log-odds, as relevance is summed.

use std::collections::HashMap;

use super::{query::Asked, rank::Hit};
use crate::memory::Memory;

/// Weight of the words found in a memory and the one before it: an answer seldom repeats its question.
const WINDOW: f32 = 12.0;
/// Weight of the same of the best memories of its session: one that is about the matter.
const SESSION_WINDOW: f32 = 12.0;
/// Weight of their cosine.
const SESSION_COSINE: f32 = 2.0;
/// The best so many memories of a session tell what it is about.
const OF_SESSION: usize = 3;
/// Weight of being said by somebody whom the query names.
const SPEAKER: f32 = 4.0;
/// What a memory that only asks stands lower.
const ASKS: f32 = 1.0;

/// Weight of being said at a time that the query names.
const DATED: f32 = 2.0;
/// Weight of being of the type that the query asks for.
const TYPED: f32 = 1.0;

/// The longest name that stands before what somebody said, in bytes.
const MAX_NAME: usize = 64;

/// Tells each hit where it stands.
pub(super) fn place(hits: &mut [Hit], query: &str, asked: &Asked) {
    let named: Vec<String> = words(query).collect();
    let sessions = sessions(hits);
    for hit in hits {
        let session = hit.memory.session_id.as_deref().and_then(|id| sessions.get(id));
        let session = session.copied().unwrap_or_default();
        hit.parts.session = (session != 0.0).then_some(session);
        hit.parts.speaker = is_said_by(&hit.memory, &named);
        let said = hit.memory.event_time.unwrap_or(hit.memory.created_at);
        hit.parts.dated = asked.times.meet(said);
        hit.parts.typed = asked.prefers.is_some_and(|it| it == hit.memory.memory_type.as_str());
        hit.parts.standing = WINDOW * hit.parts.window.unwrap_or(0.0)
            + session
            + if hit.parts.speaker { SPEAKER } else { 0.0 }
            + if hit.parts.dated { DATED } else { 0.0 }
            + if hit.parts.typed { TYPED } else { 0.0 }
            - if only_asks(&hit.memory) { ASKS } else { 0.0 };
    }
}

/// By session: the weight of what its best memories have.
fn sessions(hits: &[Hit]) -> HashMap<String, f32> {
    let mut sessions: HashMap<String, [Vec<f32>; 2]> = HashMap::new();
    for hit in hits {
        let Some(id) = &hit.memory.session_id else { continue };
        let [windows, cosines] = sessions.entry(id.clone()).or_default();
        windows.push(hit.parts.window.unwrap_or(0.0));
        cosines.push(hit.parts.cosine.unwrap_or(0.0).max(0.0));
    }
    let weight = |[windows, cosines]: [Vec<f32>; 2]| {
        SESSION_WINDOW * mean_of_best(windows) + SESSION_COSINE * mean_of_best(cosines)
    };
    sessions.into_iter().map(|(id, found)| (id, weight(found))).collect()
}

/// Where there are fewer, nothing stands for the rest.
fn mean_of_best(mut values: Vec<f32>) -> f32 {
    values.sort_unstable_by(|a, b| b.total_cmp(a));
    values.iter().take(OF_SESSION).sum::<f32>() / OF_SESSION as f32
}

/// Whether a memory tells words of somebody (`Ana: I moved`) who is among those named.
fn is_said_by(memory: &Memory, named: &[String]) -> bool {
    if memory.as_turn().is_some() {
        return false;
    }
    let start = &memory.content[..memory.content.floor_char_boundary(MAX_NAME)];
    let Some((name, _)) = start.split_once(": ") else { return false };
    let mut name = words(name).peekable();
    name.peek().is_some() && name.all(|word| named.contains(&word))
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// Whether it ends with a question that nobody answers in it.
fn only_asks(memory: &Memory) -> bool {
    let last = match memory.as_turn() {
        Some((_, Some(_))) => return false,
        Some((user, None)) => user,
        None => &memory.content,
    };
    last.trim_end().ends_with(['?', '？', '؟'])
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::{
        config::QueryConfig,
        memory::{MemoryId, MemoryType, Owner, Source, turn_content},
        recall::{Parts, Query},
    };

    fn hit(content: &str, session: &str, window: f32) -> Hit {
        let mut memory = Memory::new(
            MemoryId::fresh(),
            Owner::of_user("u").unwrap(),
            MemoryType::new(MemoryType::EPISODIC),
            content,
            Source::ExplicitUserInput,
            Timestamp::UNIX_EPOCH,
        );
        memory.session_id = Some(session.to_owned());
        memory.provenance.turn = Some("t".to_owned());
        Hit { memory, score: 0.5, parts: Parts { window: Some(window), ..Parts::default() } }
    }

    fn standing(mut hits: Vec<Hit>, query: &str) -> Vec<f32> {
        let asked = Query::of(query, Timestamp::UNIX_EPOCH, &QueryConfig::default()).asked;
        place(&mut hits, query, &asked);
        hits.iter().map(|hit| hit.parts.standing).collect()
    }

    #[test]
    fn the_words_of_whom_the_query_names_stand_higher() {
        let hits = ["Ana Li: I moved", "Ben: I moved", "I moved: twice", "Ana Li"]
            .map(|it| hit(it, "s", 0.0));
        let [ana, ben, none, whole] = standing(hits.into(), "Where did ana li's cat go?")[..]
        else {
            unreachable!()
        };
        assert!(ana > ben, "{ana} {ben}");
        assert_eq!((ben, none, whole), (0.0, 0.0, 0.0));
        let turn = hit(&turn_content("I moved", Some("Fine")), "s", 0.0);
        assert_eq!(
            standing(vec![turn], "Which user moved?"),
            [0.0],
            "a turn's labels are no names"
        );
    }

    #[test]
    fn what_was_said_at_the_time_that_the_query_names_stands_higher() {
        let mut hits = ["a", "b"].map(|it| hit(it, "s", 0.0));
        hits[1].memory.event_time = Some("2023-05-09T10:00:00Z".parse().unwrap());
        let standing = standing(hits.into(), "What did I buy on 8 May, 2023?");
        assert_eq!(standing, [0.0, DATED]);
    }

    #[test]
    fn what_is_of_the_type_that_the_query_asks_for_stands_higher() {
        let mut hits = ["a", "b"].map(|it| hit(it, "s", 0.0));
        hits[0].memory.memory_type = MemoryType::new(MemoryType::PROCEDURAL);
        assert_eq!(standing(hits.clone().into(), "How do I bake it?"), [TYPED, 0.0]);
        assert_eq!(standing(hits.into(), "When did I bake it?"), [0.0, TYPED]);
    }

    #[test]
    fn a_session_about_the_matter_lifts_all_that_was_said_in_it() {
        let hits =
            vec![hit("a", "s", 0.4), hit("b", "s", 0.2), hit("c", "t", 0.2), hit("d", "t", 0.0)];
        let [a, b, c, d] = standing(hits, "q")[..] else { unreachable!() };
        assert!(a > b && b > c && c > d, "{a} {b} {c} {d}");
    }

    #[test]
    fn what_only_asks_stands_lower_than_what_tells() {
        let asks = turn_content("Did you move?", None);
        let answered = turn_content("Did you move?", Some("Yes, to Rome"));
        let hits =
            vec![hit("Did you move?", "s", 0.0), hit(&asks, "s", 0.0), hit(&answered, "s", 0.0)];
        assert_eq!(standing(hits, "q"), [-ASKS, -ASKS, 0.0]);
    }
}
