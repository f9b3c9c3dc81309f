//! A turn as one episodic memory: the user's words and the reply's, kept apart
//! so that a question later finds the one or the other.

use jiff::Timestamp;

use crate::{candidate::Candidate, extract::local::holds_back, turn::StoredTurn};
use memgate_core::memory::{Memory, MemoryId, MemoryType, Provenance, Source, extractor};
use memgate_text::{
    greeting::is_greeting,
    normal::one_line,
    question::asking::width,
    repeats::drop_repeats,
    sentences::{only_asks, words},
};

/// The version of this extractor, in every memory it makes.
const VERSION: &str = "1";

/// Characters of the user's words that are kept: as much as the embedder reads, about 256 tokens.
/// The end of a longer message is kept too: there is often said what is wanted.
const USER_HEAD: usize = 900;
const USER_TAIL: usize = 300;

/// Characters of the reply that are kept. Replies are long and say again what was asked; their
/// beginning holds the answer.
const REPLY: usize = 400;

/// Characters of an answer that the user asked to keep, and of its question, that are kept.
const ANSWER: usize = 1_000;
const ANSWERED: usize = 200;

/// How much such an answer matters, where 0.5 is usual.
const SAVED_IMPORTANCE: f32 = 0.8;

/// Characters of a long answer that are kept.
const LONG_ANSWER: usize = 6_000;

/// An answer that says less, in letters of an alphabet, is not kept by itself.
const LEAST_ANSWER: usize = 120;

/// A reply of fewer words says nothing that could be looked for.
const FEWEST_REPLY_WORDS: usize = 3;

/// Whether a turn is worth a memory: greetings and bare questions are not.
pub(crate) fn worth_it(turn: &StoredTurn) -> bool {
    let text = turn.user_text.trim();
    !text.is_empty() && !is_greeting(text) && !only_asks(text)
}

/// The memory of a turn that is worth one. Sentences of the reply that `known`
/// memories hold are left out. `tells`: something was found in it that is worth keeping.
pub(crate) fn episode(turn: &StoredTurn, known: &[String], tells: bool, now: Timestamp) -> Memory {
    let user = turn.by_speaker(&ends(&one_line(&turn.user_text), USER_HEAD, USER_TAIL));
    let reply = ends(&one_line(&drop_repeats(&turn.reply_text, known)), REPLY, 0);
    let says = words(&reply).len() >= FEWEST_REPLY_WORDS && !is_greeting(&reply);
    let reply = says.then_some(reply);
    let (id, owner) = (turn.memory_id(), turn.owner.clone());
    let kind = MemoryType::new(MemoryType::EPISODIC);
    let mut memory =
        Memory::new(id, owner, kind, "", Source::ExplicitUserInput, now).of_turn(user, reply);
    made_of(&mut memory, turn, extractor::TURNS);
    if !tells {
        memory.importance = Memory::IDLE_IMPORTANCE;
    }
    memory
}

/// The whole answer of a turn, where its memory does not hold it: a list, a plan, an explanation. None of a message that must
/// not be kept.
pub(crate) fn long_answer(turn: &StoredTurn, now: Timestamp) -> Option<Memory> {
    let (question, answer) = (turn.user_text.trim(), lines(&turn.reply_text));
    let is_held = || worth_it(turn) && answer.chars().nth(REPLY).is_none();
    if question.is_empty() || is_greeting(question) || holds_back(question) {
        return None;
    }
    if width(&answer) < LEAST_ANSWER || is_held() {
        return None;
    }
    let id = MemoryId::of_answer(&turn.owner, &turn.key);
    let (kind, owner) = (MemoryType::new(MemoryType::ANSWER), turn.owner.clone());
    let question = turn.by_speaker(&ends(&one_line(question), ANSWERED, 0));
    let mut memory = Memory::new(id, owner, kind, "", Source::SystemGenerated, now)
        .of_turn(question, Some(ends(&answer, LONG_ANSWER, 0)));
    made_of(&mut memory, turn, extractor::TURNS);
    Some(memory)
}

