//! Cuts what is to be forgotten out of a memory that tells something else, too.

use crate::{
    forget::says::words_of,
    reconcile::{clauses, folded, left_of, without_repeats},
};
use memgate_core::memory::{Memory, MemoryKind};
use memgate_models::MemorableModel;
use memgate_text::{
    sentences::{only_asks, sentences},
    time::statement_dates::undated,
};

/// What is to be forgotten, as it was said.
#[derive(Debug, Default)]
pub(super) struct Said(Vec<String>);

impl Said {
    pub(super) fn extend(&mut self, words: impl IntoIterator<Item = String>) {
        let words = words.into_iter().map(|words| folded(&words));
        self.0.extend(words.filter(|words| !words.is_empty()));
    }

    /// The memory without it; `None` where the memory tells nothing else, says it in its metadata, or does not say it in these
    /// words. A summary is made again of what is left, and is not cut.
    pub(super) fn cut_out_of(&self, memory: &Memory, model: &MemorableModel) -> Option<Memory> {
        if memory.kind == MemoryKind::Summary {
            return None;
        }
        let (content, gone) = self.cut(&memory.content, model);
        let reply = memory.reply.as_deref();
        let reply = reply.map(|reply| without_repeats(&self.cut(reply, model).0, &gone));
        let reply = reply.filter(|reply| !reply.is_empty());
        let tells = sentences(&content).into_iter().any(|said| !only_asks(said));
        if !tells || (content == memory.content && reply == memory.reply) {
            return None;
        }
        let raw = memory.raw.as_deref().map(|raw| self.cut(raw, model).0);
        let names = |name: &str| content.contains(name);
        let mut left = Memory {
            raw: raw.filter(|raw| !raw.is_empty()),
            structured: None,
            mentions: memory.mentions.iter().filter(|it| names(&it.name)).cloned().collect(),
            entity_relations: Vec::new(),
            reply,
            ..memory.clone()
        };
        left.content = content;
        let says = words_of(&left).iter().any(|text| self.is_in(text));
        (!says).then_some(left)
    }

    /// A text without it, and the sentences that went whole or in part.
    fn cut(&self, text: &str, model: &MemorableModel) -> (String, Vec<String>) {
        let (mut left, mut gone) = (Vec::new(), Vec::new());
        for sentence in sentences(text) {
            if self.is_in(sentence) {
                left.extend(self.left_of(sentence, model));
                gone.push(sentence.to_owned());
            } else {
                left.push(sentence.to_owned());
            }
        }
        match gone.is_empty() {
            true => (text.to_owned(), gone),
            false => (left.join(" "), gone),
        }
    }

    /// The other clauses of a sentence, where they tell something.
    fn left_of(&self, sentence: &str, model: &MemorableModel) -> Option<String> {
        let mut held = clauses(sentence, model);
        held.retain(|clause| !self.is_in(clause.words()));
        left_of(&held, model)
    }

    /// Whether a text says it, or is part of it.
    fn is_in(&self, text: &str) -> bool {
        let text = folded(&undated(text));
        !text.is_empty() && self.0.iter().any(|said| text.contains(said) || said.contains(&text))
    }
}
