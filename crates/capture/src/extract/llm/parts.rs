//! Turns in parts that fit one request each, so that all of a long batch is read. A part begins
//! with the end of the one before, for what its first words may point at. Equal turns always
//! give equal parts: a job that goes on with the next one finds it again.

use serde::Serialize;

use crate::{extract::llm::redact::redacted, turn::StoredTurn};
use memgate_text::repeats::drop_repeats;

/// Bytes of a conversation in one request: about 6,000 tokens.
pub(crate) const PART_BYTES: usize = 24 * 1024;

/// The most parts of one batch; of a longer one the oldest are left out. Fifteen turns at their
/// longest have half as many.
const MOST_PARTS: usize = 64;

/// The part of a request that the end of the one before may take.
const OVERLAP: usize = 12;

/// The part of a request that one reply may take: it only helps to understand the user.
const REPLY: usize = 6;

/// A turn, or a piece of a long one, as the model is shown it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Shown {
    pub(super) date: String,
    pub(super) user: String,
    pub(super) assistant: String,
}

impl Shown {
    /// The user's words in it.
    pub(crate) fn user(&self) -> &str {
        &self.user
    }

    /// The turn without the assistant's sentences that repeat one of the memories.
    pub(super) fn without_repeats(&self, memories: &[String]) -> Self {
        Self { assistant: drop_repeats(&self.assistant, memories), ..self.clone() }
    }

    fn bytes(&self) -> usize {
        self.user.len() + self.assistant.len()
    }
}

/// The parts of some turns, oldest first, each of about `bytes` at most. Text that must not be
/// read is left out.
pub(crate) fn parts(turns: &[StoredTurn], bytes: usize) -> Vec<Vec<Shown>> {
    let mut parts: Vec<Vec<Shown>> = Vec::new();
    let (mut part, mut size) = (Vec::new(), 0);
    for piece in turns.iter().flat_map(|turn| pieces(turn, bytes)) {
        if size + piece.bytes() > bytes && !part.is_empty() {
            let end = part.last().map(|last| end_of(last, bytes / OVERLAP));
            parts.push(std::mem::take(&mut part));
            part.extend(end);
            size = part.iter().map(Shown::bytes).sum();
        }
        size += piece.bytes();
        part.push(piece);
    }
    if !part.is_empty() {
        parts.push(part);
    }
    let left_out = parts.len().saturating_sub(MOST_PARTS);
    if left_out > 0 {
        tracing::warn!(parts = left_out, "a batch is too long to be read whole");
    }
    parts.split_off(left_out)
}

/// A turn in pieces of at most half a request; the reply stands with the last.
fn pieces(turn: &StoredTurn, bytes: usize) -> Vec<Shown> {
    let Some(user) = redacted(&turn.user_text) else { return Vec::new() };
    let reply = redacted(&turn.reply_text).unwrap_or_default();
    let date = turn.began.strftime("%F").to_string();
    let mut texts = windows(&user, bytes / 2);
    let last = texts.pop().unwrap_or_default();
    let shown = |user: &str, assistant: &str| Shown {
        date: date.clone(),
        user: user.to_owned(),
        assistant: assistant.to_owned(),
    };
    let before = texts.iter().map(|text| shown(text, ""));
    before.chain([shown(last, head(&reply, bytes / REPLY))]).collect()
}

/// A text in windows of at most `bytes`, cut at white space where that is near.
fn windows(text: &str, bytes: usize) -> Vec<&str> {
    let mut windows = Vec::new();
    let mut rest = text;
    while rest.len() > bytes {
        let most = head(rest, bytes);
        let from = most.floor_char_boundary(most.len() - most.len() / 8);
        let end = most[from..].rfind(char::is_whitespace).map_or(most.len(), |at| from + at);
        windows.push(rest[..end].trim());
        rest = rest[end..].trim_start();
    }
    windows.push(rest);
    windows
}

/// The end of what a part shows last.
fn end_of(shown: &Shown, bytes: usize) -> Shown {
    let tail = |text: &str| {
        text[text.ceil_char_boundary(text.len().saturating_sub(bytes / 2))..].to_owned()
    };
    Shown { date: shown.date.clone(), user: tail(&shown.user), assistant: tail(&shown.assistant) }
}

/// At least one character, so that cutting comes to an end.
fn head(text: &str, bytes: usize) -> &str {
    let first = text.chars().next().map_or(0, char::len_utf8);
    &text[..text.floor_char_boundary(bytes).max(first)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::stored_turn;

    fn turn(user: &str, reply: &str) -> StoredTurn {
        stored_turn("k", user, reply)
    }

    #[test]
    fn a_short_batch_is_one_part_in_order_and_dated() {
        let parts = parts(&[turn("first", "a"), turn("second", "b")], PART_BYTES);
        assert_eq!(parts.len(), 1);
        let texts: Vec<_> = parts[0].iter().map(|s| (&*s.user, &*s.assistant)).collect();
        assert_eq!(texts, [("first", "a"), ("second", "b")]);
        assert_eq!(parts[0][0].date, "2026-02-09");
    }

    #[test]
    fn each_word_of_a_long_batch_is_in_some_part_and_parts_overlap() {
        let long: String = (0..20_000).map(|n| format!("w{n} ")).collect();
        let turns = [turn("begin", ""), turn(&long, "reply"), turn("end", "")];
        let parts = parts(&turns, PART_BYTES);
        let all: Vec<&str> =
            parts.iter().flatten().flat_map(|s| s.user.split_whitespace()).collect();
        for word in ["begin", "w0", "w9999", "w19999", "end"] {
            assert!(all.contains(&word), "{word}");
        }
        for (before, after) in parts.iter().zip(&parts[1..]) {
            let tail = before.last().map_or("", |shown| &shown.user);
            assert!(!after[0].user.is_empty() && tail.ends_with(&after[0].user));
        }
        assert!(
            parts
                .iter()
                .all(|part| part.iter().map(Shown::bytes).sum::<usize>() <= PART_BYTES * 5 / 4)
        );
    }

    #[test]
    fn of_a_batch_beyond_every_bound_the_newest_parts_are_read() {
        let long = "word ".repeat(10_000);
        let turns: Vec<_> = (0..100).map(|n| turn(&format!("{n} {long} end{n}"), "")).collect();
        let parts = parts(&turns, PART_BYTES);
        assert_eq!(parts.len(), MOST_PARTS);
        let last = parts.last().and_then(|part| part.last());
        assert!(last.is_some_and(|shown| shown.user.ends_with("end99")));
    }

    proptest! {
        #[test]
        fn any_turns_are_cut_and_no_character_is_lost(
            // Letters that make no word which a rule knows.
            texts in prop::collection::vec("[bdfé我 ]{0,300}", 0..8), bytes in 24usize..200,
        ) {
            let turns: Vec<_> = texts.iter().map(|text| turn(text, "é reply 我")).collect();
            let shown: String = turns
                .iter()
                .flat_map(|turn| pieces(turn, bytes))
                .flat_map(|piece| piece.user.chars().collect::<Vec<_>>())
                .filter(|c| !c.is_whitespace())
                .collect();
            let said: String = texts.concat().chars().filter(|c| !c.is_whitespace()).collect();
            prop_assert_eq!(shown, said);
            let _ = parts(&turns, bytes);
        }
    }
}
