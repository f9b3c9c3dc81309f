//! The elements in a model's answer: of an array or of an object's array, whatever the model puts
//! around it; of a broken one those that are whole.

use serde_json::Value;

/// Brackets at which the array is looked for: the text before it may contain some.
const MAX_TRIES: usize = 32;

/// The content of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Elements {
    pub(super) items: Vec<Value>,
    pub(super) state: State,
}

/// Whether it was all of the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Whole,
    /// The answer ends within the array.
    CutOff,
    /// After these elements comes something that is no JSON.
    Garbled,
}

/// The elements of the answer.
///
/// # Errors
/// Why there is no element, and not an array without any either.
pub(super) fn read(answer: &str) -> Result<Elements, &'static str> {
    let text = without_thoughts(answer)?.trim();
    if text.is_empty() {
        return Err("empty");
    }
    let mut from = 0;
    for _ in 0..MAX_TRIES {
        let Some(at) = text[from..].find(['[', '{']).map(|at| from + at) else { break };
        let rest = &text[at..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => match array_in(value) {
                Some(items) => return Ok(Elements { items, state: State::Whole }),
                None => from = at + values.byte_offset().max(1),
            },
            // It was meant to be what was asked for.
            Some(Err(error)) if begins_as_json(rest) => {
                let (items, cut_off) = (whole_ones(rest), error.is_eof());
                return match (items.is_empty(), cut_off) {
                    (false, true) => Ok(Elements { items, state: State::CutOff }),
                    (false, false) => Ok(Elements { items, state: State::Garbled }),
                    (true, true) => Err("cut off"),
                    (true, false) => Err("no valid JSON"),
                };
            }
            _ => from = at + 1,
        }
    }
    Err("no JSON array")
}

/// Whether a text that begins with a bracket goes on as an array of objects or an object does.
fn begins_as_json(text: &str) -> bool {
    let after = |text: &str| text[1..].trim_start().chars().next();
    matches!(
        (text.starts_with('['), after(text)),
        (_, None) | (true, Some('{')) | (false, Some('"'))
    )
}

/// The answer without the model's thinking.
fn without_thoughts(answer: &str) -> Result<&str, &'static str> {
    let closed = ["</think>", "</thinking>"]
        .into_iter()
        .filter_map(|end| answer.rfind(end).map(|at| at + end.len()))
        .max();
    match closed {
        Some(end) => Ok(&answer[end..]),
        None if ["<think>", "<thinking>"]
            .iter()
            .any(|open| answer.trim_start().starts_with(open)) =>
        {
            Err("nothing but thinking")
        }
        None => Ok(answer),
    }
}

/// The array that a value is or holds; an object with a content is an array of one.
fn array_in(value: Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(items) if items.is_empty() || items.iter().any(Value::is_object) => {
            Some(items)
        }
        Value::Object(members) if members.contains_key("content") => {
            Some(vec![Value::Object(members)])
        }
        Value::Object(members) => members.into_iter().find_map(|(_, member)| match member {
            Value::Array(items) => Some(items),
            _ => None,
        }),
        _ => None,
    }
}

/// The whole objects at the head of the first array in a text.
fn whole_ones(text: &str) -> Vec<Value> {
    let mut items = Vec::new();
    let Some(mut from) = text.find('[').map(|at| at + 1) else { return items };
    loop {
        let rest = text[from..].trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        from = text.len() - rest.len();
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => items.extend(Some(value).filter(Value::is_object)),
            _ => return items,
        }
        from += values.byte_offset();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const ONE: &str = r#"[{"content": "The user lives in Lyon.", "entities": [{"name": "Lyon"}]}]"#;

    fn state(answer: &str) -> (usize, State) {
        let read = read(answer).unwrap();
        (read.items.len(), read.state)
    }

    #[test]
    fn the_array_is_found_whatever_stands_around_it() {
        let expected = read(ONE).unwrap();
        assert_eq!(expected.items[0]["content"], "The user lives in Lyon.");
        for answer in [
            format!("```json\n{ONE}\n```"),
            format!("<think>maybe [1] or {{}}</think>\n{ONE}"),
            format!("<think>a</think><think>b</think>{ONE}"),
            format!("<thinking>[{{}}</thinking>{ONE}"),
            format!("Here you are [as {{asked}}]: {ONE}\nAnything else?"),
            format!("[1] {ONE} [2]"),
            format!("{{\"facts\": {ONE}}}"),
            ONE.trim_matches(['[', ']']).to_owned(),
        ] {
            assert_eq!(read(&answer), Ok(expected.clone()), "{answer}");
        }
        assert_eq!(state(" [] "), (0, State::Whole));
        assert_eq!(state("{\"facts\": []}"), (0, State::Whole));
    }

    #[test]
    fn half_an_array_gives_what_is_whole() {
        let two = r#"[{"content": "a"}, {"content": "b"}, {"content": "c", "entities": [{"na"#;
        assert_eq!(state(two), (2, State::CutOff));
        assert_eq!(state(&format!("```json\n{{\"facts\": {two}")), (2, State::CutOff));
        assert_eq!(state(r#"[{"content": "a"}, {content: "b"}]"#), (1, State::Garbled));
        assert_eq!(state(r#"[{"content": "a"},]"#), (1, State::Garbled));
    }

    #[test]
    fn where_there_is_no_element_the_reason_is_told() {
        for (answer, reason) in [
            ("", "empty"),
            ("nothing", "no JSON array"),
            ("<think>[]", "nothing but thinking"),
            (&ONE[..30], "cut off"),
            ("[1, 2", "no JSON array"),
            ("[{]", "no valid JSON"),
            ("[1, 2]", "no JSON array"),
            ("{\"a\": 1}", "no JSON array"),
            ("][", "cut off"),
        ] {
            assert_eq!(read(answer), Err(reason), "{answer}");
        }
    }

    #[test]
    fn deep_nesting_and_many_brackets_are_no_trouble() {
        for text in ["[".repeat(200_000), "[{".repeat(100_000), "{\"a\":".repeat(50_000)] {
            assert!(read(&text).is_err());
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "\\PC{0,200}") {
            let _ = read(&text);
        }

        #[test]
        fn no_mix_of_json_and_marks_makes_the_reader_panic(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "[", "]", "{", "}", ",", ":", "\"", "\"content\"", "\"a\"", "null", "1", "\\",
                    "<think>", "</think>", "```json\n", "é", " ",
                ]),
                0..40,
            )
        ) {
            let text = parts.concat();
            if let Ok(read) = read(&text) {
                prop_assert!(read.items.len() <= text.len());
            }
        }

        #[test]
        fn wherever_an_answer_is_cut_the_elements_before_are_found(
            contents in prop::collection::vec("[a-z\\[\\]{}\",é ]{0,12}", 1..6),
            cut in 0.0..1.0,
        ) {
            let items: Vec<Value> =
                contents.iter().map(|c| json!({"type": "semantic", "content": c})).collect();
            let text = Value::Array(items.clone()).to_string();
            #[expect(
                clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss,
                reason = "a place within a short text"
            )]
            let at = text.floor_char_boundary((text.len() as f64 * cut) as usize);
            let found = read(&text[..at]).map_or(Vec::new(), |read| read.items);
            prop_assert!(found.len() <= items.len());
            prop_assert_eq!(&found[..], &items[..found.len()]);
            prop_assert_eq!(read(&text).unwrap().items, items);
        }
    }
}
