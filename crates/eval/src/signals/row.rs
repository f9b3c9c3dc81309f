//! A labelled message.

use serde::Deserialize;

use crate::data::{Labelled, no_language, none_of};
use memgate_recall::{Message, signals::Earlier};

/// A row.
#[derive(Clone, Debug, Deserialize)]
pub struct Row {
    pub(super) id: String,
    #[serde(default)]
    pub(super) lang: String,
    pub(super) text: String,
    #[serde(default)]
    pub(super) tools_offered: bool,
    #[serde(default)]
    pub(super) signal: String,
    pub(super) personal: bool,
    pub(super) search: bool,
}

impl Labelled for Row {
    fn id(&self) -> Option<&str> {
        Some(&self.id)
    }

    fn wrong(&self) -> Option<String> {
        let signals = ["fact", "tool", "greeting", "none"];
        let told = |label: &str| !label.is_empty();
        let lang = told(&self.lang).then(|| no_language(&self.lang)).flatten();
        lang.or_else(|| none_of("signal", &self.signal, &signals).filter(|_| told(&self.signal)))
    }
}

impl Row {
    pub(super) fn message<'a>(&'a self, signals: &'a Earlier) -> Message<'a> {
        Message { text: &self.text, signals, tools_offered: self.tools_offered }
    }
}
