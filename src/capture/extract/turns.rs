//! A turn as one episodic memory: the user's words and the reply's, kept apart
//! so that a question later finds the one or the other.

use jiff::Timestamp;

use super::{
    phrases::{only_asks, words},
    repeats::drop_repeats,
};
use crate::{
    capture::journal::StoredTurn,
    memory::{Memory, MemoryId, MemoryType, Owner, Provenance, Source, turn_content},
    signals::is_greeting,
};

/// This extractor's name and version, in every memory it makes.
pub(in crate::capture) const NAME: &str = "turns";
const VERSION: &str = "1";

/// What is kept of the user's words, in characters: as much as the embedder
/// reads, about 256 tokens. Of a longer message the end is kept too: there is
/// often said what is wanted.
const USER_HEAD: usize = 900;
const USER_TAIL: usize = 300;

/// What is kept of the reply, in characters. Replies are long and say again
/// what was asked; their beginning holds the answer.
const REPLY: usize = 400;

/// A reply of fewer words says nothing that could be looked for.
const FEWEST_REPLY_WORDS: usize = 3;

/// An episodic memory to be, and the texts of its vectors.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::capture) struct Episode {
    pub(in crate::capture) memory: Memory,
    /// Part 0: the user's words. Part 1: the reply's, where they say something.
    pub(in crate::capture) parts: Vec<String>,
}

/// The id of a turn's memory: the same however often it is made.
pub(in crate::capture) fn id(turn: &StoredTurn) -> MemoryId {
    id_of(&turn.owner, &turn.key)
}

/// The id of the memory of the turn that has this key.
pub(in crate::capture) fn id_of(owner: &Owner, key: &str) -> MemoryId {
    MemoryId::derived(&[NAME, &owner.key(), key])
}

/// Whether a turn is worth a memory: greetings and bare questions are not.
pub(in crate::capture) fn worth_it(turn: &StoredTurn) -> bool {
    let text = turn.user_text.trim();
    !text.is_empty() && !is_greeting(text) && !only_asks(text)
}

/// The memory of a turn that is worth one. Sentences of the reply that `known`
/// memories hold are left out.
pub(in crate::capture) fn episode(turn: &StoredTurn, known: &[String], now: Timestamp) -> Episode {
    let user = ends(&fold(&turn.user_text), USER_HEAD, USER_TAIL);
    let reply = ends(&fold(&drop_repeats(&turn.reply_text, known)), REPLY, 0);
    let says = words(&reply).len() >= FEWEST_REPLY_WORDS && !is_greeting(&reply);
    let reply = says.then_some(reply);
    let content = turn_content(&user, reply.as_deref());
    let parts: Vec<String> = [Some(user), reply].into_iter().flatten().collect();
    let mut memory = Memory::new(
        id(turn),
        turn.owner.clone(),
        MemoryType::new(MemoryType::EPISODIC),
        content,
        Source::ExplicitUserInput,
        now,
    );
    memory.project_id.clone_from(&turn.project);
    memory.agent_id.clone_from(&turn.agent);
    memory.session_id = Some(turn.session.clone());
    memory.event_time = Some(turn.began);
    memory.provenance = Provenance {
        turn: Some(turn.key.clone()),
        extractor: Some(NAME.to_owned()),
        extractor_version: Some(VERSION.to_owned()),
        said_at: Some(turn.began),
        again: Vec::new(),
    };
    Episode { memory, parts }
}

/// The texts whose vectors a stored memory should have: the two sides of a
/// turn, or the whole content of any other memory.
pub(in crate::capture) fn parts_of(memory: &Memory) -> Vec<String> {
    let turn = memory.provenance.extractor.as_deref() == Some(NAME);
    match memory.as_turn().filter(|_| turn) {
        Some((user, reply)) => {
            [Some(user), reply].into_iter().flatten().map(str::to_owned).collect()
        }
        None => vec![memory.content.clone()],
    }
}

/// One line, single spaces.
fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first and last so many characters, cut between words where that is near.
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
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::memory::Owner;

    fn turn(user: &str, reply: &str) -> StoredTurn {
        StoredTurn {
            key: "k".into(),
            owner: Owner::of_user("alice").unwrap(),
            session: "s".into(),
            project: Some("p".into()),
            agent: None,
            user_text: user.into(),
            reply_text: reply.into(),
            began: Timestamp::from_second(1_000).unwrap(),
            request_id: None,
        }
    }

    #[test]
    fn a_turn_becomes_one_memory_with_both_sides_kept_apart() {
        let turn = turn("My budget\nis $10,000", "Noted:  ten thousand dollars for Hawaii.");
        let episode = episode(&turn, &[], Timestamp::now());
        assert_eq!(
            episode.memory.content,
            "User: My budget is $10,000\nAssistant: Noted: ten thousand dollars for Hawaii."
        );
        assert_eq!(
            episode.parts,
            ["My budget is $10,000", "Noted: ten thousand dollars for Hawaii."]
        );
        assert_eq!(parts_of(&episode.memory), episode.parts);
        assert_eq!(episode.memory.event_time, Some(turn.began));
        assert_eq!(episode.memory.project_id.as_deref(), Some("p"));
        assert_eq!(episode.memory.provenance.turn.as_deref(), Some("k"));
    }

    #[test]
    fn a_reply_that_says_nothing_is_left_out() {
        for reply in ["", "Noted.", "You're welcome!", "👍"] {
            let episode = episode(&turn("I moved to Lyon", reply), &[], Timestamp::now());
            assert_eq!(episode.parts, ["I moved to Lyon"], "{reply}");
            assert_eq!(parts_of(&episode.memory), episode.parts);
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
    fn long_texts_keep_their_ends() {
        let long = format!("begin {} end", "word ".repeat(1000));
        let kept = ends(&fold(&long), USER_HEAD, USER_TAIL);
        assert!(kept.starts_with("begin word") && kept.ends_with("word end"));
        assert!(kept.chars().count() <= USER_HEAD + USER_TAIL + 3);
        let chinese = "预".repeat(5000);
        assert_eq!(ends(&chinese, 10, 2), format!("{} … 预预", "预".repeat(10)));
    }
}
