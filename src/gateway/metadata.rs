//! Conversion between Envoy's dynamic metadata and plain values.

use envoy_types::pb::{
    envoy::config::core::v3::Metadata,
    google::protobuf::{Struct, Value, value::Kind},
};
use serde_json::{Map, Number, Value as Json};

use crate::gateway::outcome::Verdict;

/// The namespace memgate writes. Envoy must list it under `receiving_namespaces`.
const NAMESPACE: &str = "memgate";

/// The metadata of one namespace, if Envoy forwards it.
pub(super) fn namespace(metadata: Option<&Metadata>, name: &str) -> Option<Json> {
    metadata?.filter_metadata.get(name).map(|object| Json::Object(plain(object)))
}

fn plain(object: &Struct) -> Map<String, Json> {
    object.fields.iter().map(|(name, value)| (name.clone(), plain_value(value))).collect()
}

fn plain_value(value: &Value) -> Json {
    match &value.kind {
        None | Some(Kind::NullValue(_)) => Json::Null,
        Some(Kind::BoolValue(flag)) => Json::Bool(*flag),
        Some(Kind::StringValue(text)) => Json::String(text.clone()),
        Some(Kind::ListValue(list)) => Json::Array(list.values.iter().map(plain_value).collect()),
        Some(Kind::StructValue(object)) => Json::Object(plain(object)),
        Some(Kind::NumberValue(number)) => number_value(*number),
    }
}

/// Envoy has only doubles; a numeric user id must not become `42.0`.
fn number_value(number: f64) -> Json {
    let whole = number as i64;
    if whole as f64 == number && whole.unsigned_abs() < 1 << 53 {
        return Json::Number(whole.into());
    }
    Number::from_f64(number).map_or(Json::Null, Json::Number)
}

/// The decision, from which Envoy sets response headers and access log fields. All values are
/// strings, because every formatter of Envoy prints them unchanged.
pub(super) fn decision(verdict: &Verdict<'_>) -> Struct {
    let mut fields =
        vec![("decision", verdict.outcome.as_str().to_owned()), ("hits", verdict.hits.to_string())];
    // Shared caches must not give this user's reply to another; `private` forbids that whatever else the upstream says.
    if verdict.personalised {
        fields.push(("cache_control", "private".to_owned()));
    }
    if let Some(command) = verdict.command {
        fields.push(("command", command.as_str().to_owned()));
    }
    if !verdict.scores.is_empty()
        && let Ok(scores) = serde_json::to_string(verdict.scores)
    {
        fields.push(("scores", scores));
    }
    if let Some(id) = verdict.request_id {
        fields.push(("request_id", id.to_owned()));
    }
    let ours = Struct {
        fields: fields
            .into_iter()
            .map(|(name, text)| (name.to_owned(), value(Kind::StringValue(text))))
            .collect(),
    };
    Struct { fields: [(NAMESPACE.to_owned(), value(Kind::StructValue(ours)))].into() }
}

fn value(kind: Kind) -> Value {
    Value { kind: Some(kind) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_become_integers() {
        assert_eq!(number_value(42.0), serde_json::json!(42));
        assert_eq!(number_value(0.5), serde_json::json!(0.5));
        assert_eq!(number_value(f64::NAN), Json::Null);
    }
}
