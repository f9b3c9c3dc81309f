//! A message in pieces that can be judged and kept alone: sentences, and the clauses in them.

use std::ops::Range;

use crate::{lang::Language, normal::plain, sentences};

/// The most sentences that are looked at: more is pasted text.
const MOST: usize = 32;

/// A part of a message, in its place. The text around it shows whose words these are: "translate: …".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    message: &'a str,
    range: Range<usize>,
}

impl<'a> Piece<'a> {
    /// The sentences of a message.
    #[must_use]
    pub fn sentences(message: &'a str) -> Vec<Self> {
        let ranges = sentences::ranges(message).into_iter().take(MOST);
        ranges.map(|range| Self { message, range }).collect()
    }

    /// One of several sentences of a message, behind the one before it, which often names what "it" is.
    #[must_use]
    pub fn with_the_one_before(sentences: &[Self], at: usize) -> String {
        let some = &sentences[at.saturating_sub(1)..=at];
        some.iter().map(Self::words).collect::<Vec<_>>().join(" ")
    }

    /// The whole message.
    #[must_use]
    pub fn message(&self) -> &'a str {
        self.message
    }

    /// Its place in the message, in bytes.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Its own words.
    #[must_use]
    pub fn words(&self) -> &'a str {
        &self.message[self.range.clone()]
    }

    /// The message before it.
    #[must_use]
    pub fn before(&self) -> &'a str {
        &self.message[..self.range.start]
    }

    /// The message after it.
    #[must_use]
    pub fn after(&self) -> &'a str {
        &self.message[self.range.end..]
    }

    /// Its clauses: what commas, dashes and, between words that are written without spaces, spaces part. Within brackets
    /// and quotation marks nothing is parted.
    #[must_use]
    pub fn clauses(&self) -> Vec<Self> {
        let words = self.words();
        let mut found = Vec::new();
        let mut start = 0;
        let mut enclosed_until = 0;
        let mut japanese = false;
        for (at, c) in words.char_indices() {
            japanese |= ('\u{3040}'..='\u{30FF}').contains(&c);
            if at < enclosed_until {
                continue;
            }
            if let Some(close) = sentences::closing_mark(words, start, at, c) {
                enclosed_until = close;
                continue;
            }
            let rest = &words[at + c.len_utf8()..];
            if parts(&words[..at], c, rest, japanese) {
                found.push(start..at);
                start = at + c.len_utf8();
            }
        }
        found.push(start..words.len());
        let clauses = found.into_iter().map(|range| self.part(range));
        clauses.filter(|clause| clause.words().chars().any(char::is_alphanumeric)).collect()
    }

    /// Its two sides at each word that joins clauses in its language: "our database is Postgres", "and we deploy with
    /// Argo". Most such words join less than clauses: "salt and pepper".
    pub fn sides(&self) -> impl Iterator<Item = (Self, Self)> {
        let words = self.words();
        let joining = Language::likely(words).map_or(&[][..], |it| &it.alone().joining);
        let spaces = words.char_indices().filter(|(_, c)| c.is_whitespace()).map(|(at, _)| at);
        let begins = spaces.filter(|at| {
            let next = words[*at..].split_whitespace().next().unwrap_or_default();
            joining.contains(&plain(next))
        });
        begins.map(|at| (self.part(0..at), self.part(at..words.len())))
    }

    /// From the beginning of one piece of a message to the end of another.
    #[must_use]
    pub fn to(&self, last: &Self) -> Self {
        Self { message: self.message, range: self.range.start..last.range.end }
    }

    /// Whether another piece of the same message lies within it.
    #[must_use]
    pub fn holds(&self, other: &Self) -> bool {
        self.range.start <= other.range.start && other.range.end <= self.range.end
    }

    /// A part of it, without white space around it.
    fn part(&self, range: Range<usize>) -> Self {
        let start = self.range.start;
        let range = sentences::trimmed(self.message, start + range.start..start + range.end);
        Self { message: self.message, range }
    }
}

/// Whether a mark parts clauses. `japanese` says that Japanese characters stand before it.
fn parts(before: &str, mark: char, after: &str, japanese: bool) -> bool {
    let unspaced = |c: Option<char>| c.is_some_and(|c| ('\u{3040}'..='\u{9FFF}').contains(&c));
    match mark {
        '，' | '；' | '：' | '—' => true,
        // In Chinese this joins the items of a list.
        '、' => japanese,
        ',' | ';' | ':' => {
            after.starts_with(char::is_whitespace)
                || (unspaced(before.chars().next_back()) && unspaced(after.chars().next()))
        }
        '–' | '-' => before.ends_with(' ') && after.starts_with(' '),
        ' ' => unspaced(before.chars().next_back()) && unspaced(after.chars().next()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clauses(message: &str) -> Vec<&str> {
        let sentences = Piece::sentences(message);
        sentences.iter().flat_map(Piece::clauses).map(|clause| clause.words()).collect()
    }

    #[test]
    fn a_piece_knows_what_stands_around_it() {
        let pieces = Piece::sentences("Translate: I'm vegan. Thanks!");
        assert_eq!(pieces[0].words(), "Translate: I'm vegan.");
        let clause = &pieces[0].clauses()[1];
        assert_eq!(
            (clause.before(), clause.words(), clause.after()),
            ("Translate: ", "I'm vegan.", " Thanks!")
        );
        assert_eq!(clause.to(&pieces[1]).words(), "I'm vegan. Thanks!");
    }

    #[test]
    fn clauses_end_at_marks_that_part_them() {
        assert_eq!(
            clauses("our db is Postgres 14, 3,5 GB - is 7:30 ok? ok"),
            ["our db is Postgres 14", "3,5 GB", "is 7:30 ok?", "ok"]
        );
        assert_eq!(clauses("女朋友在苏州做药剂师，我俩打算五一领证。有啥要准备的?").len(), 3);
        assert_eq!(clauses("三亚太潮 豆豆走了,我们在三亚"), ["三亚太潮", "豆豆走了", "我们在三亚"]);
        assert_eq!(clauses("我吃苹果、香蕉"), ["我吃苹果、香蕉"]);
        assert_eq!(clauses("猫がいます、名前はタマです"), ["猫がいます", "名前はタマです"]);
        assert_eq!(clauses("my kids (Al, Bo, Cy) swim"), ["my kids (Al, Bo, Cy) swim"]);
    }

    #[test]
    fn a_clause_has_two_sides_at_each_word_that_joins() {
        let sides = |text| {
            let sentences = Piece::sentences(text);
            let sides = sentences[0].sides();
            sides.map(|(left, right)| [left.words(), right.words()]).collect::<Vec<_>>()
        };
        assert_eq!(
            sides("I like tea and milk but my wife has coffee"),
            [
                ["I like tea", "and milk but my wife has coffee"],
                ["I like tea and milk", "but my wife has coffee"]
            ]
        );
        assert_eq!(
            sides("Ich wohne in Bremen und mein Bruder in Köln")[0][1],
            "und mein Bruder in Köln"
        );
        assert!(sides("we went to Andorra").is_empty());
    }
}
