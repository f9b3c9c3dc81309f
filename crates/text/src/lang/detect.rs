//! In which language a text is.

use std::{
    collections::{BTreeMap, HashMap},
    sync::LazyLock,
};

use whatlang::{Detector, Lang, Script, detect_script};

use crate::{
    lang::Language,
    normal::{plain, tokens},
};

/// The languages of each function word, each once.
static FUNCTION_WORDS: LazyLock<HashMap<&str, Vec<Language>>> = LazyLock::new(|| {
    let mut languages: HashMap<&str, Vec<Language>> = HashMap::new();
    for language in Language::ALL {
        for word in &language.file().index.stop_words {
            let of_word = languages.entry(word).or_default();
            if of_word.last() != Some(language) {
                of_word.push(*language);
            }
        }
    }
    languages
});

impl Language {
    /// The language that a text is likely in: by its script, else by its function words, else, where those of several
    /// languages are as many, by its letters. `None` where it has no function word: of so few letters any guess is bad.
    #[must_use]
    pub(crate) fn likely(text: &str) -> Option<Self> {
        let counts = match detect_script(text)? {
            Script::Latin => Self::function_words(text),
            _ => return Self::by_letters(text, Self::ALL),
        };
        let most = counts.values().copied().max()?;
        let best = counts.into_iter().filter(|(_, count)| *count == most);
        let best: Vec<Self> = best.map(|(language, _)| language).collect();
        match best[..] {
            [only] => Some(only),
            _ => Self::by_letters(text, &best),
        }
    }

    /// How many of a text's words are function words of each language, where any is.
    fn function_words(text: &str) -> BTreeMap<Self, usize> {
        let mut counts = BTreeMap::new();
        for word in tokens(&plain(text)) {
            for language in FUNCTION_WORDS.get(word.as_str()).into_iter().flatten() {
                *counts.entry(*language).or_default() += 1;
            }
        }
        counts
    }

    /// Which of these languages the letters of a text tell.
    fn by_letters(text: &str, of: &[Self]) -> Option<Self> {
        let known = of.iter().filter_map(|language| language.lang());
        let lang = Detector::with_allowlist(known.collect()).detect_lang(text)?;
        of.iter().copied().find(|language| language.lang() == Some(lang))
    }

    /// The library's value for it, if there is one.
    fn lang(self) -> Option<Lang> {
        Lang::from_code(&self.file().iso639_3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_in_the_language_of_its_script_or_its_function_words() {
        for (text, language) in [
            ("what is my sister's name", Some(Language::En)),
            ("wie heißt meine Schwester", Some(Language::De)),
            ("como se llama mi hermana", Some(Language::Es)),
            ("我妹妹叫什么", Some(Language::Zh)),
            ("妹の名前は何ですか", Some(Language::Ja)),
            ("여동생 이름이 뭐예요", Some(Language::Ko)),
            ("как зовут мою сестру", Some(Language::Ru)),
            ("terraform", None),
            ("!!", None),
        ] {
            assert_eq!(Language::likely(text), language, "{text}");
        }
    }
}
