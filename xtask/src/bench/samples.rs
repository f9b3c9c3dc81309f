//! Request times and their statistics.

use std::time::Duration;

/// Results of one case in one round.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    /// Durations of the successful requests.
    pub times: Vec<Duration>,
    /// Number of requests without status 200 and a complete body.
    pub failed: usize,
    /// Number of successful requests with an unexpected decision of memgate, for example because of
    /// the deadline.
    pub undecided: usize,
    /// Total number of presented memories.
    pub hits: usize,
}

/// The percentile `part` by nearest rank, in milliseconds. `None` without samples.
pub(super) fn percentile(times: &[Duration], part: f64) -> Option<f64> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let rank = (part * sorted.len() as f64).ceil() as usize;
    let value = sorted.get(rank.clamp(1, sorted.len().max(1)) - 1)?;
    Some(value.as_secs_f64() * 1e3)
}

/// The median; the mean of the two middle values if their number is even. `None` without values.
pub(super) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len().is_multiple_of(2) {
        return Some((sorted[middle - 1] + upper) / 2.0);
    }
    Some(upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(values: &[u64]) -> Vec<Duration> {
        values.iter().map(|&value| Duration::from_millis(value)).collect()
    }

    #[test]
    fn percentiles_are_samples_that_exist() {
        let times = millis(&[5, 1, 4, 2, 3]);
        assert_eq!(percentile(&times, 0.5), Some(3.0));
        assert_eq!(percentile(&times, 0.99), Some(5.0));
        assert_eq!(percentile(&times, 0.0), Some(1.0));
        assert_eq!(percentile(&[], 0.5), None);
    }

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median([]), None);
    }
}
