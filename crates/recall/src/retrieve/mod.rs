//! Retrieval: from a query to evidence, by vectors and words.

mod beside;
mod candidates;
mod conversation;
mod last_session;
mod lookup;
mod query_embedding;
mod told;

pub(super) use self::{
    candidates::evidence,
    conversation::quoted,
    last_session::last_session,
    lookup::{Lookup, Retrieval},
    query_embedding::{QueryEmbedding, embed_query},
    told::is_told_of,
};
