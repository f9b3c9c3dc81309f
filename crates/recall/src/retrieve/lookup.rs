//! One search of the store: words, and a meaning to embed.

use crate::{query::Query, request::RecallRequest, retrieve::query_embedding::QueryEmbedding};

/// A query, and the request that it belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retrieval<'a> {
    /// The request.
    pub(crate) request: &'a RecallRequest<'a>,
    /// The query.
    pub(crate) query: &'a Query,
    /// The embedding of the message that the query was built from, where the decision made one.
    pub(crate) embedding: Option<&'a QueryEmbedding>,
}

/// One search of the store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lookup<'a> {
    /// The words to find.
    pub(crate) text: &'a str,
    /// The meaning to find near.
    pub(super) meaning: Meaning<'a>,
}

/// A meaning to find near.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning<'a> {
    /// The message itself, which the decision embedded.
    Embedded(&'a QueryEmbedding),
    /// This text.
    Text(&'a str),
}

impl<'a> Lookup<'a> {
    /// Looks up a text by its words and its meaning.
    pub(crate) fn of(text: &'a str) -> Self {
        Self { text, meaning: Meaning::Text(text) }
    }

    /// Looks up a text by its words, and by the meaning of another text.
    pub(crate) fn as_if(text: &'a str, said: &'a str) -> Self {
        Self { text, meaning: Meaning::Text(said) }
    }

    /// Looks up the whole query. The decision's embedding is used unless the query embeds another text than the message:
    /// a statement, or the message with key terms.
    pub(crate) fn whole(retrieval: &Retrieval<'a>) -> Self {
        let Query { text, statement, key_terms, .. } = retrieval.query;
        match (statement, retrieval.embedding) {
            (Some(statement), _) => Self::as_if(text, statement),
            (None, Some(embedding)) if key_terms.is_empty() => {
                Self { text, meaning: Meaning::Embedded(embedding) }
            }
            (None, _) => Self::of(text),
        }
    }
}
