//! Finds access tokens with the rules of gitleaks (`rules/gitleaks.toml`): a keyword, a pattern, and for
//! loose patterns a minimum entropy and a list of harmless values.

use std::{
    collections::BTreeSet,
    ops::Range,
    sync::{LazyLock, OnceLock},
};

use aho_corasick::AhoCorasick;
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

use crate::{
    finding::{Finding, entropy},
    policy::Class,
};

/// The compiled size of the largest rule is below this, in bytes.
const SIZE_LIMIT: usize = 64 * 1024 * 1024;

/// The signs between the name of a service and a value of any form. Rules with them also find ordinary ids:
/// "discord:112233445566778899".
const LABEL: &str = "(?:=|>|:{1,3}=|";

/// The rules, and where a text has one of their keywords.
static RULES: LazyLock<Rules> = LazyLock::new(Rules::load);

struct Rules {
    rules: Vec<Rule>,
    /// Values that are never secrets.
    harmless: Allowlist,
    keywords: AhoCorasick,
    /// The rule of each keyword.
    rule_of: Vec<usize>,
}

#[derive(Deserialize)]
struct File {
    allowlist: Allowlist,
    rules: Vec<Rule>,
}

/// One rule. Rules for file names have no pattern; they are passed over.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    #[serde(default)]
    regex: Option<String>,
    /// The group that holds the secret; by default the first that matched.
    #[serde(default)]
    secret_group: Option<usize>,
    /// The secret must have more bits a character.
    #[serde(default)]
    entropy: f64,
    #[serde(default)]
    keywords: Vec<String>,
    #[serde(default)]
    allowlists: Vec<Allowlist>,
    /// Compiled at its first use: a text rarely has the keywords of more than a few rules.
    #[serde(skip)]
    compiled: OnceLock<Regex>,
}

/// Matches that are harmless.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Allowlist {
    regexes: Vec<String>,
    regex_target: Target,
    stopwords: Vec<String>,
    /// An allowlist for files says nothing of a text.
    paths: Vec<String>,
    condition: Option<String>,
    #[serde(skip)]
    compiled: OnceLock<Vec<Regex>>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Target {
    #[default]
    Secret,
    Match,
    Line,
}

impl Rules {
    #[expect(clippy::expect_used, reason = "a committed file; a test here reads it")]
    fn load() -> Self {
        let File { allowlist: harmless, rules } =
            toml::from_str(include_str!("../../rules/gitleaks.toml"))
                .expect("gitleaks.toml is valid");
        let keyword = |(index, rule): (usize, &Rule)| {
            rule.keywords.iter().map(|word| (word.clone(), index)).collect::<Vec<_>>()
        };
        let (words, rule_of): (Vec<_>, Vec<_>) = rules.iter().enumerate().flat_map(keyword).unzip();
        let keywords = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(&words)
            .expect("some hundred short keywords");
        Self { rules, harmless, keywords, rule_of }
    }

    /// The rules of whose keywords the text has one.
    fn of(&self, text: &str) -> BTreeSet<usize> {
        let keyword = |found: aho_corasick::Match| self.rule_of[found.pattern().as_usize()];
        self.keywords.find_overlapping_iter(text).map(keyword).collect()
    }
}

impl Rule {
    fn find<'a>(&'a self, text: &'a str, harmless: &'a Allowlist) -> Vec<Range<usize>> {
        let Some(source) = &self.regex else { return Vec::new() };
        let regex = self.compiled.get_or_init(|| compile(source));
        regex
            .captures_iter(text.as_bytes())
            .filter_map(|captures| {
                let whole = captures.get(0)?.range();
                let group = match self.secret_group {
                    Some(group) => captures.get(group),
                    None => captures.iter().skip(1).flatten().find(|it| !it.is_empty()),
                };
                let secret = group.map_or(whole.clone(), |it| it.range());
                // Patterns work on bytes; a secret ends between characters.
                let secret =
                    text.floor_char_boundary(secret.start)..text.ceil_char_boundary(secret.end);
                let counts = entropy(&text[secret.clone()]) > self.entropy
                    && !harmless.allows(text, &whole, &secret)
                    && !self.allowlists.iter().any(|it| it.allows(text, &whole, &secret));
                counts.then_some(secret)
            })
            .collect()
    }
}

