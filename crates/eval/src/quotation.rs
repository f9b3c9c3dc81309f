//! Quotation marks of the languages of the data.

const OPENING: [char; 7] = ['"', '“', '„', '«', '「', '『', '‹'];
const CLOSING: [char; 7] = ['"', '”', '“', '»', '」', '』', '›'];

/// Whether a quotation is open at the end of a text.
pub(crate) fn is_quoted(before: &str) -> bool {
    let mut open = None;
    for c in before.chars() {
        match open {
            Some(close) if c == close => open = None,
            None => open = OPENING.iter().position(|it| *it == c).map(|at| CLOSING[at]),
            Some(_) => {}
        }
    }
    open.is_some()
}
