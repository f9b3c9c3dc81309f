//! The languages that answers can be wanted in. They are more than those of `lang/`; their names are there.

use serde::{Deserialize, Serialize};

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
