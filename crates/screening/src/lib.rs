//! Finds secrets and personal data in texts and removes them before anything is written. Every path into
//! memory goes through a [`Screener`]: capture before its journal, REST, import and the command line before
//! the store.
//!
//! Pure functions on text. They report only the class of a removed value, never the value. A [`Policy`] decides on
//! each class; by default only the value is removed, because "my key is [removed: token], why
//! does the call fail?" is still worth remembering.

#[cfg(any(test, fuzzing))]
mod chosen;
mod finding;
mod invisible;
mod personal;
mod policy;
mod secrets;

use std::ops::Range;

use memgate_text::{normal::Look, sentences::sentences};

#[cfg(any(test, fuzzing))]
pub use chosen::screen_chosen;
use finding::Finding;
pub use policy::{Action, Class, Policy};

/// Maximum size of a stored message, in bytes of UTF-8. About 10,000 words: more than anyone types,
/// less than a pasted log.
pub const MAX_MESSAGE_BYTES: usize = 64 * 1024;

/// Maximum size of a stored tool input or output, in bytes of UTF-8.
pub const MAX_TOOL_BYTES: usize = 16 * 1024;

/// The result of screening.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screened {
    /// The remaining text.
    pub text: String,
    /// The classes of the removed values, one entry each.
    pub removed: Vec<Class>,
    /// Values that the policy keeps, and each with its label: they refuse nothing. The longest first.
    pub kept: Vec<String>,
    /// Whether the end was cut off because the text was too long.
    pub clipped: bool,
}

/// Removes from texts what a policy does not allow to be stored.
#[derive(Clone, Copy, Debug, Default)]
pub struct Screener {
    policy: Policy,
}

impl Screener {
    /// A screener for this policy.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self { policy }
    }

    /// Removes secrets and personal data from `text` and truncates it to `max_bytes`.
    #[must_use]
    pub fn screen(&self, text: &str, max_bytes: usize) -> Screened {
        let (head, clipped) = clip(text, max_bytes);
        // Done first, because an invisible character inside a secret would hide it.
        let visible = invisible::strip(head);
        let (kept, acted): (Vec<_>, Vec<_>) = self
            .findings(&visible)
            .into_iter()
            .partition(|it| self.policy.action(it.class) == Action::Keep);
        let mut kept: Vec<String> = kept
            .into_iter()
            .flat_map(|it| [it.labelled, it.span])
            .map(|range| visible[range].to_owned())
            .collect();
        kept.sort_by(|a, b| (b.len(), a).cmp(&(a.len(), b)));
        kept.dedup();
        if acted.is_empty() {
            return Screened { text: visible.into_owned(), removed: Vec::new(), kept, clipped };
        }
        let dropped = self.dropped(&visible, &acted);
        let (text, removed) = redact(&visible, acted, &dropped);
        Screened { text, removed, kept, clipped }
    }

    /// Patterns search the look of a text: check digits are computed of ASCII, and a foreign letter hides no label.
    fn findings(&self, text: &str) -> Vec<Finding> {
        let look = Look::of(text);
        let wanted = |class| self.policy.action(class) != Action::Keep;
        let mut found = secrets::find(look.as_str());
        found.extend(personal::find(look.as_str(), wanted));
        for Finding { span, labelled, .. } in &mut found {
            *span = look.origin(span.clone());
            *labelled = look.origin(labelled.clone());
        }
        found.extend(personal::as_written(text, wanted));
        found
    }

    /// The sentences that the policy drops.
    fn dropped(&self, text: &str, found: &[Finding]) -> Vec<Range<usize>> {
        let drops = found.iter().filter(|it| self.policy.action(it.class) == Action::Drop);
        let mut drops: Vec<Range<usize>> = drops.map(|it| it.span.clone()).collect();
        if drops.is_empty() {
            return Vec::new();
        }
        drops.sort_by_key(|span| span.start);
        let mut drops = drops.into_iter().peekable();
        // The furthest end of the spans that begin before the end of a sentence.
        let mut reached = 0;
        sentences(text)
            .into_iter()
            .map(|sentence| {
                let start = sentence.as_ptr().addr() - text.as_ptr().addr();
                start..start + sentence.len()
            })
            .filter(|range| {
                while let Some(span) = drops.next_if(|span| span.start < range.end) {
                    reached = reached.max(span.end);
                }
                range.start < reached
            })
            .collect()
    }
}

/// Whether a name or an id holds a secret of a known format or with a label. Names and ids are random or short, so nothing
/// weaker counts in them.
#[must_use]
pub fn name_holds_secret(name: &str) -> bool {
    !secrets::find_in_name(&invisible::strip(name)).is_empty()
}

/// The head of a text. It is cut at white space, so that no half of a secret stays that its pattern
/// would no longer match.
fn clip(text: &str, max_bytes: usize) -> (&str, bool) {
    if text.len() <= max_bytes {
        return (text, false);
    }
    let head = &text[..text.floor_char_boundary(max_bytes)];
    // Text without white space near the cut (Chinese, base64) is cut anywhere.
    let from = head.floor_char_boundary(head.len().saturating_sub(512));
    let end = head[from..].rfind(char::is_whitespace).map_or(head.len(), |at| from + at);
    (&head[..end], true)
}

/// Replaces the findings by their marks and the dropped sentences by nothing.
fn redact(text: &str, mut found: Vec<Finding>, dropped: &[Range<usize>]) -> (String, Vec<Class>) {
    found.sort_by_key(|it| (it.span.start, usize::MAX - it.span.end));
    let mut out = String::with_capacity(text.len());
    let mut removed = Vec::new();
    let mut done = 0;
    let mut sentences = dropped.iter().peekable();
    for Finding { span, class, .. } in found {
        while let Some(sentence) = sentences.next_if(|it| it.start <= span.start) {
            out.push_str(text.get(done..sentence.start).unwrap_or_default());
            done = done.max(sentence.end);
        }
        if span.start < done {
            // Inside one already removed, or overlapping it.
            let sentence = dropped.partition_point(|it| it.end <= span.start);
            let is_dropped = dropped.get(sentence).is_some_and(|it| it.start <= span.start);
            if span.end > done || is_dropped {
                removed.push(class);
            }
            done = done.max(span.end);
            continue;
        }
        out.push_str(&text[done..span.start]);
        out.push_str(class.mark());
        removed.push(class);
        done = span.end;
    }
    out.push_str(&text[done..]);
    (out, removed)
}

#[cfg(test)]
mod tests;
