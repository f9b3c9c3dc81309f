//! Messages and the earlier statements with which they are compared, by kind of row.

use serde::Deserialize;

use crate::{
    conversations::Conversations,
    data::{Labelled, no_language},
    replay::Scenario,
};
use memgate_capture::told;

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Row {
    Pair(Pair),
    Conversations(Conversations),
    Story(Box<Scenario>),
}

#[derive(Clone, Debug, Deserialize)]
pub struct Pair {
    lang: String,
    old: String,
    new: String,
    replaces: bool,
}

impl Labelled for Row {
    fn id(&self) -> Option<&str> {
        match self {
            Self::Pair(_) => None,
            Self::Conversations(story) => story.id(),
            Self::Story(story) => story.id(),
        }
    }

    fn wrong(&self) -> Option<String> {
        match self {
            Self::Pair(pair) => no_language(&pair.lang),
            Self::Conversations(story) => story.wrong(),
            Self::Story(story) => story.wrong(),
        }
    }
}

/// A message, and the earlier statements with whether it supersedes them.
pub(super) struct Later {
    pub(super) lang: String,
    pub(super) group: String,
    pub(super) message: String,
    pub(super) olds: Vec<(String, bool)>,
}

/// The messages of a row that follow earlier sessions.
pub(super) fn messages((number, row): (usize, &Row)) -> Vec<Later> {
    let story = match row {
        Row::Pair(Pair { lang, old, new, replaces }) => {
            return vec![Later {
                lang: lang.clone(),
                // Near misses are grouped with the pair they resemble.
                group: format!("pairs-{}", number / 8),
                message: new.clone(),
                olds: vec![(old.clone(), *replaces)],
            }];
        }
        Row::Conversations(story) => return of_conversations(story),
        Row::Story(story) => story,
    };
    let sessions = story.told();
    let mut later = Vec::new();
    for (at, session) in sessions.iter().enumerate() {
        let before = sessions[..at].iter().flatten().flat_map(|turn| told(turn));
        let before: Vec<&str> = before.collect();
        for message in session {
            let olds = before.iter().map(|old| ((*old).to_owned(), story.is_over(old, message)));
            let olds: Vec<_> = olds.collect();
            let (lang, group) = (story.lang.clone(), story.id.clone());
            later.push(Later { lang, group, message: (*message).to_owned(), olds });
        }
    }
    later
}

/// The messages of a user, each beside what the earlier ones tell.
fn of_conversations(story: &Conversations) -> Vec<Later> {
    let mut before: Vec<&String> = Vec::new();
    let mut later = Vec::new();
    for turn in story.sessions.iter().flat_map(|session| &session.turns) {
        let ended = turn.replaces.values().chain(&turn.ends).chain(&turn.forgets);
        let ended: Vec<&String> = ended.collect();
        let over = |old: &String| ended.contains(&old);
        let olds = before.iter().map(|old| ((*old).clone(), over(old))).collect();
        let (lang, group) = (story.lang.clone(), story.id.clone());
        later.push(Later { lang, group, message: turn.user.clone(), olds });
        before.extend(&turn.keep);
    }
    later
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_message_is_paired_with_statements_of_earlier_sessions() {
        let turn = |user: &str| json!({"user": user, "assistant": "Ok."});
        let session = |day: u8, turns: &[serde_json::Value]| json!({"date": format!("2026-01-0{day}T10:00:00Z"), "turns": turns});
        let story: Row = serde_json::from_value(json!({
            "id": "u", "lang": "en", "kind": "update",
            "sessions": [
                session(1, &[turn("My rent is 900. I like it here."), turn("what is a lease?")]),
                session(2, &[turn("Rent went up to 950")]),
            ],
            "ask": {"date": "2026-05-01T10:00:00Z", "turns": [], "user": "?"},
            "must_recall": [["950"]], "must_not_recall": ["900"],
        }))
        .unwrap();
        let later = messages((0, &story));
        assert_eq!(later.len(), 3);
        assert!(later[0].olds.is_empty(), "of the same session");
        let olds = [("My rent is 900.".to_owned(), true), ("I like it here.".to_owned(), false)];
        assert_eq!(later[2].olds, olds);
        let pair = json!({"lang": "en", "old": "a", "new": "b", "replaces": true});
        let pair = messages((0, &serde_json::from_value(pair).unwrap()));
        assert_eq!((pair[0].message.as_str(), pair[0].olds.len()), ("b", 1));
    }
}
