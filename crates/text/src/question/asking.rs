//! The part of a message that asks, and measures of a text.

use crate::{
    index,
    question::asking_part::{Asking, asking_part},
};

/// The width of an ideograph or kana, in letters: each says about as much as a short word.
const CJK_WIDTH: usize = 3;
/// A longer message is pasted text around a question; about what the 64 tokens
/// hold that are embedded of a query.
pub const ASKING_CHARS: usize = 280;

/// About how much a text says, in letters of an alphabet.
pub fn width(text: &str) -> usize {
    text.chars().map(|c| if index::is_unspaced(c) { CJK_WIDTH } else { 1 }).sum()
}

/// The part of a message that asks: all of a short one; of a long one the last
/// question, or both ends, where people say what is to be done with the text between.
pub fn asking(message: &str) -> String {
    let message = message.trim();
    if first_chars(message, ASKING_CHARS).len() == message.len() {
        return message.to_owned();
    }
    match asking_part(message) {
        Asking::Question(question) => last_chars(question, ASKING_CHARS).trim().to_owned(),
        Asking::Ends { head, tail } => {
            let half = ASKING_CHARS / 2;
            format!("{} {}", first_chars(head, half).trim(), last_chars(tail, half).trim())
        }
    }
}

/// The first characters of a text.
pub fn first_chars(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or(text, |(end, _)| &text[..end])
}

/// The last characters of a text.
fn last_chars(text: &str, count: usize) -> &str {
    let start =
        text.char_indices().rev().nth(count.saturating_sub(1)).map_or(0, |(start, _)| start);
    &text[start..]
}
