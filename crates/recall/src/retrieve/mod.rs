//! Retrieval: from a query to ranked candidates, by vectors and words, and by what a model says of the question.

mod candidates;
mod expansion;
mod lookup;
mod merge;
mod metadata_boost;
mod query_embedding;
mod told;

pub(super) use self::{
    candidates::retrieve,
    expansion::{expanded, extra_time, helper},
    lookup::Retrieval,
    query_embedding::{QueryEmbedding, embed_query},
    told::is_told_of,
};
