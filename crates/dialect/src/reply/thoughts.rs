//! Removes a reasoning model's thoughts from the text of its reply. Servers without a reasoning parser leave them there, in
//! front of the answer.

/// Opening and closing tags of thoughts.
const TAGS: [(&str, &str); 3] =
    [("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<thought>", "</thought>")];

/// The text behind its thoughts: `<think>…</think>` in front, or `</think>` on a line of its own, because chat templates
/// put the opening tag into the prompt. Thoughts without an end are all of the text.
pub(super) fn without_thoughts(text: String) -> String {
    let mut rest = text.as_str();
    if opened(rest).is_none() {
        rest = TAGS.iter().find_map(|&tags| after_line(rest, tags)).unwrap_or(rest);
    }
    while let Some((begun, close)) = opened(rest) {
        rest = begun.split_once(close).map_or("", |(_, answer)| answer.trim_start());
    }
    if rest.len() == text.len() { text } else { rest.to_owned() }
}

/// The text behind its opening tag, if it begins with one, and the closing tag.
fn opened(text: &str) -> Option<(&str, &'static str)> {
    let text = text.trim_start();
    TAGS.iter().find_map(|&(open, close)| Some((text.strip_prefix(open)?, close)))
}

/// The text behind a line that is the closing tag, if the opening tag is nowhere before it.
fn after_line<'a>(text: &'a str, (open, close): (&str, &str)) -> Option<&'a str> {
    let mut end = 0;
    let closing = text.split_inclusive('\n').find(|line| {
        end += line.len();
        line.trim() == close
    })?;
    let thoughts = &text[..end - closing.len()];
    (!thoughts.contains(open)).then(|| text[end..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> String {
        without_thoughts(text.to_owned())
    }

    #[test]
    fn thoughts_in_front_of_an_answer_are_removed() {
        for text in [
            "<think>\nThey live in Gdansk?\n</think>\n\nOak.",
            "\n<thinking>Gdansk</thinking>Oak.",
            "<think>one</think>\n<think>two</think>\nOak.",
            "Perhaps they live in Gdansk.\n</think>\n\nOak.",
            "</think>\nOak.",
        ] {
            assert_eq!(answer(text), "Oak.", "{text:?}");
        }
    }

    #[test]
    fn thoughts_without_an_end_leave_nothing() {
        assert_eq!(answer("<think>They live in Gdansk"), "");
        assert_eq!(answer("<think></think>"), "");
    }

    #[test]
    fn an_answer_about_the_tags_stays() {
        for text in [
            "Put it between <think> and </think>.",
            "Use `</think>` to end it.",
            "```\n<think>\n```",
            "```\n<think>\nx\n</think>\n```\nThat is the format.",
            "<thinker>x</thinker>",
            "",
        ] {
            assert_eq!(answer(text), text);
        }
    }
}
