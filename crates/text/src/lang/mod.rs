//! Languages: one file a language in `lang/` at the root of the repository, embedded at compile
//! time.
//!
//! Adding a language is adding a file. docs/languages.md says what its sections are for.

pub(crate) mod answers;
mod cldr;
mod detect;
pub(crate) mod file;
pub(crate) mod keys;
pub(crate) mod lists;

use std::sync::LazyLock;

use strum::VariantArray as _;

pub use answers::AnswerLanguage;
pub use file::Alone;
use file::File;
use keys::{PreferenceValue, PreferenceWords};
use lists::Lists;

include!(concat!(env!("OUT_DIR"), "/languages.rs"));

static FILES: LazyLock<Vec<File>> =
    LazyLock::new(|| Language::ALL.iter().map(|language| parsed(*language)).collect());

#[expect(
    clippy::expect_used,
    reason = "the files are constants; a test here reads them all, and without one nothing would be recognised"
)]
fn parsed(language: Language) -> File {
    toml::from_str(language.source()).expect("a file of lang/ is not as it must be")
}

impl Language {
    /// All of them.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// The language of a code by ISO 639-1.
    #[must_use]
    pub fn of_code(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|language| language.code() == code)
    }

    /// Its name in English.
    #[must_use]
    pub fn name(self) -> &'static str {
        &self.file().name
    }

    /// Words and patterns that tell whether a text can be read alone.
    #[must_use]
    pub fn alone(self) -> &'static Alone {
        &self.file().alone
    }

    /// The words around preferences.
    pub(crate) fn preference_words(self) -> &'static Lists<PreferenceWords> {
        &self.file().preferences.words
    }

    /// The patterns that state preferences.
    pub(crate) fn preference_values(self) -> &'static Lists<PreferenceValue> {
        &self.file().preferences.values
    }

    /// The language's names for the languages of answers.
    pub(crate) fn answer_languages(self) -> &'static Lists<AnswerLanguage> {
        &self.file().preferences.languages
    }

    /// Its file.
    pub(crate) fn file(self) -> &'static File {
        &FILES[self as usize]
    }
}

impl AnswerLanguage {
    /// Its name in English, as a reader sees it.
    #[must_use]
    pub fn english_name(self) -> &'static str {
        let names = Language::En.answer_languages().of(self);
        names.first().map_or(self.into(), String::as_str)
    }
}

/// The files of all languages.
pub(crate) fn files() -> impl Iterator<Item = &'static File> {
    FILES.iter()
}

/// A list of all languages, one after the other.
pub(crate) fn all(
    list: impl Fn(&'static File) -> &'static [String],
) -> impl Iterator<Item = &'static str> {
    files().flat_map(list).map(String::as_str)
}

#[cfg(test)]
mod tests;
