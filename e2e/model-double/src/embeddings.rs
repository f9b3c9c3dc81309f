//! `/v1/embeddings`: vectors that are near when texts share words, in OpenAI's shape; and how they go wrong when a
//! script says so.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde::Deserialize;
use serde_json::{Value, json};

/// Numbers in a vector of a request that names no size.
const DIMENSION: u64 = 256;

/// The faults of an answer; none by default.
#[derive(Debug, Default, Clone, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Oddity {
    /// Vectors have this size, whatever was asked for.
    pub dimension: Option<u64>,
    /// The last text's vector comes first; the indices say so.
    pub reversed: bool,
    /// Every vector begins with a number that is none.
    pub nan: bool,
    /// Every text gets the vector of this one: the model finds that they mean the same.
    pub of: Option<String>,
    /// The connection breaks after so many bytes.
    pub cut_after: Option<usize>,
}

/// All texts of a request, one a line.
pub(crate) fn text(body: &Value) -> String {
    inputs(body).join("\n")
}

/// The answer's body.
pub(crate) fn object(body: &Value, oddity: &Oddity) -> String {
    let wish = body["dimensions"].as_u64().or_else(|| body["output_dimension"].as_u64());
    let dimension = oddity.dimension.or(wish).unwrap_or(DIMENSION).clamp(1, 4096);
    let texts = inputs(body);
    let mut data: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| {
            let meant = oddity.of.as_deref().unwrap_or(text);
            json!({"object": "embedding", "index": index, "embedding": vector(meant, dimension)})
        })
        .collect();
    if oddity.reversed {
        data.reverse();
    }
    let tokens: usize = texts.iter().map(|text| text.split_whitespace().count()).sum();
    let usage = json!({"prompt_tokens": tokens, "total_tokens": tokens});
    let model = body["model"].as_str().unwrap_or("echo");
    let answer =
        json!({"object": "list", "data": data, "model": model, "usage": usage}).to_string();
    if oddity.nan { answer.replace("\"embedding\":[", "\"embedding\":[NaN,") } else { answer }
}

fn inputs(body: &Value) -> Vec<&str> {
    match &body["input"] {
        Value::String(text) => vec![text],
        Value::Array(texts) => texts.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// A bag of hashed words; a text without any points somewhere too. Not of length 1.
fn vector(text: &str, dimension: u64) -> Vec<f64> {
    let mut vector = vec![0.0; usize::try_from(dimension).unwrap_or(1)];
    vector[0] = 0.01;
    for word in text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
    {
        let mut hasher = DefaultHasher::new();
        word.to_lowercase().hash(&mut hasher);
        let place = usize::try_from(hasher.finish() % dimension).unwrap_or(0);
        vector[place] += 1.0;
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(oddity: &Oddity) -> Value {
        let body = json!({"model": "m", "input": ["My boat", "my BOAT!", "tea"]});
        serde_json::from_str(&object(&body, oddity)).unwrap()
    }

    #[test]
    fn texts_of_the_same_words_have_the_same_vector() {
        let data = answer(&Oddity::default())["data"].clone();
        assert_eq!(data[0]["embedding"], data[1]["embedding"]);
        assert_ne!(data[0]["embedding"], data[2]["embedding"]);
        assert_eq!(data[0]["embedding"].as_array().unwrap().len() as u64, DIMENSION);
    }

    #[test]
    fn the_size_asked_for_is_given_and_a_script_may_give_another() {
        let body = json!({"input": "x", "dimensions": 8});
        let sized: Value = serde_json::from_str(&object(&body, &Oddity::default())).unwrap();
        assert_eq!(sized["data"][0]["embedding"].as_array().unwrap().len(), 8);
        let odd = Oddity { dimension: Some(3), reversed: true, ..Oddity::default() };
        let data = answer(&odd)["data"].clone();
        assert_eq!(data[0]["index"], 2);
        assert_eq!(data[0]["embedding"].as_array().unwrap().len(), 3);
        let same = answer(&Oddity { of: Some("tea".into()), ..Oddity::default() })["data"].clone();
        let tea = answer(&Oddity::default())["data"][2].clone();
        assert_eq!(same[0]["embedding"], tea["embedding"]);
    }
}
