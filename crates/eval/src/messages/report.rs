//! Counts what became of the parts of messages.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    count::Count,
    data::Digests,
    messages::row::{Act, Part, Row, Wish, Words},
    table::Sheet,
};
use memgate_core::memory::{Memory, MemoryKind};
use memgate_text::normal::{one_line, plain};

/// What became of a row.
pub(super) struct Played {
    pub(super) memories: Vec<Memory>,
    /// Which of its messages were taken for a client's own prompt.
    pub(super) prompts: Vec<bool>,
}

/// The result, as `--json` prints it.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// Messages that people typed and that were taken for a client's own prompt.
    typed_taken_for_prompts: Count,
    /// Clients' own prompts that were taken for such.
    prompts_found: Count,
    /// The user's own statements of four words or more of which the words are kept, in a turn at least.
    own_kept: Count,
    /// Of these, the lines of lists.
    own_lines_kept: Count,
    /// Parts worth keeping of which the words are a fact, a preference or a wish.
    facts: Count,
    /// Parts of others' words that are presented as the user's, by the kind of message.
    foreign_presented: BTreeMap<&'static str, Count>,
    /// Wishes about every answer that are in force.
    standing: Count,
    /// Wishes in force by language.
    standing_by_lang: BTreeMap<String, Count>,
    /// Parts that are in force and should not be, by what they are.
    wrongly_standing: BTreeMap<&'static str, Count>,
    /// Wishes that a later one takes back and that are in force no longer.
    taken_back: Count,
    /// Parts that are asked not to be remembered and of which nothing is kept.
    private_kept_out: Count,
    /// The parts judged wrongly, with `--show`.
    shown: Vec<String>,
    #[serde(skip)]
    show: bool,
    #[serde(flatten)]
    digests: Digests,
}

/// Whether a memory says words: on the user's side.
fn says(memory: &Memory, words: &str) -> bool {
    let own = [Some(&memory.content), memory.raw.as_ref()];
    !memory.is_answer()
        && own.into_iter().flatten().any(|text| plain(&one_line(text)).contains(words))
}

/// Whether a memory stands in every context for the sake of a part: its words are the part's, or within them.
fn stands_for(memory: &Memory, part: &Part) -> bool {
    let words = plain(&one_line(memory.raw.as_ref().unwrap_or(&memory.content)));
    let words = words.trim_matches(|c: char| !c.is_alphanumeric());
    let stands = memory.preference().is_some() || memory.is_wish_for_every_answer();
    stands && (words.contains(&part.words()) || part.words().contains(words))
}

impl Report {
    pub(super) fn of(digests: Digests, show: bool) -> Self {
        Self { digests, show, ..Self::default() }
    }

    pub(super) fn add(&mut self, row: &Row, Played { memories, prompts }: &Played) {
        for (turn, prompt) in row.turns.iter().zip(prompts) {
            match row.is_template() {
                true => self.prompts_found.add(*prompt),
                false => self.typed_taken_for_prompts.add(*prompt),
            }
            self.note(row, "taken for a prompt", &turn.text(), *prompt && !row.is_template());
        }
        let stored = |part: &Part| memories.iter().any(|memory| says(memory, &part.words()));
        let fact = |part: &Part| {
            let kinds = [MemoryKind::Statement, MemoryKind::Preference, MemoryKind::Wish];
            let mut facts = memories.iter().filter(|memory| kinds.contains(&memory.kind));
            facts.any(|memory| says(memory, &part.words()))
        };
        let stands = |part: &Part| memories.iter().any(|memory| stands_for(memory, part));
        let undone = row.parts().any(|part| part.undo);
        for part in row.parts().filter(|part| !part.words().is_empty()) {
            let own = part.w == Words::Own;
            if part.private {
                let out = !stored(part);
                self.private_kept_out.add(out);
                self.note(row, "kept though private", &part.t, !out);
                continue;
            }
            if own && !part.secret && part.a == Act::State && part.tells() {
                let kept = stored(part);
                self.own_kept.add(kept);
                if part.is_line() {
                    self.own_lines_kept.add(kept);
                }
                self.note(row, "own words lost", &part.t, !kept);
            }
            if part.k && part.wish.is_none() {
                self.facts.add(fact(part));
            }
            if !own && part.tells() && !row.is_template() {
                let kept = stored(part);
                self.foreign_presented.entry(row.kind.name()).or_default().add(kept);
                self.note(row, "others' words presented", &part.t, kept);
            }
            let heard = stands(part);
            if part.wish == Some(Wish::Standing) {
                if undone && !part.undo {
                    self.taken_back.add(!heard);
                    self.note(row, "not taken back", &part.t, heard);
                } else {
                    self.standing.add(heard);
                    self.standing_by_lang.entry(row.lang.clone()).or_default().add(heard);
                    self.note(row, "wish not heard", &part.t, !heard);
                }
            } else {
                let what = part.wish.map_or(if own { "none" } else { "foreign" }, Wish::name);
                self.wrongly_standing.entry(what).or_default().add(heard);
                self.note(row, "made standing", &part.t, heard);
            }
        }
    }

    fn note(&mut self, row: &Row, what: &str, text: &str, wrong: bool) {
        if self.show && wrong {
            self.shown.push(format!("{}: {what}: {}", row.id, one_line(text)));
        }
    }

    pub(super) fn told(&self) -> String {
        let mut sheet = Sheet::of(&self.digests);
        sheet.counts(
            "",
            [
                ("typed messages taken for a client's prompt", self.typed_taken_for_prompts),
                ("clients' prompts found", self.prompts_found),
                ("own statements kept", self.own_kept),
                ("own lines of lists kept", self.own_lines_kept),
                ("worth keeping and a fact", self.facts),
                ("wishes in force", self.standing),
                ("wishes taken back", self.taken_back),
                ("private words kept out", self.private_kept_out),
            ],
        );
        for (title, counts) in [
            ("others' words presented, by kind", &self.foreign_presented),
            ("wrongly in force, by label", &self.wrongly_standing),
        ] {
            sheet.counts(title, counts.iter().map(|(key, count)| (*key, *count)));
        }
        let langs = &self.standing_by_lang;
        sheet.counts(
            "wishes in force, by language",
            langs.iter().map(|(key, it)| (key.as_str(), *it)),
        );
        self.shown.iter().for_each(|line| sheet.line(line));
        sheet.end()
    }
}
