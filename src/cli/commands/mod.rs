//! One file a subcommand.

pub(super) mod access;
pub(super) mod check;
pub(super) mod export;
pub(super) mod forget;
pub(super) mod import;
pub(super) mod jobs;
pub(super) mod list;
pub(super) mod preferences;
pub(super) mod reindex;
pub(super) mod remember;
pub(super) mod search;
pub(super) mod serve;
pub(super) mod sessions;
pub(super) mod why;
