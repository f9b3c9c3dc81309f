//! Detects e-mail addresses, telephone numbers and street addresses.

use std::sync::LazyLock;

use memgate_text::rules::pattern::Pattern;

use crate::{
    finding::{Finding, collect, pattern},
    policy::Class,
};

static EMAIL: LazyLock<Pattern> =
    LazyLock::new(|| pattern(r"\b([\p{L}0-9._%+-]+@[\p{L}0-9-]+(?:\.[\p{L}0-9-]+)+)\b"));

/// An international number, a national one with its leading zero, an American or Brazilian one, or a number after a
/// label.
static PHONE: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        r"(\b0\d{2,5}(?:[ .()/-]{1,2}\d{2,8}){1,4}\b|\b0\d{9,11}\b|\(\d{2}\) ?9?\d{4}-\d{4}|\b01[016789]-\d{3,4}-\d{4})|(\+\d{1,3}[ .()/-]{0,2}\d(?:[ .()/-]{0,2}\d){6,12})|(\(?\b\d{3}\)?[ .-]\d{3}[ .-]\d{4})\b",
        r"|(?i:\b(?:phone|telephone|tel|mobile|cell|call me (?:on|at)|text me (?:on|at)|whatsapp|handy|telefon|festnetz|móvil|movil|teléfono|telefono",
        r"|cellulare|portable|téléphone|celular|telefone|telefoonnummer|mobiel|телефон)(?:nummer| number)?\b|电话|手机号?|電話(?:番号)?|携帯|전화번호|휴대폰|फ़ोन|मोबाइल)",
        r"[^\n\d+]{0,16}?(\(?\d(?:[ .()/-]{0,2}\d){5,12})\b",
    ))
});

/// A telephone number in Arabic digits, which people write without groups.
static ARABIC_PHONE: LazyLock<Pattern> = LazyLock::new(|| pattern(r"([\x{0660}-\x{0669}]{9,12})"));

/// Street and number.
static ADDRESS: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)(\b\d{1,5}[a-z]?,? (?:[\p{L}'.-]+ ){1,4}(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|square|terrace|close|crescent|way)\b",
        r"|\b[\p{L}-]{2,}(?:straße|strasse|str\.|weg|gasse|allee|platz|ring|ufer|damm|straat|laan|gracht|plein) ?\d{1,4}[a-z]?\b",
        r"|\b(?:calle|avenida|avda\.|plaza|paseo|rua|via|viale|piazza|corso|rue|avenue|boulevard|place|chemin|allée|travessa|largo|ulica|ul\.|улица|ул\.)(?: (?:de|del|della|da|do|des|du|la|el|los|las|dei|le))*(?: [\p{L}'.-]+){1,4},? (?:n[º°.] ?)?\d{1,4}\b",
        r"|\b\d{1,4}(?: ?bis| ?ter)?,? (?:rue|avenue|boulevard|place|chemin|allée|impasse)(?: [\p{L}'.-]+){1,5}",
        r"|[\p{Han}]{2,8}(?:路|街|道|巷)\d{1,5}号|\d{1,4}丁目\d{1,4}(?:番地?|-)\d{0,4})",
    ))
});

pub(super) fn find(text: &str) -> Vec<Finding> {
    let any = |_: &str| true;
    let mut found = Vec::new();
    collect(&EMAIL, Class::Email, text, any, &mut found);
    collect(&PHONE, Class::Phone, text, any, &mut found);
    collect(&ADDRESS, Class::Address, text, any, &mut found);
    found
}

/// What the digits show as they are written, and their look does not.
pub(super) fn as_written(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    collect(&ARABIC_PHONE, Class::Phone, text, |_| true, &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contacts_are_found_as_people_write_them() {
        for (text, class) in [
            ("write to ada.lind@example.org please", Class::Email),
            ("call me on +49 170 1234567 after 17:30", Class::Phone),
            ("my phone is 0170 1234567", Class::Phone),
            ("I live at 12 Elm Street", Class::Address),
            ("ich wohne in der Lindenstraße 7", Class::Address),
            ("vivo en la calle Mayor 5", Class::Address),
            ("j'habite 3 rue des Lilas", Class::Address),
        ] {
            let found = find(text);
            assert!(found.iter().any(|it| it.class == class), "{text}: {found:?}");
        }
        assert!(find("I live in Lindau and have 3 dogs").is_empty());
    }
}
