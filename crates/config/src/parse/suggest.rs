//! Suggestions for misspelt, misplaced and renamed keys.

/// Minimum similarity of a suggestion: a wrong one is worse than none.
const LEAST: f64 = 0.6;

/// Keys that were renamed, with their new full name.
const RENAMED: &[(&str, &str)] = &[
    ("memory.embedding.beside", "memory.embedding.additional"),
    ("memory.query.parts", "memory.query.decompose"),
    ("memory.query.statements", "memory.query.question_to_statement"),
    ("memory.ranking.distinct", "memory.ranking.deduplicate"),
];

/// The new name of a renamed key.
pub(crate) fn renamed(key: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(old, _)| *old == key).map(|(_, new)| *new)
}

/// The candidate most similar to `written`, if any is similar enough.
pub(crate) fn nearest<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (likeness(written, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= LEAST)
        // On a tie the first one wins: it is the nearest one in the file.
        .fold(None, |best: Option<(f64, &str)>, next| match best {
            Some(best) if best.0 >= next.0 => Some(best),
            _ => Some(next),
        })
        .map(|(_, candidate)| candidate)
}

/// The key most similar to `written` that belongs near `section`: in its parent, in its children or
/// beside it. A key of the same name in an unrelated section is not suggested.
pub(crate) fn misplaced<'a>(section: &str, written: &str, keys: &'a [String]) -> Option<&'a str> {
    // All entries of a list have the same keys.
    let section: String = section.chars().filter(|c| !c.is_ascii_digit()).collect();
    let candidates = || keys.iter().filter(|key| near(split(key).0, &section));
    let name = nearest(written, candidates().map(|key| split(key).1))?;
    candidates().find(|key| split(key).1 == name).map(String::as_str)
}

/// Splits a key into its section and its name there.
fn split(key: &str) -> (&str, &str) {
    key.rsplit_once('.').unwrap_or(("", key))
}

fn near(one: &str, other: &str) -> bool {
    let holds = |outer: &str, inner: &str| {
        let rest = inner.strip_prefix(outer);
        outer.is_empty() || rest.is_some_and(|rest| rest.starts_with(['.', '[']))
    };
    holds(one, other) || holds(other, one) || split(one).0 == split(other).0
}

/// Similarity from 0 to 1, by letters or by the words between underscores, so that a missing word
/// still matches.
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
    fn every_renamed_key_exists_under_its_new_name_only() {
        let keys = crate::schema::all_keys();
        for (old, new) in RENAMED {
            assert!(
                keys.iter().any(|key| key == new) && !keys.iter().any(|key| key == old),
                "{old}"
            );
        }
    }

    #[test]
    fn recognises_misspelt_and_shortened_names_only() {
        let keys = ["default_retrieval_limit", "deadline_ms", "max_body_bytes", "types"];
        assert_eq!(nearest("retreival_limit", keys), Some("default_retrieval_limit"));
        assert_eq!(nearest("deadline", keys), Some("deadline_ms"));
        assert_eq!(nearest("type", keys), Some("types"));
        assert_eq!(nearest("max_bytes", keys), Some("max_body_bytes"));
        assert_eq!(nearest("banana", keys), None);
    }

    #[test]
    fn suggests_misplaced_keys_only_from_nearby_sections() {
        let keys = ["memory.signals.headers.fact", "memory.deadline_ms", "memory.policies[].match"];
        let keys = keys.map(str::to_owned);
        assert_eq!(misplaced("memory.ranking.types", "fact", &keys), None);
        assert_eq!(misplaced("memory.signals", "fact", &keys), Some(&*keys[0]));
        assert_eq!(misplaced("memory.signals.metadata", "fact", &keys), Some(&*keys[0]));
        assert_eq!(misplaced("memory.query", "deadline", &keys), Some(&*keys[1]));
        assert_eq!(misplaced("memory.policies[12].match", "match", &keys), Some(&*keys[2]));
    }
}
