//! The snippet of a long memory: the part that matters for a question.

use std::{borrow::Cow, collections::HashSet};

use unicode_segmentation::UnicodeSegmentation;

use crate::{hit::Hit, text::view};
use memgate_text::index;

/// The longest piece, in bytes: a longer sentence is cut.
const PIECE: usize = 200;
/// The share of the place that the side of a turn has at least, of which the other one is what matters.
const OTHER_SIDE: usize = 4;

/// The words of a question; the snippet is taken where they are.
pub(super) struct Wanted(HashSet<String>);

impl Wanted {
    /// By the words of the query that carry meaning; without any, texts are shown from their beginning.
    pub(super) fn by(query: &str) -> Self {
        Self(index::meaning_set(query))
    }

    fn of(&self, text: &str) -> usize {
        let found = index::token_set(view::showable(text));
        self.0.intersection(&found).count()
    }
}

/// The text that is shown of a memory, in about this many characters: all of it if that fits, else
/// the text where the question's words are. The side of a turn that is near to the question
/// (`part`, as vectors are kept) comes first.
pub(super) fn snippet<'m>(hit: &'m Hit, wanted: &Wanted, chars: usize) -> Cow<'m, str> {
    let (memory, part) = (&hit.memory, hit.breakdown.part);
    let (user, reply) = match memory.as_turn() {
        None => return cut(memory.text_within(view::SHOWABLE), wanted, chars),
        Some((user, Some(reply))) if hit.breakdown.replies || memory.is_answer() => (user, reply),
        // The assistant may have repeated what a page or a tool made it say.
        Some((user, _)) => return cut(Cow::Borrowed(user), wanted, chars),
    };
    let size = |side: &str| view::showable(side).chars().count();
    if size(user) + size(reply) <= chars {
        return Cow::Owned(both(user, reply));
    }
    let passage = part.and_then(|part| {
        memory.reply_passages().into_iter().nth(usize::from(part).checked_sub(1)?)
    });
    if let Some(passage) = passage.filter(|_| memory.is_answer()) {
        let user = cut(user.into(), wanted, chars / OTHER_SIDE);
        let left = chars.saturating_sub(user.chars().count());
        return Cow::Owned(both(&user, &from(reply, passage.start, left)));
    }
    let reply_matters = match part {
        Some(part) => part > 0,
        None => wanted.of(reply) > wanted.of(user),
    };
    let sides = |first: &str, second: &str| {
        let other = chars / OTHER_SIDE;
        let first = cut(first.into(), wanted, chars - other.min(size(second)));
        let left = chars.saturating_sub(first.chars().count());
        let second = cut(second.into(), wanted, left);
        (first.into_owned(), second.into_owned())
    };
    let (user, reply) = match reply_matters {
        true => {
            let (reply, user) = sides(reply, user);
            (user, reply)
        }
        false => sides(user, reply),
    };
    Cow::Owned(both(&user, &reply))
}

/// The two sides of a turn. Nearly everything is the user's, so only the assistant's words say whose they are.
fn both(user: &str, reply: &str) -> String {
    format!("{user}\nAssistant: {reply}")
}

/// This many characters of a text, from a place on.
fn from(text: &str, start: usize, chars: usize) -> String {
    let rest = &text[start..];
    let end = rest.char_indices().nth(chars).map_or(rest.len(), |(end, _)| end);
    let more = if end < rest.len() { "…" } else { "" };
    format!("{}{}{more}", if start > 0 { "… " } else { "" }, rest[..end].trim_end())
}

/// This many characters of a text, from where they hold most of the wanted words.
fn cut<'t>(text: Cow<'t, str>, wanted: &Wanted, chars: usize) -> Cow<'t, str> {
    if text.chars().nth(chars).is_none() {
        return text;
    }
    let text = view::showable(&text);
    let start = best_start(text, wanted, chars);
    from(text, start, chars).into()
}

/// The beginning of the first piece from which on this many characters hold most of the wanted words.
fn best_start(text: &str, wanted: &Wanted, chars: usize) -> usize {
    let words: Vec<&String> = wanted.0.iter().collect();
    let pieces: Vec<(usize, usize, Vec<usize>)> = pieces(text)
        .map(|(at, piece)| {
            let found = index::token_set(piece);
            let held = (0..words.len()).filter(|&number| found.contains(words[number]));
            (at, piece.chars().count(), held.collect())
        })
        .collect();
    // A window over the pieces: how often it holds each word, and how many words it holds.
    let (mut holds, mut distinct) = (vec![0_u32; words.len()], 0);
    let (mut length, mut end, mut best) = (0, 0, (0, 0));
    for (start, (at, size, held)) in pieces.iter().enumerate() {
        while let Some((_, more, new)) = pieces.get(end)
            && (length + more <= chars || end == start)
        {
            length += more;
            for &word in new {
                holds[word] += 1;
                distinct += usize::from(holds[word] == 1);
            }
            end += 1;
        }
        if distinct > best.0 {
            best = (distinct, *at);
        }
        length -= size;
        for &word in held {
            holds[word] -= 1;
            distinct -= usize::from(holds[word] == 0);
        }
    }
    best.1
}

