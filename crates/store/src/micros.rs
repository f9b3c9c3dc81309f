//! Times as databases store them: microseconds since 1970, in 64 bits.

use jiff::Timestamp;

/// The stored form of a time.
pub(crate) fn micros(time: Timestamp) -> i64 {
    // Stored times are whole already; this rounds those of a query down.
    i64::try_from(time.as_nanosecond().div_euclid(1000)).unwrap_or(i64::MAX)
}

/// The first whole microsecond at or after a time: stored times compare the same with both.
pub(crate) fn micros_up(time: Timestamp) -> i64 {
    let down = micros(time);
    if time.as_nanosecond().rem_euclid(1000) == 0 { down } else { down.saturating_add(1) }
}
