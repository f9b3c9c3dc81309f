//! The domain: what a memory is, whose it is, and what a store must be able to do.
//!
//! This module depends on no other part of memgate: no wire format, database, embedder or Envoy.

mod filter;
mod id;
mod kind;
mod occurrence;
mod owner;
pub mod preference;
mod provenance;
mod record;
mod search;
mod store;
mod turn;
mod whole;
mod write;

pub use filter::{Comparison, Filter, MAX_FILTER_SIZE, MetadataTest, TimeField};
pub use id::MemoryId;
pub use kind::MemoryKind;
pub use memgate_text::entity::{
    EntityRelation, MAX_ENTITY_RELATIONS, MAX_MENTIONS, MAX_NAME_BYTES, Mention, entity_key,
};
pub use owner::{InvalidId, MAX_ID_BYTES, Owner, Space, Within, check_id};
pub use preference::{
    Address, AnswerLanguage, Expertise, Format, InvalidPreference, Length, Preference,
    PreferenceInForce, PreferenceKey, Tone, Units, UserName,
};
pub use provenance::{Occurrence, Provenance, extractor};
pub use record::{Embedding, Memory, MemoryType, Relation, Source, Status, Visibility};
pub use search::{
    Cursor, Evidence, ListQuery, Page, QueryVector, Reader, ScopeQuery, Search, SharedScope,
};
pub use store::{Counts, ForgetScope, MemoryStore, StoreError, Touch};
pub use whole::{Restored, Scan, Whole};
pub use write::{Actor, Write};
