//! A message that was edited and sent anew: at the same place of its session, in other words. It takes the place of the first
//! version.

use std::collections::HashSet;

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
use memgate_text::index::meaning_set;

/// So soon after its first version a first message is edited, in seconds. Later it is another message of a client that sends
/// no history, whose messages are all the first.
const SOON: i64 = 600;

/// The least share of their words with a meaning that two versions of a first message have in common.
const ALIKE: f32 = 0.7;

/// Owes forgetting the turn that a new turn takes the place of. The message before it shows the place, which is the same where
/// the turn before it said that; a first message must be nearly the same as its first version.
pub(super) fn owe_edited(
    c: &Connection,
    entry: &Entry,
    session: i64,
    ordinal: i64,
    turn: i64,
) -> rusqlite::Result<()> {
    let named = matches!(entry.session, SessionKey::Named(_));
    if !matches!(entry.place, Place::Numbered(_)) || !named {
        return Ok(());
    }
    let last: Option<(i64, String, i64)> = c
        .prepare_cached(
            "SELECT id, user_text, began_at FROM turns WHERE session = ?1 AND ordinal = ?2 AND id <> ?3
             ORDER BY id DESC LIMIT 1",
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
                && are_alike(&words, &entry.user_text)
        }
    };
    if is_edited {
        jobs::ask_for_turn(c, JobKind::ForgetEdited, old, entry.ended)?;
    }
    Ok(())
}

fn is_soon(first: Timestamp, then: Timestamp) -> bool {
    (0..=SOON).contains(&(then.as_second() - first.as_second()))
}

fn are_alike(one: &str, other: &str) -> bool {
    let [one, other]: [HashSet<String>; 2] = [meaning_set(one), meaning_set(other)];
    let shared = one.intersection(&other).count();
    let longer = one.len().max(other.len());
    longer > 0 && shared as f32 >= ALIKE * longer as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_one_message_are_alike_and_messages_of_one_kind_are_not() {
        for (one, other) in [
            ("We park our camper van in Silverholt.", "We park our camper van in Dunmarrow."),
            (
                "私たちのヨットは白波町に置いてあります。",
                "私たちのヨットは青磯町に置いてあります。",
            ),
        ] {
            assert!(are_alike(one, other), "{one}");
        }
        for (one, other) in [
            ("I like apples a lot", "I like pears a lot"),
            ("and tomorrow?", "and on Friday?"),
            ("What is a monad?", "What is a functor in category theory?"),
            ("", ""),
        ] {
            assert!(!are_alike(one, other), "{one}");
        }
    }
}
