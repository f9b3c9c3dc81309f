//! The look of a text: what a reader takes it for. Patterns search it, so that a character which only looks like
//! another one hides nothing from them.

use std::{ops::Range, sync::LazyLock};

use unicode_normalization::UnicodeNormalization;
use unicode_security::{MixedScript, skeleton};

use super::{char_class::CharClass, folded::Folded, words::is_cjk};

/// The decimal digits of all scripts.
static DIGITS: LazyLock<CharClass> = LazyLock::new(|| CharClass::of(r"\p{Nd}"));

/// Full-width, circled and mathematical letters: Latin in another style.
static STYLED: LazyLock<CharClass> = LazyLock::new(|| {
    CharClass::of(
        r"[\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A}\x{24B6}-\x{24E9}\x{2100}-\x{214F}\x{1D400}-\x{1D6A3}]",
    )
});

/// Letters of an alphabet, and the ASCII letters that look like them.
type Twins = (&'static str, &'static str);
const CYRILLIC: Twins = ("асеорхуіјѕАВЕКМНОРСТХІЈЅ", "aceopxyijsABEKMHOPCTXIJS");
const GREEK: Twins = ("ονΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ovABEZHIKMNOPTYX");

/// The look of a text: with ASCII digits and Latin letters in one style, and with each word that mixes the letters of two
/// alphabets in the one that it looks like. A word of one alphabet is its own look: Russian "рот" is no Latin "pot".
pub struct Look<'t> {
    text: &'t str,
    /// `None` for a text that is its own look.
    folded: Option<Folded>,
}

impl<'t> Look<'t> {
    /// The look of a text.
    #[must_use]
    pub fn of(text: &'t str) -> Self {
        let of_style = |c: char| !c.is_ascii() && (DIGITS.contains(c) || STYLED.contains(c));
        let mixed = mixed_words(text);
        if mixed.is_empty() && !text.chars().any(of_style) {
            return Self { text, folded: None };
        }
        let mut mixed = mixed.into_iter().peekable();
        let folded = Folded::by(text, |at, c| {
            while mixed.next_if(|(word, _)| word.end <= at).is_some() {}
            let alphabet = mixed.peek().filter(|(word, _)| word.contains(&at)).map(|(_, it)| *it);
            Some(folded(c, alphabet))
        });
        Self { text, folded: Some(folded) }
    }

    /// The look as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.folded.as_ref().map_or(self.text, |folded| &folded.text)
    }

    /// Where a part of the look stands in the text.
    #[must_use]
    pub fn origin(&self, part: Range<usize>) -> Range<usize> {
        match &self.folded {
            None => part,
            Some(folded) => folded.origin(part),
        }
    }
}

/// The alphabet that a word looks written in.
#[derive(Clone, Copy)]
enum Alphabet {
    Latin,
    Other(Twins),
}

impl Alphabet {
    /// The alphabet that has a look-alike of each letter of the other one in a word.
    fn of(word: &str) -> Option<Self> {
        let mut foreign = word.chars().filter(|c| is_foreign(*c));
        let first = foreign.clone().next()?;
        if foreign.all(|c| ascii_letter(c).is_some()) {
            return Some(Self::Latin);
        }
        let other = match first {
            '\u{370}'..='\u{3FF}' => Self::Other(GREEK),
            '\u{400}'..='\u{52F}' => Self::Other(CYRILLIC),
            _ => return None,
        };
        let mut latin = word.chars().filter(char::is_ascii_alphabetic);
        latin.all(|c| other.letter(c).is_some()).then_some(other)
    }

    /// The letter of this alphabet that a letter looks like, in the same case.
    fn letter(self, c: char) -> Option<char> {
        match self {
            Self::Latin => is_foreign(c).then(|| ascii_letter(c))?,
            Self::Other((own, ascii)) => {
                ascii.chars().zip(own.chars()).find_map(|(ascii, own)| (ascii == c).then_some(own))
            }
        }
    }
}

/// The form that is equal for texts that look alike (Unicode TS 39). Letters are folded between two rounds: a capital can look
/// like another alphabet's capital, and not like its small letter.
#[must_use]
pub fn lookalike(text: &str) -> String {
    let capitals: String = skeleton(text).collect();
    skeleton(&capitals.to_lowercase()).collect()
}

/// The digit of any script as an ASCII digit.
pub(crate) fn ascii_digit(c: char) -> Option<char> {
    if c.is_ascii() {
        return c.is_ascii_digit().then_some(c);
    }
    // The digits of a script are ten consecutive characters, zero first.
    let zero = DIGITS.start_of_range(c)?;
    char::from_digit((u32::from(c) - u32::from(zero)) % 10, 10)
}

