//! Dates and times in words: the periods that a question asks about, and the dates that a statement names.

pub mod ending;
pub(crate) mod named_days;
pub(crate) mod number_words;
pub mod question_dates;
pub(crate) mod question_periods;
pub mod statement_dates;
pub(crate) mod statement_words;
