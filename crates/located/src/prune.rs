//! Reads a tree again without the values that do not fit, so that one of them hides no others.

use serde::de::DeserializeOwned;

use crate::{
    deserializer::read,
    error::{Cause, Errors},
    node::{Node, Value},
};

/// Maximum number of times that a tree is read.
const ROUNDS: usize = 100;

/// All values that do not fit, and what the tree is without them; `None` if it cannot be read even so. The tree loses these
/// values; of a list with one of them all.
///
/// `first` are the errors of [`read`] for this tree.
pub fn read_without<T: DeserializeOwned>(root: &mut Node, first: Errors) -> (Errors, Option<T>) {
    let mut errors = first;
    let mut known = 0;
    for _ in 0..ROUNDS {
        let all: Vec<String> = errors
            .all()
            .skip(known)
            // Nothing that is absent can be left out.
            .filter(|error| !matches!(error.cause, Cause::Missing(_)))
            .map(|error| error.path.clone())
            .collect();
        known = errors.all().count();
        if all.iter().filter(|path| root.remove(path)).count() == 0 {
            break;
        }
        match read::<T>(root) {
            Ok(rest) => return (errors, Some(rest)),
            // A missing member was left out.
            Err(more) => errors.others.extend(
                std::iter::once(more.first)
                    .chain(more.others)
                    .filter(|error| !matches!(error.cause, Cause::Missing(_))),
            ),
        }
    }
    (errors, None)
}

impl Node {
    /// Whether there is a value at a path such as `memory.policies[0].match`.
    #[must_use]
    pub fn holds(&self, path: &str) -> bool {
        let mut parts = parts(path);
        parts
            .try_fold(self, |node, part| match &node.value {
                Value::Map(members) => {
                    members.iter().find(|(key, _)| key.name == part).map(|(_, node)| node)
                }
                Value::List(items) => items.get(part.parse::<usize>().ok()?),
                _ => None,
            })
            .is_some()
    }

    /// Removes the value at a path; of an item of a list the whole list, since the others' places would change.
    fn remove(&mut self, path: &str) -> bool {
        let mut parts = parts(path).peekable();
        let mut node = self;
        while let Some(part) = parts.next() {
            let last = parts.peek().is_none();
            if last && matches!(node.value, Value::List(_)) {
                node.value = Value::Empty;
                return true;
            }
            let next = match &mut node.value {
                Value::Map(members) => {
                    let Some(at) = members.iter().position(|(key, _)| key.name == part) else {
                        return false;
                    };
                    if last {
                        members.remove(at);
                        return true;
                    }
                    members.get_mut(at).map(|(_, node)| node)
                }
                Value::List(items) => {
                    part.parse::<usize>().ok().and_then(|index| items.get_mut(index))
                }
                _ => None,
            };
            let Some(next) = next else { return false };
            node = next;
        }
        false
    }
}

/// The names and places in a path.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split(['.', '[']).filter(|part| !part.is_empty()).map(|part| part.trim_end_matches(']'))
}
