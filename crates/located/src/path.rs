//! The place of a value in the tree, for example `memory.policies[0].match`.

use std::fmt;

/// Maximum length of a name in a path, in characters: requests choose the names.
const MAX_NAME: usize = 64;

/// A path on the stack; only an error writes it out.
#[derive(Clone, Copy)]
pub(crate) enum Path<'p> {
    Root,
    Member(&'p Path<'p>, &'p str),
    Item(&'p Path<'p>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Item(list, index) => write!(f, "{list}[{index}]"),
            Self::Member(parent, name) => {
                parent.fmt(f)?;
                if !matches!(parent, Self::Root) {
                    f.write_str(".")?;
                }
                match name.char_indices().nth(MAX_NAME) {
                    Some((end, _)) => write!(f, "{}…", &name[..end]),
                    None => f.write_str(name),
                }
            }
        }
    }
}

/// The path of a member.
#[must_use]
pub fn join(parent: &str, member: &str) -> String {
    if parent.is_empty() { member.to_owned() } else { format!("{parent}.{member}") }
}
