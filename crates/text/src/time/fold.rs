//! One form for words of time however they are typed: in lower case, without accents, with straight apostrophes.

use crate::normal::{ascii_digit, folded::Folded};

/// The folded text, which knows where its characters come from.
pub(crate) fn folded(text: &str) -> Folded {
    Folded::by(text, |_, c| c.to_lowercase().map(without_accent))
}

/// Lower case, without accents, and with the digits that numbers are read by.
pub(crate) fn fold(word: &str) -> String {
    folded(word).text
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
        other => ascii_digit(other).unwrap_or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_folded_text_is_found_in_the_text() {
        let text = "L’Été à Rome";
        let folded = folded(text);
        assert_eq!(folded.text, "l'ete a rome");
        let part = folded.text.find("ete").unwrap();
        assert_eq!(&text[folded.origin(part..part + 3)], "Été");
        assert_eq!(folded.origin(0..folded.text.len()), 0..text.len());
    }
}
