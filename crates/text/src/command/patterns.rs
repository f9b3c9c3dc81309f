//! The patterns of patterns.txt, compiled once.

use std::{collections::HashMap, ops::Range, sync::LazyLock};

use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

/// A list of patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum List {
    Stem,
    Lead,
    Ask,
    Remember,
    RememberBare,
    RememberMine,
    RememberRule,
    RememberBefore,
    ForgetFact,
    ForgetMine,
    ForgetTopic,
    ForgetMyTopic,
    Rule,
    Mine,
    Subject,
    Named,
    Talk,
    Clause,
    Thing,
    Task,
    AndThen,
    Tail,
    Aside,
}

impl List {
    const ALL: [(Self, &str); 23] = [
        (Self::Stem, "stem"),
        (Self::Lead, "lead"),
        (Self::Ask, "ask"),
        (Self::Remember, "remember"),
        (Self::RememberBare, "remember_bare"),
        (Self::RememberMine, "remember_mine"),
        (Self::RememberRule, "remember_rule"),
        (Self::RememberBefore, "remember_before"),
        (Self::ForgetFact, "forget_fact"),
        (Self::ForgetMine, "forget_mine"),
        (Self::ForgetTopic, "forget_topic"),
        (Self::ForgetMyTopic, "forget_my_topic"),
        (Self::Rule, "rule"),
        (Self::Mine, "mine"),
        (Self::Subject, "subject"),
        (Self::Named, "named"),
        (Self::Talk, "talk"),
        (Self::Clause, "clause"),
        (Self::Thing, "thing"),
        (Self::Task, "task"),
        (Self::AndThen, "and_then"),
        (Self::Tail, "tail"),
        (Self::Aside, "aside"),
    ];

    fn around(self, pattern: &str) -> String {
        match self {
            Self::Stem | Self::AndThen => pattern.to_owned(),
            Self::Lead | Self::Ask => format!("^(?:{pattern})"),
            Self::Tail => format!("(?:{pattern})$"),
            _ => format!("^(?:{pattern})$"),
        }
    }

    /// Whether a text is one of these.
    pub(super) fn is_match(self, text: &str) -> bool {
        PATTERNS.get(&self).is_some_and(|patterns| patterns.set.is_match(text))
    }

    /// Where the first of these that is found lies.
    pub(super) fn find(self, text: &str) -> Option<Range<usize>> {
        let found = self.matching(text).filter_map(|regex| regex.find(text));
        found.map(|found| found.range()).min_by_key(|range| range.start)
    }

    /// What each of these that a text is holds at `<what>`.
    pub(super) fn captured(self, text: &str) -> Vec<Range<usize>> {
        let named = |regex: &Regex| Some(regex.captures(text)?.name("what")?.range());
        self.matching(text).filter_map(named).collect()
    }

    fn matching(self, text: &str) -> impl Iterator<Item = &'static Regex> {
        let matches = PATTERNS.get(&self).map(|patterns| (patterns, patterns.set.matches(text)));
        matches.into_iter().flat_map(|(patterns, matches)| {
            matches.into_iter().filter_map(|at| patterns.each.get(at)).collect::<Vec<_>>()
        })
    }
}

struct Patterns {
    set: RegexSet,
    each: Vec<Regex>,
}

static PATTERNS: LazyLock<HashMap<List, Patterns>> = LazyLock::new(|| {
    let lists: HashMap<&str, List> = List::ALL.iter().map(|(list, name)| (*name, *list)).collect();
    let mut lines: HashMap<List, Vec<String>> = HashMap::new();
    let mut current = None;
    for line in include_str!("patterns.txt").lines() {
        let heading = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        if let Some(list) = heading.and_then(|name| lists.get(name)) {
            current = Some(*list);
        } else if let (Some(list), false) = (current, line.is_empty() || line.starts_with("# ")) {
            lines.entry(list).or_default().push(list.around(&spelt_out(line)));
        }
    }
    lines.into_iter().map(|(list, lines)| (list, compiled(list, &lines))).collect()
});

fn spelt_out(line: &str) -> String {
    line.replace(' ', r"\s+").replace('\'', "['’]").replace("<what>", "(?P<what>.+?)")
}

/// Memory that a list may take, in bytes; a broken one would ask for more.
const MAX_BYTES: usize = 64 * 1024 * 1024;

#[expect(clippy::expect_used, reason = "constant; a test here compiles them all")]
fn compiled(list: List, lines: &[String]) -> Patterns {
    let any_case = list != List::Named;
    let set = RegexSetBuilder::new(lines).case_insensitive(any_case).size_limit(MAX_BYTES).build();
    let each = lines
        .iter()
        .map(|line| RegexBuilder::new(line).case_insensitive(any_case).build())
        .collect::<Result<_, _>>();
    Patterns { set: set.expect("a list compiles"), each: each.expect("a pattern compiles") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_is_there_and_compiles() {
        for (list, name) in List::ALL {
            assert!(
                PATTERNS.get(&list).is_some_and(|patterns| !patterns.each.is_empty()),
                "{name}"
            );
        }
    }
}
