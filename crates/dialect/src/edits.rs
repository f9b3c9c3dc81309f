//! Edits of a body as splices on its bytes: ranges replaced, removed or inserted, nothing else
//! touched. It must never parse JSON nor know why a range changes.

use crate::{
    json::Object,
    seats::{Placed, Splice},
};

/// The changes to one body. Applies to the bytes the request was read from and to no others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edits {
    /// In ascending order, never overlapping.
    pub(crate) splices: Vec<Splice>,
    placed: Placed,
}

impl Edits {
    pub(crate) fn new(mut splices: Vec<Splice>, placed: Placed) -> Self {
        splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
        Self { splices, placed }
    }

    /// Nothing changes: the body can be passed on as it is.
    pub fn is_empty(&self) -> bool {
        self.splices.is_empty()
    }

    /// Where the context was put.
    pub fn placed(&self) -> Placed {
        self.placed
    }

    /// The edited body.
    pub fn apply(&self, body: &[u8]) -> Vec<u8> {
        let added: usize = self.splices.iter().map(|splice| splice.with.len()).sum();
        let mut edited = Vec::with_capacity(body.len() + added);
        let mut from = 0;
        for Splice { range, with } in &self.splices {
            edited.extend_from_slice(body.get(from..range.start).unwrap_or_default());
            edited.extend_from_slice(with.as_bytes());
            from = range.end;
        }
        edited.extend_from_slice(body.get(from..).unwrap_or_default());
        edited
    }
}

/// Removes every occurrence of the named members, each with one comma, so that what stays is an
/// object as before.
pub(crate) fn remove_members(object: &Object<'_>, names: &[&str]) -> Vec<Splice> {
    let mut splices = Vec::new();
    // Whether a member before this one stays: then the comma before goes, else the one after.
    let mut kept = false;
    for (index, member) in object.members.iter().enumerate() {
        if !names.contains(&member.key.as_ref()) {
            kept = true;
            continue;
        }
        let end = member.value.span().end;
        let before = index.checked_sub(1).and_then(|index| object.members.get(index));
        let range = match (kept, before, object.members.get(index + 1)) {
            (true, Some(before), _) => before.value.span().end..end,
            (_, _, Some(next)) => member.start..next.start,
            (_, _, None) => member.start..end,
        };
        splices.push(Splice::remove(range));
    }
    splices
}
