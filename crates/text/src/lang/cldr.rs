//! The structure of `lang/cldr/*.toml`, which `cargo xtask cldr` writes from Unicode's Common Locale Data Repository.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;

use crate::lang::{Language, keys::TimePhrase};

/// The words of a language for times, all in lower case.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cldr {
    /// January first.
    pub months: [Vec<String>; 12],
    /// Monday first.
    pub weekdays: [Vec<String>; 7],
    /// Phrases as they stand: no patterns, but for their places.
    pub phrases: BTreeMap<TimePhrase, Vec<String>>,
}

static FILES: LazyLock<Vec<Cldr>> =
    LazyLock::new(|| Language::ALL.iter().map(|language| parsed(*language)).collect());

#[expect(clippy::expect_used, reason = "the files are constants; the tests of times read them all")]
fn parsed(language: Language) -> Cldr {
    toml::from_str(language.cldr_source()).expect("a file of lang/cldr/ is not as it must be")
}

impl Language {
    /// The words of CLDR for times.
    pub(crate) fn cldr(self) -> &'static Cldr {
        &FILES[self as usize]
    }
}
