//! Keeps a trail: the newest records of all owners in memory, in a ring, and the latest of each owner in a file, where the
//! configuration asks for it. The parts that write records decide on their contents.

mod file;
mod ring;
mod rows;

/// The error of a trail's file.
pub use memgate_sqlite::DatabaseError;

pub use file::{Bounds, TrailFile};
pub use ring::{Record, Ring};
pub use rows::Stored;