fn folded(c: char, alphabet: Option<Alphabet>) -> char {
    let letter = alphabet.and_then(|alphabet| alphabet.letter(c));
    let styled = || {
        let mut plain = STYLED.contains(c).then(|| c.nfkc())?;
        plain.next().filter(|letter| letter.is_ascii_alphabetic() && plain.next().is_none())
    };
    letter
        .or_else(|| if c.is_ascii() { None } else { styled().or_else(|| ascii_digit(c)) })
        .unwrap_or(c)
}

/// The ASCII letter that a letter looks like, in the same case.
fn ascii_letter(c: char) -> Option<char> {
    let single = |text: &str| {
        let mut looks = skeleton(text);
        looks.next().filter(|letter| letter.is_ascii_alphabetic() && looks.next().is_none())
    };
    if matches!(c, 'к' | 'κ') {
        return Some('k');
    }
    let look = single(c.encode_utf8(&mut [0; 4]));
    if !c.is_uppercase() || look.is_some_and(|look| look.is_ascii_uppercase()) {
        return look;
    }
    // The skeleton of every straight line is a small L, that of "І" too.
    single(&c.to_lowercase().to_string()).map(|look| look.to_ascii_uppercase())
}

/// A letter beyond Latin as Europe writes it, and no character of Chinese or Japanese: these stand beside Latin words.
fn is_foreign(c: char) -> bool {
    c > '\u{24F}' && c.is_alphabetic() && !is_cjk(c) && !STYLED.contains(c)
}

/// The words with letters of two scripts of which one is Latin, as Unicode TS 39 tells scripts apart, and the alphabet of
/// their look.
fn mixed_words(text: &str) -> Vec<(Range<usize>, Alphabet)> {
    if text.is_ascii() {
        return Vec::new();
    }
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| word.bytes().any(|byte| byte.is_ascii_alphabetic()))
        .filter(|word| word.chars().any(is_foreign) && !word.is_single_script())
        .filter_map(|word| {
            let start = word.as_ptr().addr() - text.as_ptr().addr();
            Some((start..start + word.len(), Alphabet::of(word)?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_and_disguised_letters_look_like_ascii() {
        for (text, look) in [
            ("٠٥٠٥٣٤٩٣٦٩", "0505349369"),
            ("१२३ ۴۵ ৬ 一２ 𝟙𝟟", "123 45 6 一2 17"),
            ("mein pаsswоrd", "mein password"),
            ("РАSSWORD, ІBAN", "PASSWORD, IBAN"),
            ("ghр_1 und ｔｏｋｅｎ, 𝐤𝐞𝐲", "ghp_1 und token, key"),
            ("мой пaрoль, Kод, κωδικoς", "мой пароль, Код, κωδικος"),
            ("Ⓣⓞⓚⓔⓝ 𝒫ℯ𝓃 ℙ", "Token Pen P"),
            ("tокen ٣", "token 3"),
        ] {
            assert_eq!(Look::of(text).as_str(), look, "{text}");
        }
    }

    #[test]
    fn a_word_of_one_script_is_its_own_look() {
        for text in [
            "plain 42",
            "Мой сосед по-русски, рот",
            "été à Łódź, şifre kapı",
            "GitHubのトークン",
            "παρακαλώ",
            "SMS-сообщение",
            "PINкод, GitHubом, VPNы",
            "m² in 2º, ℃, ™ und №",
            "می\u{200C}خواهم 👍\u{FE0F}",
            "देवनागरी",
        ] {
            let look = Look::of(text);
            assert_eq!(look.as_str(), text);
            assert_eq!(look.origin(0..3), 0..3);
        }
    }

    #[test]
    fn a_part_of_the_look_is_found_in_the_text() {
        let text = "да: pаsswоrd ٤٤٤ ह";
        let look = Look::of(text);
        let part = |part: &str| {
            let at = look.as_str().find(part).unwrap();
            &text[look.origin(at..at + part.len())]
        };
        assert_eq!(part("password"), "pаsswоrd");
        assert_eq!(part("444"), "٤٤٤");
        assert_eq!(part("ह"), "ह");
    }

    #[test]
    fn twins_look_alike() {
        for (own, ascii) in [CYRILLIC, GREEK] {
            assert_eq!(own.chars().filter_map(ascii_letter).collect::<String>(), ascii);
        }
    }

    #[test]
    fn every_script_has_its_digits_in_tens() {
        let digits: Vec<char> = (0..2_000).map_while(|n| DIGITS.member(n)).collect();
        for (number, digit) in (0..).zip(&digits) {
            assert_eq!(folded(*digit, None).to_digit(10), Some(number % 10), "{digit}");
        }
    }
}
