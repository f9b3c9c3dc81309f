//! Dates and times in words: the periods that a question asks about, and the dates that a statement names.

pub mod number_words;
pub mod question_dates;
pub mod question_periods;
pub mod statement_dates;
pub mod statement_words;
