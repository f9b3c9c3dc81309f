//! Which store the stack uses.

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Store {
    /// A file in the data folder.
    Sqlite,
    /// A Milvus server, with its data in the data folder.
    Milvus,
    /// A PostgreSQL server with pgvector, with its data in the data folder.
    Postgres,
}
