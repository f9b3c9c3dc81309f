//! Which part of a long message asks. Pure text; knows no tokenizer.

/// Bytes that are looked at for one window of tokens: 32 a token, far more than words have.
/// Bounds the work on a message of any size.
pub const WINDOW: usize = 32 * super::QUERY_TOKENS;

/// Bytes of each end of a message in which a question is looked for.
const SEARCHED: usize = 32 * WINDOW;

/// The part of a message that asks, when the message is too long to be embedded whole.
#[derive(Debug, PartialEq, Eq)]
pub enum Asking<'a> {
    /// Text that ends with the last question; its end counts most.
    Question(&'a str),
    /// No question mark. A request stands before what was pasted ("Summarise this: …") or
    /// behind it, so both ends count.
    Ends {
        /// The beginning.
        head: &'a str,
        /// The end; does not overlap the beginning.
        tail: &'a str,
    },
}

/// Finds the asking part of `text`. All parts are at most [`WINDOW`] bytes.
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

/// The byte behind the last question mark that ends a sentence; those inside code, links
/// and words do not.
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
    fn question_marks_of_code_and_links_do_not_ask() {
        for text in ["let x = f()?; done", "see http://a/b?c=d now", "type T = A?.b"] {
            assert!(matches!(asking_part(text), Asking::Ends { .. }), "{text}");
        }
    }

    #[test]
    fn without_a_question_both_ends_count_and_do_not_overlap() {
        let text = "ab".repeat(WINDOW);
        let Asking::Ends { head, tail } = asking_part(&text) else {
            unreachable!();
        };
        assert_eq!((head.len(), tail.len()), (WINDOW, WINDOW));
        assert_eq!(asking_part("abcde"), Asking::Ends { head: "ab", tail: "cde" });
        assert_eq!(asking_part(""), Asking::Ends { head: "", tail: "" });
    }

    #[test]
    fn a_question_is_looked_for_at_both_ends() {
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
