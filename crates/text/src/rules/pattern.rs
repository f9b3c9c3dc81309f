//! Regular expressions that are as fast in every script as in English.
//!
//! The engine that reads a text in one pass knows the bounds of words (`\b`) in ASCII only. Where a text has other
//! characters, an engine takes over that is ten times slower. So a pattern with such bounds is first searched for
//! *loosely*, without them: this finds every place where a match begins, and more. Only there the exact pattern is tried.

use std::{borrow::Cow, iter::from_fn, ops::Range, sync::OnceLock};

use regex_automata::{Anchored, Input, MatchKind, PatternSet as Ids, meta, util::syntax};
use regex_syntax::hir::{Hir, HirKind, Look, Repetition};

/// How often the exact pattern is tried in vain in one search. Then it searches by itself, in one slow pass: a text made
/// for it could have loose matches everywhere.
const MAX_TRIES: usize = 32;

/// A constant pattern.
pub struct Pattern {
    exact: meta::Regex,
    /// Without bounds of words; none where the pattern has none.
    loose: Option<Lazy>,
}

/// A match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its bytes.
    pub whole: Range<usize>,
    /// The bytes of its first group that took part; without groups, all of it.
    pub value: Range<usize>,
}

/// An expression that is compiled at its first use: most texts are ASCII.
struct Lazy {
    from: Vec<Hir>,
    compiled: OnceLock<meta::Regex>,
}

impl Lazy {
    fn of(from: Vec<Hir>) -> Self {
        Self { from, compiled: OnceLock::new() }
    }

    fn get(&self, kind: MatchKind) -> &meta::Regex {
        self.compiled.get_or_init(|| compiled(&self.from, kind))
    }
}

impl Pattern {
    /// Compiles a pattern in the syntax of the `regex` crate.
    ///
    /// # Panics
    /// Where the pattern is not valid: it is a constant.
    #[must_use]
    pub fn constant(source: &str) -> Self {
        let hir = parsed(source);
        let never_empty = hir.properties().minimum_len().is_some_and(|least| least > 0);
        let loose = (never_empty && has_bounds(&hir)).then(|| Lazy::of(vec![without_bounds(&hir)]));
        Self { exact: compiled(&[hir], MatchKind::LeftmostFirst), loose }
    }

    /// Whether the text has a match.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        match self.loose_for(text) {
            None => self.exact.is_match(text),
            Some(loose) => loose.is_match(text) && self.find(text).is_some(),
        }
    }

    /// The first match.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<Range<usize>> {
        self.finder(text)(0)
    }

    /// Finds the first match that begins at or after a place.
    pub fn finder<'a>(&'a self, text: &'a str) -> impl Fn(usize) -> Option<Range<usize>> + 'a {
        let loose = self.loose_for(text);
        let exact = |input: &Input<'_>| Some(self.exact.search(input)?.range());
        move |from| self.search(text, from, loose, exact)
    }

    /// All matches that do not overlap.
    pub fn find_iter<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        self.all(text, self.finder(text), Range::clone)
    }

    /// All matches that do not overlap, with their values.
    pub fn values<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Found> + 'a {
        let loose = self.loose_for(text);
        let mut groups = self.exact.create_captures();
        let mut exact = move |input: &Input<'_>| {
            self.exact.search_captures(input, &mut groups);
            let whole = groups.get_match()?.range();
            let value = groups.iter().skip(1).flatten().next().map(Range::from);
            Some(Found { value: value.unwrap_or_else(|| whole.clone()), whole })
        };
        let next = move |from| self.search(text, from, loose, &mut exact);
        self.all(text, next, |found| found.whole.clone())
    }

    /// The text with all matches replaced.
    #[must_use]
    pub fn replace_all<'t>(&self, text: &'t str, by: &str) -> Cow<'t, str> {
        let mut out = String::new();
        let mut done = 0;
        for found in self.find_iter(text) {
            out.push_str(&text[done..found.start]);
            out.push_str(by);
            done = found.end;
        }
        if done == 0 && out.is_empty() {
            return Cow::Borrowed(text);
        }
        out.push_str(&text[done..]);
        Cow::Owned(out)
    }

    /// The loose expression, where the exact one would be slow.
    fn loose_for(&self, text: &str) -> Option<&meta::Regex> {
        let loose = self.loose.as_ref().filter(|_| !text.is_ascii())?;
        Some(loose.get(MatchKind::LeftmostFirst))
    }

    /// The first match by `exact`, which gets the place to search.
    fn search<T>(
        &self,
        text: &str,
        mut from: usize,
        loose: Option<&meta::Regex>,
        mut exact: impl FnMut(&Input<'_>) -> Option<T>,
    ) -> Option<T> {
        let Some(loose) = loose else { return exact(&Input::new(text).range(from..)) };
        for _ in 0..MAX_TRIES {
            let begin = loose.search(&Input::new(text).range(from..))?.start();
            let here = Input::new(text).range(begin..).anchored(Anchored::Yes);
            if let Some(found) = exact(&here) {
                return Some(found);
            }
            from = text.ceil_char_boundary(begin + 1);
        }
        exact(&Input::new(text).range(from..))
    }

    /// What `next` finds from the end of each match on.
    fn all<'a, T>(
        &'a self,
        text: &'a str,
        mut next: impl FnMut(usize) -> Option<T> + 'a,
        whole: impl Fn(&T) -> Range<usize> + 'a,
    ) -> impl Iterator<Item = T> + 'a {
        let mut from = 0;
        from_fn(move || {
            let found = (from <= text.len()).then(|| next(from))??;
            let range = whole(&found);
            // Behind an empty match the next one may begin a character later.
            from =
                if range.is_empty() { text.ceil_char_boundary(range.end + 1) } else { range.end };
            from = from.max(range.end + usize::from(range.is_empty()));
            Some(found)
        })
    }
}

