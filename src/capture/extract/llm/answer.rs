//! The model's answer: an array of candidates, whatever the model puts around it.

use serde_json::Value;

use super::{Answer, ExtractError};
use crate::{
    capture::extract::candidate::Candidate, dialect::fence, memory::MemoryType, screening::screen,
};

/// The most candidates taken of one batch. Fifteen turns hold a few; a model
/// that finds hundreds is repeating itself.
const MOST: usize = 50;

/// The longest content of a candidate, in bytes: it is one sentence.
const MAX_CONTENT_BYTES: usize = 2_000;

/// The types the model is asked for.
const TYPES: [&str; 2] = [MemoryType::SEMANTIC, MemoryType::PROCEDURAL];

/// Reads an answer.
pub(super) fn read(answer: &str) -> Result<Answer, ExtractError> {
    let items = array(without_thoughts(answer))?;
    let mut read = Answer::default();
    for item in items {
        if read.candidates.len() == MOST {
            read.too_many += 1;
            continue;
        }
        match candidate(&item) {
            Ok(candidate) if read.candidates.contains(&candidate) => {}
            Ok(candidate) => read.candidates.push(candidate),
            Err(Unfit::Type) => read.unknown_type += 1,
            Err(Unfit::Content) => read.unusable += 1,
        }
    }
    Ok(read)
}

enum Unfit {
    Type,
    Content,
}

fn candidate(item: &Value) -> Result<Candidate, Unfit> {
    let named = item.get("type").and_then(Value::as_str).unwrap_or_default().trim();
    let known = TYPES.into_iter().find(|known| named.eq_ignore_ascii_case(known));
    let memory_type = known.ok_or(Unfit::Type)?.to_owned();
    let content = item.get("content").and_then(Value::as_str).ok_or(Unfit::Content)?;
    let screened = screen(&fence::strip(content), MAX_CONTENT_BYTES);
    let content = screened.text.split_whitespace().collect::<Vec<_>>().join(" ");
    // The model was shown no secret: what looks like one is its invention.
    if content.is_empty() || !screened.removed.is_empty() {
        return Err(Unfit::Content);
    }
    Ok(Candidate { memory_type, content, ..Candidate::default() })
}

/// What stands after the model's thinking aloud.
fn without_thoughts(answer: &str) -> &str {
    match answer.rfind("</think>") {
        Some(end) => &answer[end + "</think>".len()..],
        // Cut off while it was thinking.
        None if answer.trim_start().starts_with("<think>") => "",
        None => answer,
    }
}

/// The array in a text: all of it, within a code fence, or as the only array of an object.
fn array(text: &str) -> Result<Vec<Value>, ExtractError> {
    const MALFORMED: ExtractError = ExtractError::Malformed("no JSON array");
    let text = text.trim();
    let open = text.find(['[', '{']).ok_or(MALFORMED)?;
    let close = if text[open..].starts_with('[') { ']' } else { '}' };
    let end = text.rfind(close).filter(|end| *end > open).ok_or(MALFORMED)?;
    match serde_json::from_str(&text[open..=end]).map_err(|_| MALFORMED)? {
        Value::Array(items) => Ok(items),
        Value::Object(members) => {
            let mut arrays = members.into_iter().filter_map(|(_, member)| match member {
                Value::Array(items) => Some(items),
                _ => None,
            });
            arrays.next().ok_or(MALFORMED)
        }
        _ => Err(MALFORMED),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    const ONE: &str = r#"[{"type": "semantic", "content": "The user lives in Lyon."}]"#;

    #[test]
    fn the_array_is_found_whatever_stands_around_it() {
        let expected = read(ONE).unwrap();
        assert_eq!(expected.candidates[0].content, "The user lives in Lyon.");
        for answer in [
            format!("```json\n{ONE}\n```"),
            format!("<think>maybe [1] or {{}}</think>\n{ONE}"),
            format!("<think>a</think><think>b</think>{ONE}"),
            format!("Here you are: {ONE}\nAnything else?"),
            format!("{{\"memories\": {ONE}}}"),
        ] {
            assert_eq!(read(&answer), Ok(expected.clone()), "{answer}");
        }
        assert_eq!(read(" [] "), Ok(Answer::default()));
    }

    #[test]
    fn what_is_no_array_is_malformed() {
        for answer in ["", "nothing", "<think>[]", &ONE[..30], "[1, 2", "{\"a\": 1}", "]["] {
            assert_eq!(read(answer), Err(ExtractError::Malformed("no JSON array")), "{answer}");
        }
    }

    #[test]
    fn items_that_do_not_fit_are_dropped_and_counted() {
        let answer = read(
            r#"[{"type":"episodic","content":"x"}, {"content":"x"}, 7,
                {"type":"Procedural","content":" Answers\n in German. "},
                {"type":"procedural","content":"Answers in German."},
                {"type":"semantic"}, {"type":"semantic","content":" "},
                {"type":"semantic","content":"The key is ghp_0123456789abcdefghijABCDEFGHIJ012345"}]"#,
        )
        .unwrap();
        let kept = Candidate {
            memory_type: "procedural".into(),
            content: "Answers in German.".into(),
            ..Candidate::default()
        };
        assert_eq!(
            answer,
            Answer { candidates: vec![kept], unknown_type: 3, unusable: 3, too_many: 0 }
        );
    }

    #[test]
    fn thousands_of_facts_are_cut_to_the_bound() {
        let items: Vec<_> = (0..1000)
            .map(|n| serde_json::json!({"type": "semantic", "content": format!("Fact {n}.")}))
            .collect();
        let answer = read(&Value::Array(items).to_string()).unwrap();
        assert_eq!((answer.candidates.len(), answer.too_many), (MOST, 1000 - MOST as u64));
    }
}
