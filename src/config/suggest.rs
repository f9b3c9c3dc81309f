//! What somebody may have meant who wrote an unknown name.

/// Names less alike than this are not suggested: a wrong guess is worse than none.
const LEAST: f64 = 0.6;

/// The candidate most like `written`, if any is like it.
pub(super) fn nearest<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (likeness(written, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= LEAST)
        // The first of equals, which is the one that stands nearest in the file.
        .fold(None, |best: Option<(f64, &str)>, next| match best {
            Some(best) if best.0 >= next.0 => Some(best),
            _ => Some(next),
        })
        .map(|(_, candidate)| candidate)
}

/// 0 to 1: by letters, or by the words between underscores, so that a forgotten word is forgiven.
fn likeness(a: &str, b: &str) -> f64 {
    let letters = strsim::normalized_damerau_levenshtein(a, b);
    letters.max(shared_words(a, b))
}

#[expect(clippy::cast_precision_loss, reason = "a key has a handful of words")]
fn shared_words(a: &str, b: &str) -> f64 {
    let (a, b): (Vec<&str>, Vec<&str>) = (a.split('_').collect(), b.split('_').collect());
    let found: f64 = a
        .iter()
        .map(|word| {
            b.iter()
                .map(|other| strsim::normalized_damerau_levenshtein(word, other))
                .fold(0.0, f64::max)
        })
        .filter(|likeness| *likeness >= 0.7)
        .sum();
    2.0 * found / (a.len() + b.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_and_shortened_names_are_recognised_and_others_not() {
        let keys = ["default_retrieval_limit", "deadline_ms", "max_body_bytes", "types"];
        assert_eq!(nearest("retreival_limit", keys), Some("default_retrieval_limit"));
        assert_eq!(nearest("deadline", keys), Some("deadline_ms"));
        assert_eq!(nearest("type", keys), Some("types"));
        assert_eq!(nearest("max_bytes", keys), Some("max_body_bytes"));
        assert_eq!(nearest("banana", keys), None);
    }
}
