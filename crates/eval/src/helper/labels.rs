//! The answers of a good helper model, from the labels of conversations (testdata/ordinary): what is to be kept of the turns
//! that it is shown, readable alone, and which stored memory each of these corrects.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

/// The labels of a message. Conversations without any have none.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Taught {
    /// Its parts that are to be kept, as typed.
    pub(crate) keep: Vec<String>,
    /// A part that cannot be read alone, readable alone.
    alone: BTreeMap<String, String>,
    /// The earlier part that each of these ends or changes.
    replaces: BTreeMap<String, String>,
}

/// The labels of one user's messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels {
    facts: Vec<Fact>,
}

#[derive(Clone, Debug)]
struct Fact {
    words: String,
    content: String,
    /// The words and the content of what it replaces.
    replaces: Option<(String, String)>,
}

impl Labels {
    pub(crate) fn of<'a>(messages: impl Iterator<Item = &'a Taught>) -> Self {
        let mut facts: Vec<Fact> = Vec::new();
        for message in messages {
            for words in &message.keep {
                let content = message.alone.get(words).unwrap_or(words).clone();
                let replaces = message.replaces.get(words).map(|old| {
                    let known = facts.iter().find(|fact| fact.words == *old);
                    (old.clone(), known.map_or_else(|| old.clone(), |it| it.content.clone()))
                });
                facts.push(Fact { words: words.clone(), content, replaces });
            }
        }
        Self { facts }
    }

    /// Whether no message has any.
    pub(crate) fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// The facts in the turns of a request.
    pub(crate) fn answer(&self, request: &str) -> Vec<Value> {
        let escaped = |text: &str| json!(text).to_string().trim_matches('"').to_owned();
        let shown = self.facts.iter().filter(|fact| request.contains(&escaped(&fact.words)));
        let corrects = |(words, content): &(String, String)| {
            known(request).find(|(_, it)| it.contains(&**words) || it.contains(&**content))
        };
        let fact = |fact: &Fact| {
            let corrects = fact.replaces.as_ref().and_then(corrects).map(|(number, _)| number);
            json!({"content": fact.content, "words": fact.words, "corrects": corrects})
        };
        shown.map(fact).collect()
    }
}

/// The stored memories of a request, with their numbers: the first list in it, where it has some.
fn known(request: &str) -> impl Iterator<Item = (u64, String)> {
    let listed = request.find('[').map(|at| &request[at..]).unwrap_or_default();
    let listed = serde_json::Deserializer::from_str(listed).into_iter::<Vec<Value>>().next();
    let listed = listed.and_then(Result::ok).unwrap_or_default().into_iter();
    listed.filter_map(|it| Some((it["number"].as_u64()?, it["content"].as_str()?.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_good_model_answers_with_the_facts_of_the_turns_it_is_shown_and_what_they_correct() {
        let messages: Vec<Taught> = [
            json!({"keep": ["my rent is 900"]}),
            json!({"keep": ["it's 950 now"], "alone": {"it's 950 now": "my rent is 950 now"},
                "replaces": {"it's 950 now": "my rent is 900"}}),
        ]
        .map(|it| serde_json::from_value(it).unwrap())
        .into();
        let labels = Labels::of(messages.iter());
        let request = "Stored memories of the user:\n[\n  {\n    \"number\": 3,\n    \"content\": \
            \"my rent is 900\"\n  }\n]\n\nThe conversation, oldest turn first:\n[{\"user\": \"it's 950 now\"}]";
        let [fact] = &labels.answer(request)[1..] else { panic!() };
        assert_eq!(fact["content"], "my rent is 950 now");
        assert_eq!(fact["corrects"], 3);
        assert!(labels.answer("something else").is_empty());
    }
}
