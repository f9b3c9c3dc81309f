//! The plain form of a text, and its words.

use unicode_normalization::UnicodeNormalization;

/// NFKC, lower case, straight apostrophes.
pub fn plain(text: &str) -> String {
    let folded: String = text.nfkc().collect();
    folded.to_lowercase().replace(['’', '‘', '`'], "'")
}

/// One line with single spaces.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words of a plain text, without apostrophes and with 0 for every digit.
/// Characters of Chinese and Japanese, and marks, stand singly.
pub fn tokens(plain: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    for c in plain.chars().filter(|&c| c != '\'') {
        let c = if is_digit(c) { '0' } else { c };
        if in_word(c) && !is_cjk(c) {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            tokens.push(std::mem::take(&mut word));
        }
        if !c.is_whitespace() {
            tokens.push(c.to_string());
        }
    }
    if !word.is_empty() {
        tokens.push(word);
    }
    tokens
}

/// Whether a character belongs to Chinese or Japanese script.
pub fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// Letters, numbers, and the marks that Hindi writes its vowels with.
fn in_word(c: char) -> bool {
    c.is_alphanumeric()
        || matches!(c, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{957}' | '\u{962}' | '\u{963}')
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || ('\u{966}'..='\u{96f}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_the_same_is_the_same_and_words_are_told_apart() {
        assert_eq!(plain("I’M Ｎo.１"), "i'm no.1");
        assert_eq!(tokens(&plain("I'm 42, ok?")), ["im", "00", ",", "ok", "?"]);
        assert_eq!(tokens(&plain("我有2只猫")), ["我", "有", "0", "只", "猫"]);
        assert_eq!(tokens(&plain("मेरी उम्र ३०")), ["मेरी", "उम्र", "00"]);
    }
}
