//! Finds the part of a long message that asks a question. Pure text processing without a tokenizer.

/// Maximum size of a part, in bytes: 32 for each of the 64 tokens that are embedded of a query, far
/// more than words have. Bounds the work for messages of any size.
pub const WINDOW: usize = 32 * 64;

/// Number of bytes at each end of a message in which a question is searched for.
const SEARCHED: usize = 32 * WINDOW;

/// The part of a message that asks, for messages too long to be embedded whole.
#[derive(Debug, PartialEq, Eq)]
pub enum Asking<'a> {
    /// Text that ends with the last question; its end is the most important part.
    Question(&'a str),
    /// No question mark found. An instruction is before the pasted text ("Summarise this: …") or
    /// after it, so both ends are used.
    Ends {
        /// The beginning.
        head: &'a str,
        /// The end; it does not overlap the beginning.
        tail: &'a str,
    },
}

/// Finds the asking part of `text`. Every part has at most [`WINDOW`] bytes.
pub fn asking_part(text: &str) -> Asking<'_> {
    let from = text.ceil_char_boundary(text.len().saturating_sub(SEARCHED));
    let to = text.floor_char_boundary(SEARCHED.min(from));
    let in_tail = end_of_last_question(&text[from..]).map(|end| from + end);
    if let Some(end) = in_tail.or_else(|| end_of_last_question(&text[..to])) {
        let question = &text[..end];
        return Asking::Question(last_bytes(question, WINDOW));
    }
    let (head, rest) = text.split_at(text.floor_char_boundary(WINDOW.min(text.len() / 2)));
    Asking::Ends { head, tail: last_bytes(rest, WINDOW) }
}

/// Offset after the last question mark that ends a sentence; question marks inside code, links and
/// words do not count.
fn end_of_last_question(text: &str) -> Option<usize> {
    let marks = ['?', '？', '؟'];
    text.rmatch_indices(marks)
        .find(|(start, mark)| {
            let next = text[start + mark.len()..].chars().next();
            *mark == "？" || next.is_none_or(ends_sentence)
        })
        .map(|(start, mark)| start + mark.len())
}

fn ends_sentence(next: char) -> bool {
    next.is_whitespace() || matches!(next, '"' | '\'' | '”' | '’' | '»' | ')' | '!' | '?' | '*')
}

fn last_bytes(text: &str, limit: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(limit))..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_question(text: &str, expected: &str) {
        assert_eq!(asking_part(text), Asking::Question(expected));
    }

    #[test]
    fn the_asking_part_ends_with_the_last_question() {
        check_question("Is it? I saw one. What was it? Thanks!", "Is it? I saw one. What was it?");
        check_question("He said \"why?\" and left", "He said \"why?");
        check_question("予算はいくらですか？ありがとう", "予算はいくらですか？");
        check_question("ما هي ميزانيتي؟ شكرا", "ما هي ميزانيتي؟");
        check_question("Really?! Yes", "Really?");
    }

    #[test]
    fn question_marks_in_code_and_links_do_not_count() {
        for text in ["let x = f()?; done", "see http://a/b?c=d now", "type T = A?.b"] {
            assert!(matches!(asking_part(text), Asking::Ends { .. }), "{text}");
        }
    }

    #[test]
    fn without_a_question_both_ends_are_used_and_do_not_overlap() {
        let text = "ab".repeat(WINDOW);
        let Asking::Ends { head, tail } = asking_part(&text) else {
            unreachable!();
        };
        assert_eq!((head.len(), tail.len()), (WINDOW, WINDOW));
        assert_eq!(asking_part("abcde"), Asking::Ends { head: "ab", tail: "cde" });
        assert_eq!(asking_part(""), Asking::Ends { head: "", tail: "" });
    }

    #[test]
    fn searches_both_ends_for_a_question() {
        let pasted = "語 and more of it. ".repeat(SEARCHED / 4);
        for (text, question) in [
            (format!("What is this? {pasted}"), "What is this?"),
            (format!("Why? {pasted} What is this? {}", &pasted[..300]), "What is this?"),
        ] {
            let Asking::Question(found) = asking_part(&text) else { unreachable!() };
            assert!(found.ends_with(question), "{found}");
        }
        assert!(matches!(asking_part(&format!("{pasted}Why? {pasted}")), Asking::Ends { .. }));
    }

    #[test]
    fn windows_never_cut_a_character() {
        for shift in 0..4 {
            let text = format!("{}{}", "x".repeat(shift), "語🙂".repeat(WINDOW));
            let Asking::Ends { head, tail } = asking_part(&text) else {
                unreachable!();
            };
            assert!(head.len() <= WINDOW && tail.len() <= WINDOW);
            let question = format!("{text}?");
            assert!(matches!(asking_part(&question), Asking::Question(q) if q.len() <= WINDOW));
        }
    }
}
