//! Tests of the dialects as a whole: golden files, and properties over generated bodies.
mod chunks;
mod golden;
mod json_text;
mod options;
mod requests;

use crate::{Dialect, edits::Edits};

#[test]
fn only_the_two_exact_paths_have_a_dialect() {
    assert_eq!(Dialect::from_path("/v1/chat/completions"), Some(Dialect::Chat));
    assert_eq!(Dialect::from_path("/v1/responses?api-version=1"), Some(Dialect::Responses));
    for other in ["/v1/responses/", "/v1/responses/r1", "/V1/responses", "/v1/embeddings", "", "?"]
    {
        assert_eq!(Dialect::from_path(other), None, "{other}");
    }
}

/// Takes out of an edited body what was put in and puts back what was taken out: must give the
/// original, or a byte changed that no splice names.
fn undone(edits: &Edits, edited: &[u8], body: &[u8]) -> Vec<u8> {
    let mut original = Vec::new();
    let (mut from, mut body_from) = (0, 0);
    for splice in &edits.splices {
        let untouched = splice.range.start - body_from;
        original.extend_from_slice(&edited[from..from + untouched]);
        original.extend_from_slice(&body[splice.range.clone()]);
        from += untouched;
        assert_eq!(&edited[from..from + splice.with.len()], splice.with.as_bytes());
        from += splice.with.len();
        body_from = splice.range.end;
    }
    original.extend_from_slice(&edited[from..]);
    original
}
