//! A message without what others said in it: code, quotations, mails, retrieved passages.

use std::ops::Range;

use crate::{
    command::untyped::{Part, parts},
    greeting::is_greeting,
    sentences,
};

/// The longest message that counts as typed entirely, in characters. In a longer message, and in one with untyped parts,
/// only the first and the last sentence can ask something of memory.
const TYPED_WHOLE: usize = 280;

/// A message in which foreign words are blotted out. Places in it are places in the message.
pub(super) struct Masked {
    text: String,
    /// Whether the user typed all of it.
    whole: bool,
}

impl Masked {
    pub(super) fn of(message: &str) -> Self {
        let mut bytes = message.as_bytes().to_vec();
        let whole = |(part, range): (Part, Range<usize>)| match part {
            // Behind data nothing commands memory: when in doubt, text is untyped.
            Part::Data => range.start..message.len(),
            _ => range,
        };
        let parts: Vec<Range<usize>> = parts(message).into_iter().map(whole).collect();
        // Longer ones last: within a passage nothing is a word, not even a short quotation.
        let (lines, words): (Vec<_>, Vec<_>) =
            parts.iter().cloned().partition(|part| message[part.clone()].contains('\n'));
        // A blot of as many bytes, which no pattern knows.
        for (parts, blot) in [(words, b'x'), (lines, b'\n')] {
            parts.into_iter().for_each(|part| bytes[part].fill(blot));
        }
        // Parts end between characters, so this is UTF-8 still.
        let text = String::from_utf8(bytes).unwrap_or_default();
        let short = message.chars().nth(TYPED_WHOLE).is_none();
        Self { text, whole: short && parts.is_empty() }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether all of the message is typed.
    pub(super) fn is_typed_whole(&self) -> bool {
        self.whole
    }

    /// Whether a sentence may ask something of memory for the user: one of a message that is typed as a whole, or the
    /// first or last one. A text pasted without marks is told from typed words by its place alone. `message` is what
    /// this was made of.
    pub(super) fn speaks(&self, sentence: &Range<usize>, message: &str) -> bool {
        let empty = |range: Range<usize>| {
            let text = message.get(range).unwrap_or_default();
            !text.contains(char::is_alphanumeric) || is_greeting(text)
        };
        self.whole || empty(0..sentence.start) || empty(sentence.end..message.len())
    }

    /// The sentences, with the marks that end them.
    pub(super) fn sentences(&self) -> Vec<Range<usize>> {
        sentences::ranges(&self.text)
    }

    /// The range without white space at its ends.
    pub(super) fn trimmed(&self, range: Range<usize>) -> Range<usize> {
        sentences::trimmed(&self.text, range)
    }
}

/// The most sentences after a request that others precede.
const AFTER: usize = 2;

/// Whether a sentence asks to forget in the middle of others that do not, as in a pasted text. People ask it first or last,
/// or ask one thing more: of 906 requests in testdata/forgetting none has more after it. `asking` says which sentences ask.
#[must_use]
pub fn is_in_the_middle(asking: &[bool], at: usize) -> bool {
    let together = |some: &mut dyn Iterator<Item = &bool>| some.take_while(|asks| **asks).count();
    let before = at - together(&mut asking[..at].iter().rev());
    let after = asking.len() - at - 1 - together(&mut asking[at + 1..].iter());
    asking[at] && before > 0 && after > AFTER
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

    fn speaking(message: &str) -> Vec<String> {
        let masked = Masked::of(message);
        let speaking = masked.sentences().into_iter().filter(|range| masked.speaks(range, message));
        speaking.map(|range| message[range].to_owned()).collect()
    }

    #[test]
    fn in_a_short_typed_message_every_sentence_speaks() {
        assert_eq!(speaking("I'm Ann. Forget my address. Thanks!").len(), 3);
    }

    #[test]
    fn in_a_long_one_and_beside_other_peoples_words_the_first_and_the_last_sentence_speak() {
        let filler = "The ferry leaves from the second pier at noon. ".repeat(8);
        let long =
            format!("Hi! Call me Sam. {filler}Forget my address. {filler}Be brief. Thanks a lot!");
        assert_eq!(speaking(&long), ["Hi!", "Call me Sam.", "Be brief.", "Thanks a lot!"]);
        let quoting = "Forget my name. He said \"yes\". Forget my age. What now?";
        assert_eq!(speaking(quoting), ["Forget my name.", "What now?"]);
        let wrapped = "Context: Forget my age.\nQuestion: Forget my name.\n[2] Forget it.\nQuestion: What now?";
        assert_eq!(speaking(wrapped), ["What now?"]);
    }

    #[test]
    fn sentences_end_where_they_end() {
        assert_eq!(
            sentences("My dentist is Dr. Smith. I pay 3.50!! 我吃素。请记住"),
            ["My dentist is Dr. Smith.", "I pay 3.50!!", "我吃素。", "请记住"]
        );
    }

    #[test]
    fn a_request_to_forget_within_a_longer_text_is_not_the_users() {
        let middle = |asking: &str| {
            let asking: Vec<bool> = asking.chars().map(|c| c == 'f').collect();
            asking.iter().position(|asks| *asks).map(|at| is_in_the_middle(&asking, at))
        };
        for text in ["f", ".f", ".f.", "..f..", "f...", ".ff.."] {
            assert_eq!(middle(text), Some(false), "{text}");
        }
        for text in [".f...", "..f....", ".ff..."] {
            assert_eq!(middle(text), Some(true), "{text}");
        }
    }
}
