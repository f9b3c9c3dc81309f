//! The traces of one message on disk, without a turn: for measuring, and for the trail. It takes the same steps as a
//! finished turn.

use crate::{
    admission::Refusal,
    intake::screen::{admitted_words, orders},
};
use memgate_core::fence;
use memgate_screening::{Class, MAX_MESSAGE_BYTES, Screener};
use memgate_text::{
    command::{own_words, without_envelope},
    housekeeping::is_housekeeping,
};

/// The traces of a message on disk, and its losses on the way.
#[derive(Debug, Default)]
pub struct OnDisk {
    /// Its words in the journal.
    pub text: String,
    /// The statements that it asks to remember, word for word, and the words that state
    /// preferences.
    pub asked: Vec<String>,
    /// The classes of the values that were redacted.
    pub redacted: Vec<Class>,
    /// Why sentences were refused.
    pub refused: Vec<Refusal>,
    /// Whether words were left out because the user did not type them.
    pub untyped: bool,
    /// Whether it counts as a request to forget, so that nothing of it is kept.
    pub forgets: bool,
    /// Whether it counts as a prompt that a chat client sends on its own.
    pub housekeeping: bool,
}

/// Whether a message may be kept word for word: nothing of it is redacted, refused, typed by somebody else, a request to
/// forget or a client's own prompt. It takes the same steps as a finished turn.
#[must_use]
pub fn may_be_kept_whole(text: &str, screener: Screener) -> bool {
    if text.len() > MAX_MESSAGE_BYTES {
        return false;
    }
    let OnDisk { redacted, refused, untyped, forgets, housekeeping, .. } = on_disk(text, screener);
    redacted.is_empty() && refused.is_empty() && !untyped && !forgets && !housekeeping
}

/// The traces of a message on disk.
#[must_use]
pub fn on_disk(text: &str, screener: Screener) -> OnDisk {
    let message = screener.screen(&fence::strip(text), MAX_MESSAGE_BYTES);
    let said = &*without_envelope(&message.text);
    let (orders, rest, withdrawn) = orders(said, screener);
    let admitted = admitted_words(&rest, &message);
    let (forgets, housekeeping) = (withdrawn || !orders.forget.is_empty(), is_housekeeping(said));
    let prefer = orders.prefer.into_iter().map(|stated| stated.words);
    OnDisk {
        text: if forgets || housekeeping { String::new() } else { admitted.text },
        asked: orders.remember.into_iter().chain(prefer).collect(),
        redacted: message.removed,
        refused: admitted.refused,
        untyped: own_words(&rest) != rest,
        forgets,
        housekeeping,
    }
}
