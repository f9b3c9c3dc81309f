//! Names that SQL has for parts of a filter, the same in every SQL store.

use memgate_core::memory::{Comparison, TimeField};

/// The operator of a comparison.
pub(crate) fn operator(how: Comparison) -> &'static str {
    match how {
        Comparison::Gte => ">=",
        Comparison::Lte => "<=",
        Comparison::Gt => ">",
        Comparison::Lt => "<",
    }
}

/// The column of a time.
pub(crate) fn column(field: TimeField) -> &'static str {
    match field {
        TimeField::Created => "created_at",
        TimeField::Updated => "updated_at",
        TimeField::Event => "event_time",
    }
}
