//! Reads a server's answer: one vector a text, in the texts' order, each checked.

use serde::Deserialize;

use crate::embed::{EmbedError, Space, Vector, normalise};

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    /// Which text it is of; a server that leaves it out answers in order.
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// The vectors of so many texts.
///
/// # Errors
/// [`EmbedError::Dimension`], or [`EmbedError::Failed`] for what is no answer. Neither holds
/// anything of the body: servers repeat what they were sent.
pub(super) fn read(body: &[u8], texts: usize, space: &Space) -> Result<Vec<Vector>, EmbedError> {
    let failed = |cause: &str| EmbedError::Failed(format!("the server's answer {cause}"));
    let answer: Answer =
        serde_json::from_slice(body).map_err(|_| failed("is no list of embeddings"))?;
    if answer.data.len() != texts {
        return Err(failed("has another number of vectors than texts were sent"));
    }
    let mut vectors: Vec<Option<Vector>> = vec![None; texts];
    for (place, Item { index, mut embedding }) in answer.data.into_iter().enumerate() {
        let found = embedding.len();
        if found != space.dimension {
            let model = space.model.clone();
            return Err(EmbedError::Dimension { model, configured: space.dimension, found });
        }
        normalise(&mut embedding)?;
        match vectors.get_mut(index.unwrap_or(place)) {
            Some(vector @ None) => *vector = Some(embedding.into()),
            _ => return Err(failed("names one text twice, or one that was not sent")),
        }
    }
    // As many as texts, and none twice: each has one.
    Ok(vectors.into_iter().flatten().collect())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::embed::Run;

    fn of_two(body: &str) -> Result<Vec<Vector>, EmbedError> {
        let space = Space {
            model: "openai/m".into(),
            dimension: 2,
            run: Run::Remote,
            query_prefix: String::new(),
            passage_prefix: String::new(),
        };
        read(body.as_bytes(), 2, &space)
    }

    #[test]
    fn vectors_come_in_the_order_of_the_texts_and_with_length_one() {
        let answer = r#"{"object": "list", "data": [
            {"object": "embedding", "index": 1, "embedding": [0.0, 2.0]},
            {"object": "embedding", "index": 0, "embedding": [3, 4]}
        ], "model": "m", "usage": {"total_tokens": 2}}"#;
        let vectors = of_two(answer).unwrap();
        assert_eq!(vectors, [Vector::from([0.6, 0.8]), Vector::from([0.0, 1.0])]);
        let unnumbered = r#"{"data": [{"embedding": [1, 0]}, {"embedding": [0, 1]}]}"#;
        let vectors = of_two(unnumbered).unwrap();
        assert_eq!(vectors, [Vector::from([1.0, 0.0]), Vector::from([0.0, 1.0])]);
    }

    #[test]
    fn another_size_is_named_with_the_configured_one() {
        let error = of_two(r#"{"data": [{"embedding": [1, 0, 0]}, {"embedding": [1, 0, 0]}]}"#);
        let told = error.unwrap_err().to_string();
        assert!(told.contains("vectors of 3 numbers") && told.contains("dimension is 2"), "{told}");
    }

    #[test]
    fn what_is_no_answer_is_refused_without_repeating_it() {
        for body in [
            "",
            r#"{"data": [{"embedding": [1, 0]}, {"embed"#,
            r#"{"error": {"message": "secret words"}}"#,
            r#"{"data": [{"embedding": ["secret", "words"]}, {"embedding": [1, 0]}]}"#,
            r#"{"data": [{"embedding": [1, 0]}]}"#,
            r#"{"data": [{"embedding": [1, 0]}, {"embedding": [1, 0]}, {"embedding": [1, 0]}]}"#,
            r#"{"data": [{"index": 0, "embedding": [1, 0]}, {"index": 0, "embedding": [1, 0]}]}"#,
            r#"{"data": [{"index": 0, "embedding": [1, 0]}, {"index": 2, "embedding": [1, 0]}]}"#,
            r#"{"data": [{"embedding": [NaN, 0]}, {"embedding": [1, 0]}]}"#,
            r#"{"data": [{"embedding": [null, 0]}, {"embedding": [1, 0]}]}"#,
            r#"{"data": [{"embedding": [1e39, 0]}, {"embedding": [1, 0]}]}"#,
            r#"{"data": [{"embedding": [0, 0]}, {"embedding": [1, 0]}]}"#,
        ] {
            let error = of_two(body).unwrap_err();
            assert!(matches!(error, EmbedError::Failed(_)), "{body}: {error}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
