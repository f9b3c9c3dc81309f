//! Standing wishes: how the user wants to be called, and how to be answered, in every conversation and whatever it is
//! about. A wish for some occasion ("when you give me recipes …") is none: it is found when that comes up.
//!
//! Rules alone, in the languages we claim (section `preferences` of `lang/`): what stands in every context must be sure. It must never
//! know what becomes of such a wish.

use std::{collections::HashMap, sync::LazyLock};

use regex::RegexSet;
use strum::VariantArray as _;

use crate::{
    lang::{self, keys::Preference},
    normal::plain,
};

/// The longest wish, in bytes: a longer text says more than a wish, and would not fit where wishes stand.
const MAX_BYTES: usize = 300;

/// A question, in any language.
const ASKED: &str = r"[?？]\W*$";

static RULES: LazyLock<HashMap<Preference, RegexSet>> =
    LazyLock::new(|| Preference::VARIANTS.iter().map(|list| (*list, set(*list))).collect());

#[expect(clippy::expect_used, reason = "constant; a test here compiles them all")]
fn set(list: Preference) -> RegexSet {
    let patterns = lang::all(|file| file.preferences.of(list));
    let asked = (list == Preference::Bound).then_some(ASKED);
    RegexSet::new(patterns.chain(asked)).expect("a pattern of preferences does not compile")
}

/// Whether a text, as the user said it or as an extractor put it, is a wish for every conversation.
#[must_use]
pub fn is_standing(text: &str) -> bool {
    if text.len() > MAX_BYTES {
        return false;
    }
    let plain = plain(text.trim());
    let matches = |list| RULES.get(&list).is_some_and(|set| set.is_match(&plain));
    (matches(Preference::Call) || (matches(Preference::Form) && matches(Preference::Lasting)))
        && !matches(Preference::Bound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_to_be_called_and_answered_is_a_standing_wish_in_every_language() {
        for text in [
            "Call me Sam",
            "Please address me as Ms Okafor, not by my first name.",
            "Always answer in metric units.",
            "From now on keep your answers short",
            "I prefer short answers.",
            "The user prefers answers in German, without small talk.",
            "The user wants to be called Sam.",
            "Nenn mich bitte Kalle",
            "Antworte mir ab jetzt immer auf Deutsch",
            "Tutéame, por favor",
            "Respóndeme siempre en pocas frases",
            "Appelle-moi Max",
            "Réponds toujours en français, s'il te plaît",
            "Pode me chamar de Lia",
            "Sempre responda em português",
            "मुझे राहुल कहकर बुलाओ",
            "hamesha hinglish me jawab dena",
            "以后请叫我小林",
            "以后都用中文回答",
            "これからは短く答えて",
            "みっちゃんって呼んで",
        ] {
            assert!(is_standing(text), "{text}");
        }
    }

    #[test]
    fn what_holds_for_an_occasion_or_for_somebody_else_is_none() {
        for text in [
            "Call me at five",
            "Call me back when you are done",
            "Can you call me Sam?",
            "My sister always answers late",
            "My brother wants to be called Duke",
            "When you give me recipes always use grams",
            "Always sign emails for me with Kev",
            "Answer in French this time",
            "I always eat short pasta",
            "My budget for the Hawaii trip is $10,000",
            "Meine Schwester antwortet immer spät",
            "Ruf mich morgen an",
            "Appelle-moi demain",
            "Me llamo Ana",
            "妈妈叫我去买菜",
            "友達を呼んでパーティーをした",
            "Ich heiße Sam",
        ] {
            assert!(!is_standing(text), "{text}");
        }
        assert!(!is_standing(&format!("Call me Sam. {}", "And so on. ".repeat(40))));
    }
}
