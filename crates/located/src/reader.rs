//! A node that is being read.

use std::cell::RefCell;

use crate::{
    error::{Cause, Error},
    node::{Key, Node},
    path::Path,
};

/// Maximum number of unknown keys that are reported.
const MAX_UNKNOWN: usize = 100;

#[derive(Clone, Copy)]
pub(crate) struct Reader<'t, 'p> {
    pub(crate) node: &'t Node,
    pub(crate) path: &'p Path<'p>,
    pub(crate) unknown: &'p RefCell<Vec<Error>>,
    /// Whether the node is only read in part, because the other keys belong to other structs.
    pub(crate) part: bool,
}

impl<'t, 'p> Reader<'t, 'p> {
    pub(crate) fn child<'q>(&self, node: &'t Node, path: &'q Path<'q>) -> Reader<'t, 'q>
    where
        'p: 'q,
    {
        Reader { node, path, unknown: self.unknown, part: false }
    }

    pub(crate) fn placed<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        result.map_err(|error| error.at(*self.path, self.node.line))
    }

    pub(crate) fn refused<T>(&self, cause: Cause) -> Result<T, Error> {
        self.placed(Err(cause.into()))
    }

    pub(crate) fn note_unknown(&self, members: &[(Key, Node)], known: &'static [&'static str]) {
        let mut unknown = self.unknown.borrow_mut();
        for (Key { name, line }, _) in members {
            if !known.contains(&name.as_str()) && unknown.len() < MAX_UNKNOWN {
                let cause = Cause::UnknownKey { name: name.clone(), known };
                unknown.push(Error::from(cause).at(Path::Member(self.path, name), *line));
            }
        }
    }
}
