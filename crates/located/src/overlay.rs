//! Lays one tree over another: how a source that counts more is put over one that counts less.

use crate::node::{Key, Node, Value};

impl Node {
    /// Lays `over` on this tree. The members of maps are merged; everything else is replaced, lists as a whole.
    /// A section without keys changes nothing. A section laid on a value that is none leaves it, so that it is refused
    /// when the tree is read.
    pub fn overlay(&mut self, over: Self) {
        match (&mut self.value, over.value) {
            (Value::Map(members), Value::Map(others)) => {
                self.line = over.line.or(self.line);
                for (key, node) in others {
                    lay(members, key, node);
                }
            }
            (Value::Map(_), Value::Empty) => self.line = over.line.or(self.line),
            (below, Value::Map(_)) if !matches!(below, Value::Empty | Value::Null) => {}
            (below, value) => {
                *below = value;
                self.line = over.line;
            }
        }
    }

    /// The tree without lines: it is not part of the file whose lines errors name.
    #[must_use]
    pub fn without_lines(self) -> Self {
        let key = |key| Key { line: None, ..key };
        Self { line: None, value: self.value.map(key, Self::without_lines) }
    }
}

fn lay(members: &mut Vec<(Key, Node)>, key: Key, node: Node) {
    let Some((known, below)) = members.iter_mut().find(|(known, _)| known.name == key.name) else {
        members.push((key, node));
        return;
    };
    known.line = match (&below.value, &node.value) {
        (Value::Map(_), Value::Map(_) | Value::Empty) => key.line.or(known.line),
        (Value::Empty | Value::Null, _) | (_, Value::Map(_)) => known.line,
        _ => key.line,
    };
    below.overlay(node);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(json: &str, line: u64) -> Node {
        fn placed(node: Node, line: u64) -> Node {
            let key = |key: Key| Key { line: Some(line), ..key };
            Node { line: Some(line), value: node.value.map(key, |node| placed(node, line)) }
        }
        placed(serde_json::from_str(json).unwrap(), line)
    }

    #[test]
    fn members_are_merged_and_other_values_replaced() {
        let mut below = tree(r#"{"a": {"b": 1, "c": [1, 2]}, "d": {"e": 1}}"#, 1);
        below.overlay(tree(r#"{"a": {"c": [3], "f": 2}, "d": 5}"#, 2));
        let expected = r#"{"a": {"b": 1, "c": [3], "f": 2}, "d": 5}"#;
        let bare = |node: Node| format!("{:?}", node.without_lines());
        for (key, line) in [("a.b", 1), ("a.c", 2), ("a.f", 2), ("d", 2), ("d.e", 2)] {
            assert_eq!(below.line_of(key), Some(line), "{key}");
        }
        assert_eq!(bare(below), bare(tree(expected, 1)));
    }

    #[test]
    fn a_tree_without_lines_leaves_those_of_the_sections_that_it_adds_to() {
        let mut below = tree(r#"{"a": {"b": 1}}"#, 7);
        below.overlay(tree(r#"{"a": {"c": 2}}"#, 9).without_lines());
        assert_eq!(below.line_of("a.b"), Some(7));
        assert_eq!(below.line_of("a.c"), None);
    }

    #[test]
    fn a_value_that_is_no_section_is_left_to_be_refused() {
        let mut below = tree(r#"{"a": 5, "b": null}"#, 3);
        below.overlay(tree(r#"{"a": {"c": 1}, "b": {"c": 1}}"#, 4));
        assert_eq!((below.line_of("a"), below.line_of("b.c")), (Some(3), Some(4)));
    }

    #[test]
    fn a_section_without_keys_keeps_what_is_below() {
        let mut below = tree(r#"{"a": {"b": 1}}"#, 1);
        let empty = Node { line: None, value: Value::Empty };
        let key = Key { name: "a".into(), line: None };
        below.overlay(Node { line: None, value: Value::Map(vec![(key, empty)]) });
        assert_eq!(below.line_of("a.b"), Some(1));
    }
}
