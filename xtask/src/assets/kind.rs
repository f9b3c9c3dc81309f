//! The parts that can be asked for.

/// A part that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// The Envoy binary.
    Envoy,
    /// ONNX Runtime's shared library.
    Runtime,
    /// The default embedding model as ONNX, with its tokenizer.
    Model,
    /// all-MiniLM-L6-v2, a smaller one for English, likewise.
    Minilm,
    /// The virtual environment with the Python packages of the project's tools and tests.
    Python,
    /// A Milvus server, for tests and development.
    Milvus,
    /// Milvus Lite, a server of the same interface in Python, in a virtual environment of its own.
    MilvusLite,
    /// PostgreSQL with pgvector, for tests and development.
    Postgres,
    /// Chromium and axe-core, for the tests of the dashboard.
    Browser,
    /// The cargo subcommands that `cargo xtask test` runs: nextest and deny.
    CargoTools,
    /// A library that shows programs another time, for `cargo xtask test --stress`.
    FakeTime,
    /// The virtual environment of the trainers in tools/.
    Training,
}

impl Kind {
    /// Everything but what only training and the stress tests need.
    pub(crate) const ALL: [Self; 10] = [
        Self::Envoy,
        Self::Runtime,
        Self::Model,
        Self::Minilm,
        Self::Python,
        Self::Milvus,
        Self::MilvusLite,
        Self::Postgres,
        Self::Browser,
        Self::CargoTools,
    ];
}
