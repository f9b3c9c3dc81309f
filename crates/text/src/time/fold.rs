//! One form for words of time however they are typed: in lower case, without accents, with straight apostrophes.

use std::ops::Range;

/// A folded text that knows where its characters come from.
pub(crate) struct Folded {
    pub text: String,
    /// For each byte of the text, and for its end, the place in the text that was folded.
    origins: Vec<usize>,
}

impl Folded {
    pub(crate) fn of(text: &str) -> Self {
        let (mut folded, mut origins) = (String::with_capacity(text.len()), Vec::new());
        for (at, c) in text.char_indices() {
            folded.extend(c.to_lowercase().map(without_accent));
            origins.resize(folded.len(), at);
        }
        origins.push(text.len());
        Self { text: folded, origins }
    }

    /// Where a part of the folded text stands in the text that was folded.
    pub(crate) fn origin(&self, part: Range<usize>) -> Range<usize> {
        let of = |at: usize| self.origins.get(at).or(self.origins.last()).copied().unwrap_or(0);
        of(part.start)..of(part.end)
    }
}

/// Lower case, without accents, and with the digits that numbers are read by.
pub(crate) fn fold(word: &str) -> String {
    Folded::of(word).text
}

fn without_accent(c: char) -> char {
    match c {
        'á' | 'à' | 'â' | 'ã' | 'ä' => 'a',
        'é' | 'è' | 'ê' | 'ë' => 'e',
        'í' | 'ì' => 'i',
        'ó' | 'ò' | 'ô' | 'õ' | 'ö' => 'o',
        'ú' | 'ù' | 'û' | 'ü' => 'u',
        'ç' => 'c',
        'ñ' => 'n',
        'ё' => 'е',
        '’' | '‘' => '\'',
        '०'..='९' => digit(c, '०'),
        '０'..='９' => digit(c, '０'),
        other => other,
    }
}

fn digit(c: char, zero: char) -> char {
    char::from_digit(u32::from(c) - u32::from(zero), 10).unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_folded_text_is_found_in_the_text() {
        let text = "L’Été à Rome";
        let folded = Folded::of(text);
        assert_eq!(folded.text, "l'ete a rome");
        let part = folded.text.find("ete").unwrap();
        assert_eq!(&text[folded.origin(part..part + 3)], "Été");
        assert_eq!(folded.origin(0..folded.text.len()), 0..text.len());
    }
}
