//! Parses a server's response: one vector per text, in the order of the texts, each checked.

use serde::Deserialize;

use crate::{EmbedError, Space, Vector, normalise};

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    /// Index of the text; a server that omits it answers in order.
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// Parses the vectors of this many texts.
///
/// # Errors
/// [`EmbedError::Dimension`], or [`EmbedError::Failed`] for an invalid response. Errors never
/// contain the body, because servers may repeat the texts in it.
pub(super) fn read(body: &[u8], texts: usize, space: &Space) -> Result<Vec<Vector>, EmbedError> {
    let failed = |cause: &str| EmbedError::Failed(format!("the server's response {cause}"));
    let answer: Answer =
        serde_json::from_slice(body).map_err(|_| failed("is not a list of embeddings"))?;
    if answer.data.len() != texts {
        return Err(failed("has a different number of vectors than texts"));
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
            _ => return Err(failed("has a duplicate or unknown index")),
        }
    }
    // As many as texts, and no text twice: so each text has one.
    Ok(vectors.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Run;

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
    fn vectors_are_sorted_and_normalised() {
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
    fn a_dimension_error_has_both_dimensions() {
        let error = of_two(r#"{"data": [{"embedding": [1, 0, 0]}, {"embedding": [1, 0, 0]}]}"#);
        let told = error.unwrap_err().to_string();
        assert!(
            told.contains("vectors of dimension 3") && told.contains("dimension is 2"),
            "{told}"
        );
    }

    #[test]
    fn refuses_an_invalid_response_without_quoting_it() {
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
