//! A message without what others said in it: code, quotations, pasted lines.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

/// Code blocks, quoted lines, and quotations.
#[expect(clippy::expect_used, reason = "the pattern is a constant; the tests below compile it")]
static NOT_SAID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?s)```.*?(?:```|$)|~~~.*?(?:~~~|$)|`[^`\n]*`|(?m-s:^[ \t]*>.*$)",
        r#"|"[^"]*(?:"|$)|“[^”]*(?:”|$)|„[^“”]*(?:[“”]|$)|«[^»]*(?:»|$)"#,
        r"|「[^」]*(?:」|$)|『[^』]*(?:』|$)|《[^》]*(?:》|$)|<[a-zA-Z/][^>]*>",
    ))
    .expect("a constant pattern compiles")
});

/// Words that a full stop may follow within a sentence.
const SHORT: [&str; 16] = [
    "dr", "mr", "mrs", "ms", "prof", "st", "jr", "sr", "no", "nr", "dra", "sra", "mme", "vs",
    "approx", "dept",
];

/// A message in which foreign words are blotted out. Places in it are places in the message.
pub(super) struct Masked {
    text: String,
}

impl Masked {
    pub(super) fn of(message: &str) -> Self {
        let mut text = message.to_owned();
        for found in NOT_SAID.find_iter(message) {
            // A blot of as many bytes, which no pattern knows.
            let lines = found.as_str().contains('\n');
            let blot = if lines { "\n" } else { "x" }.repeat(found.len());
            text.replace_range(found.range(), &blot);
        }
        Self { text }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The sentences, with the marks that end them.
    pub(super) fn sentences(&self) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut start = 0;
        for (at, c) in self.text.char_indices() {
            let next = self.text[at + c.len_utf8()..].chars().next();
            let ends = match c {
                '.' => next.is_none_or(char::is_whitespace) && !self.is_short(start..at),
                '!' | '?' | '…' => next.is_none_or(|next| !matches!(next, '!' | '?' | '…')),
                '。' | '！' | '？' | '؟' | '।' | '\n' => true,
                _ => false,
            };
            if ends {
                found.push(self.trimmed(start..at + c.len_utf8()));
                start = at + c.len_utf8();
            }
        }
        found.push(self.trimmed(start..self.text.len()));
        found.retain(|range| self.text[range.clone()].chars().any(char::is_alphanumeric));
        found
    }

    fn is_short(&self, sentence: Range<usize>) -> bool {
        let word = self.text[sentence].rsplit(|c: char| !c.is_alphanumeric()).next();
        word.is_some_and(|word| {
            SHORT.contains(&word.to_lowercase().as_str())
                || (word.len() == 1 && word.chars().all(char::is_uppercase) && word != "I")
        })
    }

    /// The range without white space at its ends.
    pub(super) fn trimmed(&self, range: Range<usize>) -> Range<usize> {
        let text = &self.text[range.clone()];
        let start = range.start + (text.len() - text.trim_start().len());
        start..start + text.trim().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(message: &str) -> Vec<String> {
        let masked = Masked::of(message);
        masked.sentences().into_iter().map(|range| masked.text[range].to_owned()).collect()
    }

    #[test]
    fn what_others_said_is_blotted_out_in_its_place() {
        for message in ["a \"b. c\" d", "a `b` d", "说「请记住」吧", "a ```\nb. c\n``` d"] {
            let masked = Masked::of(message);
            assert_eq!(masked.text.len(), message.len(), "{message}");
        }
        assert_eq!(
            sentences("He said \"Hi. Remember me.\" Then?"),
            ["He said xxxxxxxxxxxxxxxxxx Then?"]
        );
        assert_eq!(sentences("Look:\n> Forget my name\nOk"), ["Look:", "xxxxxxxxxxxxxxxx", "Ok"]);
    }

    #[test]
    fn sentences_end_where_they_end() {
        assert_eq!(
            sentences("My dentist is Dr. Smith. I pay 3.50!! 我吃素。请记住"),
            ["My dentist is Dr. Smith.", "I pay 3.50!!", "我吃素。", "请记住"]
        );
    }
}