impl Allowlist {
    fn allows(&self, text: &str, whole: &Range<usize>, secret: &Range<usize>) -> bool {
        if self.condition.is_some() && !self.paths.is_empty() {
            return false;
        }
        let value = text[secret.clone()].to_lowercase();
        let target = match self.regex_target {
            Target::Secret => secret.clone(),
            Target::Match => whole.clone(),
            Target::Line => line_of(text, whole),
        };
        let compiled =
            self.compiled.get_or_init(|| self.regexes.iter().map(|it| compile(it)).collect());
        let target = &text.as_bytes()[target];
        self.stopwords.iter().any(|word| value.contains(word.as_str()))
            || compiled.iter().any(|regex| regex.is_match(target))
    }
}

/// The bytes on either side of a match that count as its line.
const MAX_LINE: usize = 500;

fn line_of(text: &str, at: &Range<usize>) -> Range<usize> {
    let (from, to) = (at.start.saturating_sub(MAX_LINE), (at.end + MAX_LINE).min(text.len()));
    let (before, after) = (&text.as_bytes()[from..at.start], &text.as_bytes()[at.end..to]);
    let start = before.iter().rposition(|b| *b == b'\n').map_or(from, |it| from + it + 1);
    let end = after.iter().position(|b| *b == b'\n').map_or(to, |it| at.end + it);
    start..end
}

/// A pattern for Go: its classes are ASCII.
#[expect(clippy::expect_used, reason = "constant; a test here compiles every rule")]
fn compile(source: &str) -> Regex {
    let source = with_escaped_braces(source);
    RegexBuilder::new(&source)
        .unicode(false)
        .size_limit(SIZE_LIMIT)
        .build()
        .expect("a rule of gitleaks does not compile")
}

/// A pattern whose braces that open no repetition are escaped. Go reads them as characters, this regex crate as
/// errors.
fn with_escaped_braces(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut chars = source.char_indices();
    while let Some((at, c)) = chars.next() {
        let repeats = |rest: &str| {
            let end = rest.find('}');
            end.is_some_and(|end| {
                end > 0 && rest[..end].bytes().all(|b| b.is_ascii_digit() || b == b',')
            }) && rest.starts_with(|c: char| c.is_ascii_digit())
        };
        if c == '{' && !repeats(&source[at + 1..]) {
            out.push('\\');
        }
        out.push(c);
        if c == '\\' {
            out.extend(chars.next().map(|(_, escaped)| escaped));
        }
    }
    out
}

pub(super) fn find(text: &str) -> Vec<Finding> {
    find_by(text, |_| true)
}

/// Tokens whose own form identifies them.
pub(super) fn find_formatted(text: &str) -> Vec<Finding> {
    find_by(text, |rule| rule.regex.as_ref().is_some_and(|source| !source.contains(LABEL)))
}

fn find_by(text: &str, counts: impl Fn(&Rule) -> bool) -> Vec<Finding> {
    let rules = &*RULES;
    let with_keyword = rules.of(text).into_iter().map(|index| &rules.rules[index]);
    let found = with_keyword.filter(|rule| counts(rule));
    found
        .flat_map(|rule| rule.find(text, &rules.harmless))
        .map(|span| Finding::bare(span, Class::Token))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_compiles() {
        let rules = &*RULES;
        assert!(rules.rules.len() > 200);
        let labelled = |rule: &&Rule| rule.regex.as_ref().is_some_and(|it| it.contains(LABEL));
        assert!((80..140).contains(&rules.rules.iter().filter(labelled).count()));
        for rule in &rules.rules {
            rule.find("nothing", &rules.harmless);
            for list in rule.allowlists.iter().chain([&rules.harmless]) {
                list.allows("x", &(0..1), &(0..1));
            }
        }
    }
}
