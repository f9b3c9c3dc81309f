//! Prompts that a chat client sends on its own, beside what the user types: for a conversation's title, its tags, questions
//! that might follow. Nobody asks memory in them, and nobody tells it anything. The shapes are those of well-known clients
//! (`rules/shared.toml`); clients write them in English whatever the user speaks.

use crate::{normal::plain, rules};

/// How much of a message is looked at, in bytes: such a prompt says what it is at its beginning.
const LOOKED_AT: usize = 600;

/// Whether a message is a chat client's own prompt.
#[must_use]
pub fn is_housekeeping(message: &str) -> bool {
    let beginning = &message[..message.floor_char_boundary(LOOKED_AT)];
    rules::housekeeping(&plain(beginning.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clients_prompts_are_told_from_what_people_ask() {
        for message in [
            "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.\n### Guidelines:\n- The title should …",
            "### Task:\nSuggest 3-5 relevant follow-up questions or prompts that the user might naturally ask next.\n<chat_history>",
            "### Task\nGenerate 1-3 broad tags categorizing the main themes of the chat history",
            "Provide a concise, 5-word-or-less title for the conversation, using title case conventions.",
            "Create a short title for this conversation in the language of the user",
            "Based on the chat history, generate 3 search queries",
            "Generate 3 follow-up questions the user could ask next",
        ] {
            assert!(is_housekeeping(message), "{message}");
        }
        for message in [
            "give me a short title for my blog post about kayaks",
            "what follow-up questions should I ask my doctor about my knee?",
            "my task list for today: buy milk",
            "### Task\nwrite a haiku about my cat Tom",
            "tag my photos of the trip to Rome",
        ] {
            assert!(!is_housekeeping(message), "{message}");
        }
    }
}
