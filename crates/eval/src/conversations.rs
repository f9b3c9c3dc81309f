//! Conversations of one user whose messages are labelled with what they tell, replace, end and ask to forget
//! (testdata/conversations, testdata/forgetting).

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{
    data::{Labelled, no_language},
    parse,
};

#[derive(Clone, Debug, Deserialize)]
pub struct Conversations {
    pub(super) id: String,
    pub(super) lang: String,
    #[serde(deserialize_with = "parse::objects")]
    pub(super) sessions: Vec<Session>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Session {
    #[serde(deserialize_with = "parse::objects")]
    pub(super) turns: Vec<Message>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Message {
    pub(super) user: String,
    /// Its parts that are to be kept, as typed.
    pub(super) keep: Vec<String>,
    /// The earlier part that each of these ends or changes.
    #[serde(default)]
    pub(super) replaces: BTreeMap<String, String>,
    /// Earlier parts that it ends besides: further sentences of the same thing, what took place, what was called off.
    #[serde(default)]
    pub(super) ends: Vec<String>,
    /// Earlier parts that the user asks to forget.
    #[serde(default)]
    pub(super) forgets: Vec<String>,
}

impl Labelled for Conversations {
    fn id(&self) -> Option<&str> {
        Some(&self.id)
    }

    fn wrong(&self) -> Option<String> {
        no_language(&self.lang)
    }
}
