//! When facts are extracted from a session's turns, and of how many. Pure.

/// Turns before those not yet extracted that go along, so that "it" and "the
/// second one" can be understood.
pub(crate) const CONTEXT: u32 = 5;

/// After a turn: with `turns` complete ones, `extracted` of them asked for, the
/// number of last turns to extract from; `None` while the batch is not full.
pub(crate) fn batch(turns: u32, extracted: u32, every: u32) -> Option<u32> {
    if turns.saturating_sub(extracted) < every { None } else { rest(turns, extracted) }
}

/// At a session's end: the same for what is left; `None` when nothing is.
pub(crate) fn rest(turns: u32, extracted: u32) -> Option<u32> {
    match turns.saturating_sub(extracted) {
        0 => None,
        new => Some(new.saturating_add(CONTEXT)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nth_turn_extracts_the_last_n_and_five_before() {
        let asked: Vec<_> = (1..=10).filter(|n| batch(*n, 0, 10).is_some()).collect();
        assert_eq!((asked, batch(10, 0, 10)), (vec![10], Some(15)));
        assert_eq!((batch(19, 10, 10), batch(20, 10, 10)), (None, Some(15)));
        assert_eq!(batch(1, 0, 1), Some(6));
    }

    #[test]
    fn the_end_of_a_session_extracts_what_is_left() {
        assert_eq!((rest(10, 10), rest(12, 10), rest(3, 0)), (None, Some(7), Some(8)));
    }
}
