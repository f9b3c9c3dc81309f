//! A message that was edited and sent anew: at the same place of its session, in other words. It takes the place of the first
//! version.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use crate::{
    journal::{
        columns::time,
        entry::Entry,
        jobs::{self, JobKind},
    },
    session::{Place, SessionKey},
};

/// So soon after its first version a first message is edited, in seconds.
const SOON: i64 = 600;

/// The least share of its letters that an edited first message keeps.
const KEPT: f32 = 0.6;

/// Owes forgetting the turn that a new turn takes the place of. The message before it shows the place: it is the same where
/// the turn before says that. A session's first message has none before it, and a client that sends no history numbers all
/// its messages as first: so only the second turn of a session edits the first one, where it says the same but for one word.
pub(super) fn owe_edited(
    c: &Connection,
    entry: &Entry,
    session: i64,
    ordinal: i64,
    turn: i64,
) -> rusqlite::Result<()> {
    let named = matches!(entry.session, SessionKey::Named(_));
    if !matches!(entry.place, Place::Numbered(_)) || !named || entry.had_media {
        return Ok(());
    }
    let last: Option<(i64, String, i64)> = c
        .prepare_cached(
            "SELECT id, user_text, began_at FROM turns
             WHERE session = ?1 AND ordinal = ?2 AND id <> ?3 AND NOT had_media ORDER BY id DESC LIMIT 1",
        )?
        .query_row(params![session, ordinal, turn], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let Some((old, words, began)) = last else { return Ok(()) };
    let is_edited = match &entry.before_digest {
        Some(before) => c
            .prepare_cached(
                "SELECT 1 FROM turns WHERE session = ?1 AND ordinal = ?2 AND digest = ?3",
            )?
            .exists(params![session, ordinal - 1, before])?,
        None => {
            ordinal == 1
                && is_soon(time(began)?, entry.began)
                && differ_in_a_word(&words, &entry.user_text)
                && turns_of(c, session)? == 2
        }
    };
    if is_edited {
        jobs::ask_for_turn(c, JobKind::ForgetEdited, old, entry.ended)?;
    }
    Ok(())
}

fn turns_of(c: &Connection, session: i64) -> rusqlite::Result<i64> {
    c.prepare_cached("SELECT count(*) FROM turns WHERE session = ?1")?
        .query_row([session], |row| row.get(0))
}

fn is_soon(first: Timestamp, then: Timestamp) -> bool {
    (0..=SOON).contains(&(then.as_second() - first.as_second()))
}

/// Whether two texts are the same but for one word, which is no number: items of a list differ by these.
fn differ_in_a_word(one: &str, other: &str) -> bool {
    let [one, other]: [Vec<char>; 2] = [one, other].map(|text| text.trim().chars().collect());
    let begin = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let (one_rest, other_rest) = (&one[begin..], &other[begin..]);
    let end =
        one_rest.iter().rev().zip(other_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let word = |rest: &[char]| {
        let middle = &rest[..rest.len() - end];
        !middle.is_empty() && middle.iter().all(|c| c.is_alphabetic())
    };
    let longer = one.len().max(other.len());
    word(one_rest) && word(other_rest) && (begin + end) as f32 >= KEPT * longer as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_one_message_differ_in_a_word_and_items_of_a_list_by_their_number() {
        for (one, other) in [
            ("We park our camper van in Silverholt.", "We park our camper van in Dunmarrow."),
            (
                "私たちのヨットは白波町に置いてあります。",
                "私たちのヨットは青磯町に置いてあります。",
            ),
        ] {
            assert!(differ_in_a_word(one, other), "{one}");
        }
        for (one, other) in [
            ("My notebook 4 holds recipes", "My notebook 5 holds recipes"),
            ("My boat lies at the pier", "My sister lives at the pier"),
            ("what is this?", "what is this?"),
            ("and tomorrow?", "and on Friday?"),
            ("What is a monad?", "What is a functor in category theory?"),
            ("", ""),
        ] {
            assert!(!differ_in_a_word(one, other), "{one}");
        }
    }
}
