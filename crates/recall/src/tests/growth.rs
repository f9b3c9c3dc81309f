//! How the time of some work grows with its size.

use std::time::{Duration, Instant};

/// Asserts that the time of `work` does not grow with the square of the size. Sixteen times the size would take 256
/// times as long then, and takes sixteen times as long where it grows with the size. The shortest of three rounds counts,
/// and the bound is far from both, since the machine may do much else.
pub(crate) fn assert_no_square(what: &str, size: usize, work: impl Fn(usize)) {
    let shortest = |size: usize| {
        let rounds = (0..3).map(|_| {
            let began = Instant::now();
            work(size);
            began.elapsed()
        });
        rounds.min().unwrap()
    };
    // The first round of all loads what is loaded once; it is never the shortest.
    let (small, large) = (shortest(size), shortest(16 * size));
    let bound = 128 * small.max(Duration::from_millis(1));
    assert!(large < bound, "{what}: {small:?}, and {large:?} for sixteen times as much");
}
