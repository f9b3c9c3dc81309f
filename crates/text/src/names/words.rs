//! A text in words, and where its sentences begin.

use unicode_normalization::UnicodeNormalization;

/// A word of a text.
#[derive(Debug)]
pub(super) struct Word {
    /// As it is written.
    pub text: String,
    /// In lower case.
    pub lower: String,
    /// The text between it and the word before.
    pub gap: String,
}

impl Word {
    /// Whether a sentence, a quotation or an item of a list begins here.
    pub(super) fn opens(&self) -> bool {
        self.gap.chars().any(|c| {
            matches!(
                c,
                '.' | '!' | '?' | '…' | ':' | ';' | '\n' | '"' | '“' | '«' | '„' | '¿' | '¡'
            ) || matches!(c, '(' | '[' | '*' | '•' | '–' | '—' | '>' | '#' | '/' | '\'' | '‘')
        })
    }

    /// Whether it is written as names are: Ana, O'Brien, Aix-en-Provence.
    pub(super) fn is_name(&self) -> bool {
        let first = |part: &str| part.chars().next().is_some_and(char::is_uppercase);
        first(&self.text)
            && self.text.rsplit('-').next().is_some_and(first)
            // Not PDFs.
            && self.text.strip_suffix('s').unwrap_or(&self.text).chars().any(char::is_lowercase)
            && self.text.chars().all(|c| is_latin(c) || matches!(c, '-' | '\''))
    }

    /// Whether it is written as abbreviations are: IBM.
    pub(super) fn is_abbreviation(&self) -> bool {
        (2..=6).contains(&self.text.chars().count())
            && self.text.chars().all(|c| is_latin(c) && c.is_uppercase())
    }

    /// Whether only a space stands before it.
    pub(super) fn follows(&self) -> bool {
        self.gap == " " || self.gap.is_empty()
    }
}

fn is_latin(c: char) -> bool {
    c.is_ascii_alphabetic()
        || c.is_alphabetic() && matches!(c, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}

/// The words of a text. The possessive 's, and what French elides, are words.
pub(super) fn words(text: &str) -> Vec<Word> {
    let text: String = text.nfc().map(|c| if c == '’' { '\'' } else { c }).collect();
    let mut words = Vec::new();
    // As at the beginning of a line.
    let mut gap = "\n".to_owned();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next_is_letter = chars.peek().is_some_and(|next| next.is_alphanumeric());
        let joins = matches!(c, '\'' | '-') && !word.is_empty() && next_is_letter;
        if c.is_alphanumeric() || joins {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            push(&mut words, std::mem::take(&mut gap), &word);
            word.clear();
        }
        gap.push(c);
    }
    if !word.is_empty() {
        push(&mut words, gap, &word);
    }
    words
}

fn push(words: &mut Vec<Word>, gap: String, word: &str) {
    let mut add = |gap: String, text: &str| {
        words.push(Word { text: text.to_owned(), lower: text.to_lowercase(), gap });
    };
    let Some((before, after)) = word.split_once('\'') else { return add(gap, word) };
    let elided =
        matches!(&*before.to_lowercase(), "j" | "l" | "d" | "s" | "m" | "n" | "t" | "c" | "qu");
    // Not L'Oréal or D'Angelo, which are names as a whole.
    let whole = |text: &str| text.chars().next().is_some_and(char::is_uppercase);
    if after.eq_ignore_ascii_case("s") {
        add(gap, before);
        add(String::new(), "'s");
    } else if elided && !(whole(before) && whole(after)) {
        add(gap, before);
        push(words, String::new(), after);
    } else if let Some(owner) = word.strip_suffix("'s") {
        add(gap, owner);
        add(String::new(), "'s");
    } else {
        add(gap, word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn possessives_and_elisions_are_words_and_names_stay_whole() {
        let of = |text: &str| words(text).into_iter().map(|word| word.text).collect::<Vec<_>>();
        assert_eq!(of("Ana's O’Brien"), ["Ana", "'s", "O'Brien"]);
        assert_eq!(of("j'habite à L'Isle, d'Ana"), ["j", "habite", "à", "L'Isle", "d", "Ana"]);
        assert_eq!(of("O'Neill's Anne-Sophie - I'm"), ["O'Neill", "'s", "Anne-Sophie", "I'm"]);
        assert_eq!(of("Jose\u{301}"), ["José"]);
    }

    #[test]
    fn sentences_quotations_and_items_open() {
        let opens: Vec<bool> =
            words("One two. Three, \"four\" five\n- six").iter().map(Word::opens).collect();
        assert_eq!(opens, [true, false, true, true, true, true]);
    }
}
