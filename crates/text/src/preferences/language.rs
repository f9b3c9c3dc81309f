//! The languages that answers can be wanted in. They are more than those of `lang/`; their names are there.

use serde::{Deserialize, Serialize};

use crate::lang::Language;

/// A language of answers, by its code of ISO 639-1.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[expect(missing_docs, reason = "a variant is a code")]
pub enum AnswerLanguage {
    Ar,
    Cs,
    Da,
    De,
    El,
    En,
    Es,
    Fi,
    Fr,
    He,
    Hi,
    Hu,
    Id,
    It,
    Ja,
    Ko,
    Nl,
    No,
    Pl,
    Pt,
    Ro,
    Ru,
    Sv,
    Th,
    Tr,
    Uk,
    Vi,
    Zh,
}

impl AnswerLanguage {
    /// Its name in English, as a reader sees it.
    #[must_use]
    pub fn english_name(self) -> &'static str {
        let names = Language::En.answer_languages().of(self);
        names.first().map_or(self.into(), String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_english_file() {
        assert_eq!(AnswerLanguage::De.english_name(), "German");
        assert_eq!(AnswerLanguage::Zh.english_name(), "Chinese");
    }
}
