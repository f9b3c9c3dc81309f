//! From a message to the statements in it, by what a judge says of its pieces.

use crate::extract::local::judge::Judge;
use memgate_text::{
    normal::one_line,
    pieces::{sentences_of, told_before_asking},
    preferences::wish_topic,
    pronouns::points_back,
    rules,
};

/// The longest statement, in characters: what is longer is kept sentence by
/// sentence, or cut.
const MAX_CHARS: usize = 500;

/// The longest sentence of an earlier message that is put before one of this.
const MAX_BEFORE_CHARS: usize = 160;

/// A message, in pieces.
pub(super) struct Message<'a> {
    whole: &'a str,
    sentences: Vec<Sentence<'a>>,
    /// The sentence before the message, from an earlier one.
    before: Option<&'a str>,
}

struct Sentence<'a> {
    words: &'a str,
    /// What it tells before it asks.
    told: Option<&'a str>,
    /// Supposed, quoted, invented, or code.
    excluded: bool,
}

impl<'a> Message<'a> {
    /// `text` is trimmed and not empty.
    pub(super) fn of(text: &'a str, before: Option<&'a str>) -> Self {
        let sentence = |words: &'a str| Sentence {
            words,
            told: told_before_asking(words).filter(|told| !rules::excludes(told)),
            excluded: rules::excludes(words),
        };
        let before = before.filter(|before| before.chars().nth(MAX_BEFORE_CHARS).is_none());
        Self {
            whole: text,
            sentences: sentences_of(text).into_iter().map(sentence).collect(),
            before,
        }
    }

    /// Everything that is judged.
    pub(super) fn texts(&self) -> Vec<String> {
        let pieces = self.sentences.iter().flat_map(|s| [Some(s.words), s.told]).flatten();
        let mut texts: Vec<String> =
            [self.whole].into_iter().chain(pieces).chain(self.before).map(str::to_owned).collect();
        texts.sort();
        texts.dedup();
        texts
    }

    /// What is kept, in the user's words.
    pub(super) fn statements(&self, judge: &Judge<'_>) -> Vec<String> {
        let mut statements = self.judged(judge);
        // A wish is sure by its form.
        let wishes = self.sentences.iter().filter(|s| wish_topic(s.words).is_some());
        for wish in wishes.map(|wish| one_line(wish.words)) {
            if !statements.iter().any(|statement| statement.contains(&wish)) {
                statements.push(wish);
            }
        }
        statements.iter_mut().for_each(cut);
        statements.dedup();
        statements
    }

    /// What the judge keeps.
    fn judged(&self, judge: &Judge<'_>) -> Vec<String> {
        if judge.is_memorable(self.whole) && !rules::excludes(self.whole) {
            self.of_memorable(judge)
        } else {
            self.told_in_questions(judge)
        }
    }

    /// A message worth keeping: its sentences that are, or else the best of them.
    fn of_memorable(&self, judge: &Judge<'_>) -> Vec<String> {
        let mut kept: Vec<usize> = (0..self.sentences.len())
            .filter(|&at| {
                !self.sentences[at].excluded && judge.is_memorable(self.sentences[at].words)
            })
            .collect();
        if kept.is_empty() {
            if self.whole.chars().nth(MAX_CHARS).is_none() {
                return vec![one_line(self.whole)];
            }
            kept.extend(self.best(judge));
        }
        self.joined(&kept, judge)
    }

    fn best(&self, judge: &Judge<'_>) -> Option<usize> {
        let likely = |at: &usize| judge.probability(self.sentences[*at].words);
        (0..self.sentences.len()).max_by(|a, b| likely(a).total_cmp(&likely(b)))
    }

    /// The kept sentences; one that points back is joined to what stands before it.
    fn joined(&self, kept: &[usize], judge: &Judge<'_>) -> Vec<String> {
        let mut statements: Vec<(usize, String)> = Vec::new();
        for &at in kept {
            let words = one_line(self.sentences[at].words);
            let alone = !points_back(&words);
            match (at.checked_sub(1), statements.last_mut()) {
                _ if alone => statements.push((at, words)),
                (Some(previous), Some((last, statement))) if *last == previous => {
                    *statement = joined(statement, &words);
                    *last = at;
                }
                (Some(previous), _) => {
                    let before = one_line(self.sentences[previous].words);
                    statements.push((at, joined(&before, &words)));
                }
                (None, _) => {
                    let before = self.before.filter(|b| judge.is_memorable(b) || b.ends_with('?'));
                    let words = match before {
                        Some(before) => joined(&one_line(before), &words),
                        None => words,
                    };
                    statements.push((at, words));
                }
            }
        }
        statements.into_iter().map(|(_, statement)| statement).collect()
    }

    /// A message that only asks may still tell something on the way.
    fn told_in_questions(&self, judge: &Judge<'_>) -> Vec<String> {
        if !self.whole.contains(['?', '？', '؟']) {
            return Vec::new();
        }
        let several = self.sentences.len() > 1;
        let sentences = self.sentences.iter().filter(|s| several && !s.excluded).map(|s| s.words);
        let told = self.sentences.iter().filter_map(|s| s.told);
        let mut kept: Vec<&str> =
            sentences.chain(told).filter(|piece| judge.is_surely_memorable(piece)).collect();
        // A sentence that is kept holds what it tells before it asks.
        let whole = kept.clone();
        kept.retain(|piece| !whole.iter().any(|other| other != piece && other.contains(piece)));
        kept.into_iter().map(one_line).collect()
    }
}

/// Two sentences as one text; Chinese and Japanese put no space between.
fn joined(first: &str, second: &str) -> String {
    let space = if first.ends_with(['。', '！', '？']) { "" } else { " " };
    format!("{first}{space}{second}")
}

fn cut(statement: &mut String) {
    if let Some((at, _)) = statement.char_indices().nth(MAX_CHARS) {
        statement.truncate(at);
    }
}
