//! Leaves out what the conversation holds: the model sees it anyway, so presenting it again would cost tokens and
//! push out what the model does not know.

use crate::text::view;
use memgate_core::memory::{Evidence, Memory};
use memgate_text::{normal::one_line, sentences::sentences};

/// Messages that begin with the same characters, as many as this, are the same: a long one is remembered
/// shortened.
const COMPARED: usize = 300;

/// Leaves out the turns that one of these messages opened, and what was taken from it word for word. Returns the rest, and
/// what is left out.
pub(super) fn without_conversation(
    mut evidence: Vec<Evidence>,
    messages: &[&str],
) -> (Vec<Evidence>, Vec<Evidence>) {
    if messages.is_empty() || evidence.is_empty() {
        return (evidence, Vec::new());
    }
    let beginnings: Vec<String> = messages.iter().map(|text| beginning(text)).collect();
    let whole: Vec<String> = messages.iter().map(|text| one_line(text)).collect();
    let is_held = |found: &mut Evidence| match found.memory.as_turn() {
        Some((user, _)) => beginnings.contains(&beginning(words_of(user, found.memory.speaker()))),
        None => is_statement_of(&found.memory, &whole),
    };
    let held = evidence.extract_if(.., is_held).collect();
    (evidence, held)
}

/// The first words of a turn without the name of who said them.
fn words_of<'t>(user: &'t str, speaker: Option<&str>) -> &'t str {
    let words = speaker.and_then(|name| user.strip_prefix(name)?.strip_prefix(": "));
    view::head(words.unwrap_or(user))
}

/// Whether a memory was made of a turn, with the words of one of these messages.
fn is_statement_of(memory: &Memory, messages: &[String]) -> bool {
    memory.said().map(quoted).is_some_and(|words| messages.iter().any(|it| it.contains(words)))
}

/// The part of a statement that stands in the message it was taken from. A statement that points back was put after a
/// sentence of an earlier message, so it is the last sentence; of a very long one, its end.
pub(crate) fn quoted(statement: &str) -> &str {
    let end = view::tail(statement);
    sentences(end).pop().unwrap_or(end)
}

/// The first characters, with single spaces.
fn beginning(text: &str) -> String {
    let mut start = String::new();
    for word in text.split_whitespace() {
        if !start.is_empty() {
            start.push(' ');
        }
        start.push_str(word);
        if let Some((end, _)) = start.char_indices().nth(COMPARED) {
            start.truncate(end);
            break;
        }
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::growth::assert_no_square;
    use memgate_core::memory::{MemoryId, MemoryType, Owner, Source};

    fn evidence(content: &str, turn: bool) -> Evidence {
        let mut memory = Memory::new(
            MemoryId::fresh(),
            Owner::of_user("u").unwrap(),
            MemoryType::new(MemoryType::EPISODIC),
            content,
            Source::ExplicitUserInput,
            jiff::Timestamp::UNIX_EPOCH,
        );
        memory.provenance.turn = turn.then(|| "t".to_owned());
        Evidence { memory, cosine: None, part: None, lexical: None }
    }

    #[test]
    fn contents_of_any_size_are_compared_as_fast_as_short_ones() {
        for unit in ["A. B. C. D. ", "z", "д. ", "क। ख। ", "一。二。", "Ana: ", " "] {
            assert_no_square(unit, 60_000, |bytes| {
                let text = unit.repeat(bytes / unit.len());
                let found = vec![evidence(&text, true), turn(&text, Some(&text))];
                let _ = without_conversation(found, &["I fly to Rome", "A. B."]);
            });
        }
    }

    #[test]
    fn a_statement_of_any_length_is_left_out_by_its_end() {
        let message = format!("{} I fly to Rome", "Это было давно. ".repeat(1000));
        let found = vec![evidence(&message, true), evidence("I fly to Rome", true)];
        let (left, held) = without_conversation(found, &[&message]);
        assert_eq!((left.len(), held.len()), (0, 2));
    }

    fn turn(user: &str, reply: Option<&str>) -> Evidence {
        let evidence = evidence("", true);
        let memory = evidence.memory.of_turn(user, reply.map(str::to_owned));
        Evidence { memory, ..evidence }
    }

    #[test]
    fn turns_of_the_conversation_are_left_out_and_nothing_else() {
        let long = "word ".repeat(100);
        let found = vec![
            turn("I fly to Rome", Some("Nice!")),
            turn("I fly to Rome on Monday", None),
            turn(&format!("{} … end", &long.trim()[..400]), None),
            evidence("I fly to Rome", false),
            evidence("fly to Rome", true),
        ];
        let (left, held) = without_conversation(found.clone(), &["I fly\nto  Rome", &long]);
        assert_eq!(held.len() + left.len(), found.len());
        let left: Vec<_> = left.iter().map(|e| e.memory.content.as_str()).collect();
        assert_eq!(left, ["I fly to Rome on Monday", "I fly to Rome"]);
        assert_eq!(without_conversation(found.clone(), &[]), (found, vec![]));
    }
}
