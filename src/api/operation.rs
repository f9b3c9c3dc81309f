//! An operation of the API: an entry of `table.rs` and a function of `operations/`. Routes, authorisation, OpenAPI and
//! the command line are generic over it, so none of them has a line for a single operation.

use axum::http::{Method, StatusCode};

use crate::api::{ApiError, Caller, Operations, output::Output, read::input::Input};
use memgate_access::Scope;

/// An operation of the API.
pub trait Operation: 'static {
    /// Its entry in the table.
    const ENTRY: Entry;

    /// The form of its request.
    type Input: Input;

    /// Its answer.
    type Output: Output;

    /// Performs the operation.
    fn run(
        operations: &Operations,
        caller: &Caller,
        request: RequestOf<Self>,
    ) -> impl Future<Output = Result<Self::Output, ApiError>> + Send;
}

/// The request of an operation.
pub type RequestOf<O> = <<O as Operation>::Input as Input>::Request;

/// The answer of an operation, for a client.
pub type ViewOf<O> = <<O as Operation>::Output as Output>::View;

/// An entry of the table.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Name of its function, and its `operationId`.
    pub name: &'static str,
    /// The group that OpenAPI shows it in.
    pub tag: &'static str,
    /// The method.
    pub method: Method,
    /// The path; a name in braces is an id.
    pub path: &'static str,
    /// The scope that a key needs.
    pub scope: Scope,
    /// The status of its answer.
    pub status: StatusCode,
    /// Its effect: one sentence, and further paragraphs.
    pub doc: &'static str,
}

/// Visits each operation of the table, with its types.
pub trait Visitor {
    /// Visits an operation.
    fn visit<O: Operation>(&mut self);
}
