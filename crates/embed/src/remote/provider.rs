//! The embeddings APIs and the format of their requests.

use serde::Serialize;

/// An embeddings API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// OpenAI's `/v1/embeddings`, which many servers offer.
    Openai,
    /// Voyage's, which distinguishes queries from passages.
    Voyage,
}

impl Provider {
    /// Splits a configured model name (`openai/…`, `voyage/…`) into provider and model; `None` for
    /// a local model.
    #[must_use]
    pub fn of(name: &str) -> Option<(Self, &str)> {
        let (provider, model) = name.split_once('/')?;
        match provider {
            "openai" => Some((Self::Openai, model)),
            "voyage" => Some((Self::Voyage, model)),
            _ => None,
        }
    }

    /// Host of the provider's own server.
    #[must_use]
    pub fn host(self) -> &'static str {
        match self {
            Self::Openai => "api.openai.com",
            Self::Voyage => "api.voyageai.com",
        }
    }

    /// Environment variable with the key for the provider's own server.
    #[must_use]
    pub fn key_env(self) -> &'static str {
        match self {
            Self::Openai => "OPENAI_API_KEY",
            Self::Voyage => "VOYAGE_API_KEY",
        }
    }

    /// The body of a request.
    pub(super) fn body<'a>(self, ask: &Ask<'a>) -> Body<'a> {
        let plain = Body { model: ask.model, input: ask.texts, ..Body::default() };
        match self {
            Self::Openai => Body { dimensions: ask.dimension, ..plain },
            Self::Voyage => Body {
                input_type: Some(match ask.role {
                    Role::Query => "query",
                    Role::Passage => "document",
                }),
                truncation: Some(true),
                output_dimension: ask.dimension,
                ..plain
            },
        }
    }
}

/// Role of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A search query.
    Query,
    /// A stored text.
    Passage,
}

/// Parameters of a request.
pub(super) struct Ask<'a> {
    pub model: &'a str,
    pub role: Role,
    pub texts: &'a [String],
    /// Set only if it differs from the model's native dimension, because not every model accepts
    /// it.
    pub dimension: Option<usize>,
}

/// Body of a request in either format.
#[derive(Default, Serialize)]
pub(super) struct Body<'a> {
    model: &'a str,
    input: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncation: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_dimension: Option<usize>,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn written(provider: Provider, role: Role, dimension: Option<usize>) -> Value {
        let texts = ["a".to_owned()];
        let ask = Ask { model: "m", role, texts: &texts, dimension };
        serde_json::to_value(provider.body(&ask)).unwrap()
    }

    #[test]
    fn a_prefix_selects_the_provider_and_other_names_are_folders() {
        assert_eq!(
            Provider::of("openai/text-embedding-3-small"),
            Some((Provider::Openai, "text-embedding-3-small"))
        );
        assert_eq!(Provider::of("voyage/voyage-3.5"), Some((Provider::Voyage, "voyage-3.5")));
        assert_eq!(Provider::of("openai/BAAI/bge-m3"), Some((Provider::Openai, "BAAI/bge-m3")));
        for folder in ["all-MiniLM-L6-v2", "BAAI/bge-small-en-v1.5", "openai", "OpenAI/x"] {
            assert_eq!(Provider::of(folder), None, "{folder}");
        }
    }

    #[test]
    fn each_provider_has_its_own_request_format() {
        let openai = written(Provider::Openai, Role::Query, None);
        assert_eq!(openai, json!({"model": "m", "input": ["a"]}));
        let openai = written(Provider::Openai, Role::Passage, Some(256));
        assert_eq!(openai, json!({"model": "m", "input": ["a"], "dimensions": 256}));
        let voyage = |input_type: &str| json!({"model": "m", "input": ["a"], "input_type": input_type, "truncation": true});
        assert_eq!(written(Provider::Voyage, Role::Query, None), voyage("query"));
        let mut sized = voyage("document");
        sized["output_dimension"] = json!(512);
        assert_eq!(written(Provider::Voyage, Role::Passage, Some(512)), sized);
    }
}
