//! Proportions with confidence intervals, and their text form.

/// `part / whole`; `None` when `whole` is 0.
#[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^52")]
pub(super) fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// 95% confidence interval of a proportion (Wilson). It assumes independent samples, else it is too
/// narrow.
#[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^52")]
pub(super) fn wilson(part: usize, whole: usize) -> Option<[f64; 2]> {
    const Z: f64 = 1.959_964;
    let (n, share) = (whole as f64, share(part, whole)?);
    let middle = share + Z * Z / (2.0 * n);
    let wide = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let whole = 1.0 + Z * Z / n;
    Some([((middle - wide) / whole).max(0.0), ((middle + wide) / whole).min(1.0)])
}

/// A proportion in percent; `-` if there is none.
pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.1}%", 100.0 * share))
}

/// An interval in percent; `-` if there is none.
pub(super) fn between(interval: Option<[f64; 2]>) -> String {
    interval.map_or_else(
        || "-".to_owned(),
        |[low, high]| format!("{:.1}% to {:.1}%", 100.0 * low, 100.0 * high),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_wide_for_few_rows_and_narrow_for_many() {
        let [low, high] = wilson(97, 100).unwrap();
        // R: prop.test(97, 100, correct = FALSE)
        assert!((low - 0.9155).abs() < 1e-3 && (high - 0.9897).abs() < 1e-3, "{low} {high}");
        let [low, high] = wilson(0, 200).unwrap();
        assert!(low.abs() < 1e-9 && (high - 0.0188).abs() < 1e-3, "{low} {high}");
    }

    #[test]
    fn an_empty_total_has_no_share_and_no_interval() {
        assert_eq!((share(0, 0), wilson(0, 0)), (None, None));
        assert_eq!((percent(None), between(None)), ("-".to_owned(), "-".to_owned()));
        assert_eq!(percent(share(1, 3)), "33.3%");
        assert_eq!(between(Some([0.5, 1.0])), "50.0% to 100.0%");
    }
}