/// The lines of a text that hold something.
fn lines(text: &str) -> String {
    let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// The candidate of a turn's answer, with the question, where the user asked to keep it; `None`
/// where there is no answer.
pub(crate) fn answer(turn: &StoredTurn) -> Option<Candidate> {
    let [question, answer] = [&turn.user_text, &turn.reply_text].map(|text| one_line(text));
    if words(&answer).len() < FEWEST_REPLY_WORDS {
        return None;
    }
    let (question, answer) = (ends(&question, ANSWERED, 0), ends(&answer, ANSWER, 0));
    Some(Candidate {
        memory_type: MemoryType::SEMANTIC.to_owned(),
        content: format!("Saved answer of the assistant to \"{question}\": {answer}"),
        importance: Some(SAVED_IMPORTANCE),
        ..Candidate::default()
    })
}

/// The memory of an answer that is admitted.
pub(crate) fn answer_memory(turn: &StoredTurn, answer: Candidate, now: Timestamp) -> Memory {
    let id = MemoryId::derived(&[&turn.owner.key(), &turn.key, extractor::ANSWERS]);
    let kind = MemoryType::new(answer.memory_type);
    let source = Source::ImplicitInference;
    let mut memory = Memory::new(id, turn.owner.clone(), kind, answer.content, source, now);
    made_of(&mut memory, turn, extractor::ANSWERS);
    memory.importance = SAVED_IMPORTANCE;
    memory
}

/// Notes in a memory of which turn it is made, and by which extractor.
fn made_of(memory: &mut Memory, turn: &StoredTurn, extractor: &str) {
    memory.project_id.clone_from(&turn.project);
    memory.agent_id.clone_from(&turn.agent);
    memory.session_id = Some(turn.session.clone());
    memory.event_time = Some(turn.began);
    memory.set_speaker(turn.speaker.as_deref());
    memory.provenance = Provenance {
        turn: Some(turn.key.clone()),
        extractor: Some(extractor.to_owned()),
        extractor_version: Some(VERSION.to_owned()),
        said_at: Some(turn.began),
        again: Vec::new(),
    };
}

/// The first `head` and last `tail` characters, cut between words where that is near.
fn ends(text: &str, head: usize, tail: usize) -> String {
    let count = text.chars().count();
    if count <= head + tail {
        return text.to_owned();
    }
    let at = |chars: usize| text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    let first = &text[..at(head)];
    let first = match first.rfind(' ') {
        Some(space) if first.len() - space < 40 => &first[..space],
        _ => first,
    };
    let last = &text[at(count - tail)..];
    let last = match last.find(' ') {
        Some(space) if space < 40 => &last[space + 1..],
        _ => last,
    };
    if last.is_empty() { format!("{first} …") } else { format!("{first} … {last}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::stored_turn;

    fn turn(user: &str, reply: &str) -> StoredTurn {
        StoredTurn { project: Some("p".into()), ..stored_turn("k", user, reply) }
    }

    #[test]
    fn a_turn_becomes_one_memory_with_both_sides_kept_apart() {
        let turn = turn("My budget\nis $10,000", "Noted:  ten thousand dollars for Hawaii.");
        let episode = episode(&turn, &[], true, Timestamp::UNIX_EPOCH);
        assert_eq!(
            episode.passages(),
            ["My budget is $10,000", "Noted: ten thousand dollars for Hawaii."]
        );
        assert_eq!(episode.event_time, Some(turn.began));
        assert_eq!(episode.project_id.as_deref(), Some("p"));
        assert_eq!(episode.provenance.turn.as_deref(), Some("k"));
        assert!(!episode.is_idle_turn());
    }

    #[test]
    fn a_turn_that_tells_nothing_is_marked() {
        let turn = turn("Translate: I am a vegetarian", "Ich bin Vegetarier");
        assert!(episode(&turn, &[], false, Timestamp::UNIX_EPOCH).is_idle_turn());
    }

    #[test]
    fn a_reply_that_says_nothing_is_left_out() {
        for reply in ["", "Noted.", "You're welcome!", "👍"] {
            let episode =
                episode(&turn("I moved to Lyon", reply), &[], true, Timestamp::UNIX_EPOCH);
            assert_eq!(episode.passages(), ["I moved to Lyon"], "{reply}");
        }
    }

    #[test]
    fn greetings_questions_and_silence_make_no_memory() {
        for text in ["hi!", "What's my budget?", "", " ", "thanks a lot"] {
            assert!(!worth_it(&turn(text, "A reply that says much.")), "{text}");
        }
        assert!(worth_it(&turn("What's my budget? I earn 3k", "")));
    }

    #[test]
    fn a_long_answer_is_kept_whole_and_in_lines_also_where_the_user_only_asked() {
        let plan = (1..=30).map(|day| format!("- Day {day}: walk {day} km")).collect::<Vec<_>>();
        let answer =
            |user: &str, reply: &str| long_answer(&turn(user, reply), Timestamp::UNIX_EPOCH);
        let reply = plan.join("\n\n");
        let kept = answer("Can you plan my month?", &reply).unwrap();
        assert_eq!(kept.reply.as_deref(), Some(&*plan.join("\n")));
        assert!(kept.is_answer() && kept.provenance.turn.as_deref() == Some("k"));
        assert!(answer("I start on Monday, plan my month", &reply).is_some());
        assert!(answer("thanks a lot", &reply).is_none());
        assert!(answer("My password is hunter2, plan my month", &reply).is_none());
    }

    #[test]
    fn an_answer_that_is_short_or_held_by_its_turn_is_not_kept_by_itself() {
        let answer =
            |user: &str, reply: &str| long_answer(&turn(user, reply), Timestamp::UNIX_EPOCH);
        assert!(answer("What's the capital of France?", "Paris.").is_none());
        assert!(answer("I live in Lyon", &"Lyon has two rivers. ".repeat(10)).is_none());
        assert!(answer("Which rivers has Lyon?", &"Lyon has two rivers. ".repeat(10)).is_some());
    }

    #[test]
    fn long_texts_keep_their_ends() {
        let long = format!("begin {} end", "word ".repeat(1000));
        let kept = ends(&one_line(&long), USER_HEAD, USER_TAIL);
        assert!(kept.starts_with("begin word") && kept.ends_with("word end"));
        assert!(kept.chars().count() <= USER_HEAD + USER_TAIL + 3);
        let chinese = "预".repeat(5000);
        assert_eq!(ends(&chinese, 10, 2), format!("{} … 预预", "预".repeat(10)));
    }
}
