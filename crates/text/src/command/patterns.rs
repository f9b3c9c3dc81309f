//! The patterns of commands, compiled once: the section `commands` in `lang/`.

use std::{collections::HashMap, ops::Range, sync::LazyLock};

use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use strum::VariantArray as _;

use crate::lang;

pub(super) use crate::lang::keys::List;

impl List {
    /// A pattern, where it must stand in a text.
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

    /// The places of `<what>` in a text, for each pattern that matches the whole of it.
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
    let lines = |list: List| {
        let patterns = lang::all(move |file| file.commands.of(list));
        patterns.map(|pattern| list.around(&spelt_out(pattern))).collect::<Vec<_>>()
    };
    List::VARIANTS.iter().map(|list| (*list, compiled(*list, &lines(*list)))).collect()
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
        for list in List::VARIANTS {
            assert!(
                PATTERNS.get(list).is_some_and(|patterns| !patterns.each.is_empty()),
                "{list:?}"
            );
        }
    }
}
