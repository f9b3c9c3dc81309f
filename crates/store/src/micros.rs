//! Times as databases store them: microseconds since 1970, in 64 bits.

use jiff::Timestamp;

/// Nanoseconds of a microsecond.
const NANOSECONDS: i128 = 1_000;

/// The stored form of a time.
pub(crate) fn micros(time: Timestamp) -> i64 {
    // Stored times are whole already; this rounds those of a query down.
    i64::try_from(time.as_nanosecond().div_euclid(NANOSECONDS)).unwrap_or(i64::MAX)
}

/// The first whole microsecond at or after a time: stored times compare the same with both.
pub(crate) fn micros_up(time: Timestamp) -> i64 {
    let down = micros(time);
    if time.as_nanosecond().rem_euclid(NANOSECONDS) == 0 { down } else { down.saturating_add(1) }
}

/// The time of a stored form; `None` outside the calendar. By nanoseconds: jiff's conversion from microseconds ends before
/// the calendar's last second does.
pub(crate) fn time_of(micros: i64) -> Option<Timestamp> {
    Timestamp::from_nanosecond(i128::from(micros) * NANOSECONDS).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_of_the_calendar_comes_back_whole() {
        let first = Timestamp::MIN;
        let last: Timestamp = "9999-12-30T22:00:00.999999Z".parse().unwrap();
        for time in
            [first, last, Timestamp::UNIX_EPOCH, "1969-12-31T23:59:59.999999Z".parse().unwrap()]
        {
            assert_eq!(time_of(micros(time)), Some(time), "{time}");
        }
        assert_eq!(time_of(micros(Timestamp::MAX)), Some(last));
        assert_eq!(
            [i64::MIN, i64::MAX, micros(first) - 1, micros(last) + 1].map(time_of),
            [None; 4]
        );
    }
}
