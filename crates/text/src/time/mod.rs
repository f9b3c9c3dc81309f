//! Dates and times in words: the periods that a question asks about, and the dates that a statement names. Both read the
//! phrases of `phrases.rs`, and dates with `named_days.rs`.

pub mod ending;
pub(crate) mod fold;
pub(crate) mod moment;
pub(crate) mod named_days;
mod names;
pub(crate) mod phrases;
pub mod question_dates;
pub(crate) mod question_periods;
pub mod statement_dates;