/// A text's sentences, long ones in pieces, and where they begin.
fn pieces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_sentence_bound_indices().flat_map(|(at, sentence)| {
        let mut from = 0;
        std::iter::from_fn(move || {
            let rest = sentence.get(from..).filter(|rest| !rest.is_empty())?;
            let to = match rest.len() > PIECE {
                true => {
                    let most = &rest[..rest.floor_char_boundary(PIECE)];
                    most.rfind(' ').map_or(most.len(), |space| space + 1)
                }
                false => rest.len(),
            };
            let piece = (at + from, &rest[..to]);
            from += to;
            Some(piece)
        })
    })
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use proptest::prelude::*;

    use super::*;
    use crate::{HitScope, ScoreBreakdown, tests::growth::assert_no_square};
    use memgate_core::memory::{Memory, MemoryId, MemoryType, Owner, Source};

    fn hit(content: String) -> Hit {
        let owner = Owner::of_user("u").unwrap();
        let kind = MemoryType::new(MemoryType::EPISODIC);
        let (id, source) = (MemoryId::fresh(), Source::ExplicitUserInput);
        let mut memory = Memory::new(id, owner, kind, content, source, Timestamp::UNIX_EPOCH);
        memory.provenance.turn = Some("t".into());
        Hit { memory, scope: HitScope::default(), score: 0.9, breakdown: ScoreBreakdown::default() }
    }

    #[test]
    fn what_fits_is_shown_whole() {
        let hit = hit("I fly on Friday.".into());
        assert_eq!(snippet(&hit, &Wanted::by("when?"), 100), "I fly on Friday.");
    }

    #[test]
    fn a_long_text_is_shown_where_the_questions_words_are() {
        let filler = "It was a long day with nothing to tell. ".repeat(40);
        let hit = hit(format!("{filler}The hotel in Lisbon costs 90 euros. {filler}"));
        let of = |query: &str| snippet(&hit, &Wanted::by(query), 300).into_owned();
        let shown = of("What does the Lisbon hotel cost?");
        assert!(shown.contains("costs 90 euros") && shown.starts_with("… "), "{shown}");
        assert!(shown.ends_with('…') && shown.chars().count() <= 304, "{shown}");
        assert!(of("What is my name?").starts_with("It was a long day"));
        let chinese =
            format!("{}里斯本的酒店九十欧元。{}", "今天没有什么事。".repeat(90), "好。".repeat(90));
        let hit = self::hit(chinese);
        let shown = snippet(&hit, &Wanted::by("里斯本的酒店多少钱"), 100);
        assert!(shown.contains("九十欧元"), "{shown}");
    }

    #[test]
    fn of_a_turn_the_side_that_matched_comes_first() {
        let (said, told) = ("Some words of mine. ".repeat(60), "Some words of yours. ".repeat(60));
        let mut turn = hit(String::new());
        turn.memory = turn
            .memory
            .of_turn(format!("{said}My end."), Some(format!("{told}The gate closes at nine.")));
        let of = |part, replies, query: &str| {
            let mut hit = turn.clone();
            (hit.breakdown.part, hit.breakdown.replies) = (part, replies);
            snippet(&hit, &Wanted::by(query), 400).into_owned()
        };
        let sides = |shown: String| {
            let (user, reply) = shown.split_once("\nAssistant: ").unwrap();
            (user.chars().count(), reply.chars().count())
        };
        let (user, reply) = sides(of(Some(0), true, "What did you say?"));
        assert!(user > 2 * reply && reply > 50, "{user} {reply}");
        let (user, reply) = sides(of(Some(1), true, "What did you say?"));
        assert!(reply > 2 * user && user > 50, "{user} {reply}");
        let shown = of(None, true, "When did you say that the gate closes?");
        assert!(shown.contains("The gate closes at nine."), "{shown}");
        let shown = of(Some(1), false, "When does the gate close?");
        assert!(!shown.contains("Assistant"), "nobody asked for the assistant's words: {shown}");
    }

    proptest! {
        #[test]
        fn no_text_is_shown_longer_than_there_is_room(
            text in "([a-zé日 .。!?]{0,30}[.。\\n ]){0,80}", query in "[a-zé日 ]{0,20}", chars in 40_usize..400,
        ) {
            let shown = cut(text.as_str().into(), &Wanted::by(&query), chars);
            prop_assert!(shown.chars().count() <= chars + 3, "{}", shown);
            let inner = shown.trim_start_matches("… ").trim_end_matches('…');
            prop_assert!(text.contains(inner));
        }
    }

    #[test]
    fn very_long_texts_without_an_end_take_no_longer() {
        for unit in ["x", "a. ", "日", "word "] {
            assert_no_square(unit, 120_000, |bytes| {
                let hit = hit(unit.repeat(bytes / unit.len()));
                let shown = snippet(&hit, &Wanted::by("word of a day"), 1_200);
                assert!(shown.chars().count() <= 1_203);
            });
        }
    }
}
