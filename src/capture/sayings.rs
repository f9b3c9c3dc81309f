//! Where a memory was said: the turn that it was taken from, and the others that said it again.
//! Forgetting it forgets these, and what was said last decides what is older.

use std::collections::HashSet;

use jiff::Timestamp;

use super::{extract, journal::Forget};
use crate::memory::{Memory, Saying};

/// Whether a memory is a turn, or was taken from one turn word for word.
#[must_use]
pub fn is_word_for_word(memory: &Memory) -> bool {
    is_of_one_turn(memory.provenance.extractor.as_deref())
}

/// Whether what this extractor finds was said in that one turn, and not in a batch of them.
#[must_use]
pub fn is_of_one_turn(extractor: Option<&str>) -> bool {
    [extract::turns::NAME, extract::local::EXTRACTOR.name, extract::explicit::EXTRACTOR.name]
        .map(Some)
        .contains(&extractor)
}

/// Where a memory was taken from.
pub(super) fn first(memory: &Memory) -> Option<Saying> {
    Some(Saying {
        turn: memory.provenance.turn.clone()?,
        session: memory.session_id.clone(),
        extractor: memory.provenance.extractor.clone(),
        said_at: memory.provenance.said_at.or(memory.event_time),
    })
}

/// The same, and where it was said again.
pub fn sayings(memory: &Memory) -> impl Iterator<Item = Saying> {
    first(memory).into_iter().chain(memory.provenance.again.iter().cloned())
}

/// When a memory was last said, as far as that is known. A batch that tells it again may have
/// read the same words again.
pub(super) fn last_said(memory: &Memory) -> Option<Timestamp> {
    let again = memory.provenance.again.iter().filter(|it| is_of_one_turn(it.extractor.as_deref()));
    again.filter_map(|it| it.said_at).chain(memory.provenance.said_at).max()
}

/// Whether one of these turns said it.
pub(super) fn is_said_in(memory: &Memory, turns: &HashSet<String>) -> bool {
    let again = memory.provenance.again.iter().filter(|it| is_of_one_turn(it.extractor.as_deref()));
    again.map(|it| &it.turn).chain(&memory.provenance.turn).any(|turn| turns.contains(turn))
}

/// What a version of a memory was made of.
pub(super) fn sources(memory: &Memory) -> impl Iterator<Item = Forget> {
    // Whatever had been said by then may have been what it was found in.
    let first = first(memory).map(|saying| source(saying, memory.updated_at));
    let again = memory.provenance.again.iter().cloned();
    first.into_iter().chain(again.map(|saying| {
        let until = saying.said_at.unwrap_or(memory.updated_at);
        source(saying, until)
    }))
}

fn source(saying: Saying, until: Timestamp) -> Forget {
    match saying.session {
        Some(session) if !is_of_one_turn(saying.extractor.as_deref()) => {
            Forget::Found { session, turn: saying.turn, until }
        }
        _ => Forget::Turn(saying.turn),
    }
}