/// Constant patterns that are searched for together.
pub struct PatternSet {
    exact: meta::Regex,
    loose: Lazy,
    /// Each alone.
    each: Vec<(String, OnceLock<Pattern>)>,
}

impl PatternSet {
    /// Compiles patterns in the syntax of the `regex` crate.
    ///
    /// # Panics
    /// Where a pattern is not valid: they are constants.
    #[must_use]
    pub fn constant(sources: &[String]) -> Self {
        let all: Vec<Hir> = sources.iter().map(|source| parsed(source)).collect();
        let loose = Lazy::of(all.iter().map(without_bounds).collect());
        let each = sources.iter().map(|source| (source.clone(), OnceLock::new())).collect();
        Self { exact: compiled(&all, MatchKind::All), loose, each }
    }

    #[cfg(test)]
    pub(crate) fn sources(&self) -> impl Iterator<Item = &String> {
        self.each.iter().map(|(source, _)| source)
    }

    /// Whether the text has a match of one of them.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        if text.is_ascii() {
            return self.exact.is_match(text);
        }
        let loose = self.loose.get(MatchKind::All);
        if !loose.is_match(text) {
            return false;
        }
        let mut ids = Ids::new(loose.pattern_len());
        loose.which_overlapping_matches(&Input::new(text), &mut ids);
        let mut may_match = ids.iter().filter_map(|id| self.each.get(id.as_usize()));
        may_match.any(|(source, it)| it.get_or_init(|| Pattern::constant(source)).is_match(text))
    }
}

#[expect(clippy::expect_used, reason = "constant; the tests of each user compile all of them")]
fn parsed(source: &str) -> Hir {
    syntax::parse(source).expect("a constant pattern is valid")
}

#[expect(clippy::expect_used, reason = "constant; the tests of each user compile all of them")]
fn compiled(patterns: &[Hir], kind: MatchKind) -> meta::Regex {
    let config = meta::Config::new().match_kind(kind).nfa_size_limit(None);
    meta::Builder::new()
        .configure(config)
        .build_many_from_hir(patterns)
        .expect("a constant pattern compiles")
}

fn is_bound(look: Look) -> bool {
    matches!(
        look,
        Look::WordUnicode
            | Look::WordUnicodeNegate
            | Look::WordStartUnicode
            | Look::WordEndUnicode
            | Look::WordStartHalfUnicode
            | Look::WordEndHalfUnicode
    )
}

fn has_bounds(hir: &Hir) -> bool {
    hir.properties().look_set().iter().any(is_bound)
}

/// The pattern without bounds of words and without groups. It matches wherever the pattern does.
fn without_bounds(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Look(look) if is_bound(*look) => Hir::empty(),
        HirKind::Capture(group) => without_bounds(&group.sub),
        HirKind::Repetition(of) => {
            Hir::repetition(Repetition { sub: Box::new(without_bounds(&of.sub)), ..of.clone() })
        }
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(without_bounds).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(without_bounds).collect()),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => hir.clone(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::Regex;

    use super::*;

    /// Patterns with bounds of words in every place.
    const PATTERNS: [&str; 7] = [
        r"(?i)\b(?:pin|код|コード)\b\s*[:=]?\s*(\d{2,6})",
        r"\b[\p{L}0-9.]+@[\p{L}0-9]+(?:\.[\p{L}0-9]+)+\b",
        r"(?:\bé|a\B)+(b\b)?",
        r"\bx\b|(x)|я\b",
        r"\b",
        r"(\w+)\b\s(?:\b\w)",
        r"(?-u:\b)[a-c]+(?-u:\b)",
    ];

    proptest! {
        #[test]
        fn the_matches_are_those_of_the_exact_pattern(text in "(?:pin|код|コード|[a-cxéя1-3@. :]){0,40}") {
            for source in PATTERNS {
                let (regex, pattern) = (Regex::new(source).unwrap(), Pattern::constant(source));
                let expected: Vec<Found> = regex
                    .captures_iter(&text)
                    .map(|it| {
                        let whole = it.get_match();
                        let value = it.iter().skip(1).flatten().next().unwrap_or(whole);
                        Found { whole: whole.range(), value: value.range() }
                    })
                    .collect();
                prop_assert_eq!(&pattern.values(&text).collect::<Vec<_>>(), &expected, "{}", source);
                let whole: Vec<_> = expected.into_iter().map(|it| it.whole).collect();
                prop_assert_eq!(&pattern.find_iter(&text).collect::<Vec<_>>(), &whole, "{}", source);
                prop_assert_eq!(pattern.is_match(&text), regex.is_match(&text), "{}", source);
                prop_assert_eq!(pattern.replace_all(&text, "-"), regex.replace_all(&text, "-"));
                let set = PatternSet::constant(&[source.to_owned()]);
                prop_assert_eq!(set.is_match(&text), regex.is_match(&text), "{}", source);
            }
        }
    }
}
