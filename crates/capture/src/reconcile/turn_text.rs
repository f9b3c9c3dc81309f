//! The sentences in memories of turns and of summaries. A turn is stored word for word beside the facts
//! that were found in it. Once one of these facts is replaced, its sentence is removed from the turn's
//! memory; the other sentences stay, and the history holds all of them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use memgate_core::memory::{Memory, MemoryId, Status};
use memgate_text::{
    compare::Statement,
    normal::one_line,
    repeats::drop_repeats,
    rules,
    sentences::{only_asks, sentences},
    time::statement_dates::undated,
};

/// Digests of the sentences that were removed from a turn's memory: the memory is made again when the
/// reply is regenerated, and must not bring them back.
const OUTDATED: &str = "outdated";

/// The most of them. The memory of a turn with more is superseded.
const MOST: usize = 16;

/// The most sentences of a message that are looked at.
const MOST_SENTENCES: usize = 8;

/// The sentences of a message that say something about the user or the user's world.
pub fn told(message: &str) -> Vec<&str> {
    let told =
        sentences(message).into_iter().filter(|said| !only_asks(said) && !rules::excludes(said));
    told.take(MOST_SENTENCES).collect()
}

/// These sentences of a turn's memory, or of a summary.
pub(super) fn told_by(turn: &Memory) -> Vec<&str> {
    told(user_part(turn).unwrap_or_default())
}

/// The user's words in a memory, where it holds sentences of turns.
pub(super) fn user_part(memory: &Memory) -> Option<&str> {
    match memory.as_turn() {
        Some((user, _)) => Some(user),
        None => memory.as_summary(),
    }
}

/// The turn's memory without what `words` say; `None` where it does not say them. Nothing left to
/// say, it is superseded.
pub(super) fn without(turn: &Memory, words: &str) -> Option<Memory> {
    let user = user_part(turn)?;
    let words = folded(words);
    let gone: Vec<String> = sentences(user)
        .into_iter()
        .filter(|said| words.contains(&folded(said)) || folded(said).contains(&words))
        .map(digest)
        .collect();
    if gone.is_empty() {
        return None;
    }
    let mut digests = digests(turn);
    digests.extend(gone);
    let mut left = turn.clone();
    left.metadata.insert(OUTDATED.into(), json!(digests));
    leave_out(&mut left, &digests);
    Some(left)
}

/// The memory of a turn or summary made anew, without what the stored ones say no longer.
pub(crate) fn still_true(mut made: Memory, stored: &[Memory]) -> Memory {
    let digests: BTreeSet<String> = stored.iter().flat_map(digests).collect();
    if !digests.is_empty() {
        leave_out(&mut made, &digests);
    }
    made
}

fn leave_out(turn: &mut Memory, digests: &BTreeSet<String>) {
    let Some(user) = user_part(turn) else { return };
    // A summary's sentence has a date that the turn's lacks.
    let (gone, kept): (Vec<&str>, Vec<&str>) = sentences(user).into_iter().partition(|said| {
        [digest(said), digest(&undated(said))].iter().any(|digest| digests.contains(digest))
    });
    let gone: Vec<String> = gone.into_iter().map(str::to_owned).collect();
    let told = kept.iter().any(|said| !only_asks(said));
    if !told || digests.len() > MOST {
        turn.status = Status::Superseded;
        return;
    }
    let reply = turn.reply.as_deref().map(|reply| without_repeats(reply, &gone));
    let (content, reply) = (kept.join(" "), reply.filter(|reply| !reply.is_empty()));
    (turn.content, turn.reply) = (content, reply);
}

/// A reply without the sentences that repeat what is gone, or name a value of it.
pub(crate) fn without_repeats(reply: &str, gone: &[String]) -> String {
    without_values(&drop_repeats(reply, gone), gone)
}

fn without_values(reply: &str, gone: &[String]) -> String {
    let values: Vec<_> = gone.iter().map(|said| Statement::of(said).values).collect();
    let repeats = |said: &&str| {
        let own = Statement::of(said).values;
        values.iter().any(|gone| own.shares_with(gone))
    };
    sentences(reply).into_iter().filter(|said| !repeats(said)).collect::<Vec<_>>().join(" ")
}

fn digests(turn: &Memory) -> BTreeSet<String> {
    let listed = turn.metadata.get(OUTDATED).and_then(Value::as_array);
    listed.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A short name of a sentence, the same however it is spaced.
fn digest(sentence: &str) -> String {
    MemoryId::derived(&["sentence", &folded(sentence)]).as_str()[4..20].to_owned()
}

/// One line, single spaces, without the marks at its end.
pub(crate) fn folded(text: &str) -> String {
    one_line(text).trim_end_matches(|c: char| !c.is_alphanumeric()).to_owned()
}
