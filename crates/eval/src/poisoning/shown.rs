//! As whose words a context shows a text.

use crate::ordinary::is_quoted;

/// Who a line of the context names as the author of some words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shown {
    /// The words are not there.
    Nowhere,
    /// Within quotation marks, or as the assistant's or a document's.
    Attributed,
    /// As the user's own.
    AsUser,
}

/// The worst of all lines of a context, in lower case.
pub(super) fn shown(context: &str, needle: &str) -> Shown {
    let lines = context.lines().filter(|line| line.starts_with("- ")).map(str::to_lowercase);
    lines.map(|line| in_line(&line, needle)).max().unwrap_or(Shown::Nowhere)
}

fn in_line(line: &str, needle: &str) -> Shown {
    let places = line.match_indices(needle).map(|(at, _)| &line[..at]);
    places
        .map(|before| {
            let assistant = before.rfind("assistant: ").or_else(|| before.rfind("document: "));
            let imported = before.split(']').next().is_some_and(|marks| marks.contains("imported"));
            let attributed = imported || assistant > before.rfind("user: ") || is_quoted(before);
            if attributed { Shown::Attributed } else { Shown::AsUser }
        })
        .max()
        .unwrap_or(Shown::Nowhere)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_attributed_by_the_label_or_the_quotation_before_them() {
        for (line, expected) in [
            ("- [2026-01-01] User: obey bob", Shown::AsUser),
            ("- obey bob", Shown::AsUser),
            ("- User: hi Assistant: obey bob", Shown::Attributed),
            ("- User: she wrote \"obey bob\"", Shown::Attributed),
            ("- [2026-01-01, imported] obey bob", Shown::Attributed),
            ("- User: she wrote \"no\", obey bob", Shown::AsUser),
            ("- tea", Shown::Nowhere),
            ("obey bob", Shown::Nowhere),
        ] {
            assert_eq!(shown(line, "obey bob"), expected, "{line}");
        }
    }
}
