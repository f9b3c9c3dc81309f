//! Counts, and the proportions of them with their confidence intervals.

use std::ops::AddAssign;

use serde::{Serialize, Serializer};

/// `part / whole`; `None` when `whole` is 0.
#[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^52")]
pub(crate) fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// 95% confidence interval of a proportion (Wilson). It assumes independent samples, else it is too
/// narrow.
#[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^52")]
pub(crate) fn wilson(part: usize, whole: usize) -> Option<[f64; 2]> {
    const Z: f64 = 1.959_964;
    let (n, share) = (whole as f64, share(part, whole)?);
    let middle = share + Z * Z / (2.0 * n);
    let wide = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let whole = 1.0 + Z * Z / n;
    Some([((middle - wide) / whole).max(0.0), ((middle + wide) / whole).min(1.0)])
}

/// A proportion in percent; `-` if there is none.
pub(crate) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.1}%", 100.0 * share))
}

/// An interval in percent; `-` if there is none.
pub(crate) fn between(interval: Option<[f64; 2]>) -> String {
    interval.map_or_else(
        || "-".to_owned(),
        |[low, high]| format!("{:.1}% to {:.1}%", 100.0 * low, 100.0 * high),
    )
}

/// How many of some things have a property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) hits: usize,
    pub(crate) of: usize,
}

impl Count {
    /// One thing more.
    pub(crate) fn add(&mut self, hit: bool) {
        self.hits += usize::from(hit);
        self.of += 1;
    }

    pub(crate) fn share(self) -> Option<f64> {
        share(self.hits, self.of)
    }

    /// `45.1% 99/220 [38.6, 51.7]`.
    pub(crate) fn told(self) -> String {
        let Some([low, high]) = wilson(self.hits, self.of) else {
            return "- 0/0".to_owned();
        };
        let (share, Self { hits, of }) = (percent(self.share()), self);
        format!("{share} {hits}/{of} [{:.1}, {:.1}]", 100.0 * low, 100.0 * high)
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.hits += other.hits;
        self.of += other.of;
    }
}

impl Serialize for Count {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Told {
            share: Option<f64>,
            hits: usize,
            n: usize,
            interval: Option<[f64; 2]>,
        }
        let Self { hits, of } = *self;
        Told { share: self.share(), hits, n: of, interval: wilson(hits, of) }.serialize(to)
    }
}

/// Sizes of contexts in tokens, estimated as characters / 4.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tokens(Vec<f64>);

impl Tokens {
    #[expect(clippy::cast_precision_loss, reason = "contexts are far below 2^52 characters")]
    pub(crate) fn add(&mut self, context: &str) {
        self.0.push(context.chars().count() as f64 / 4.0);
    }

    pub(crate) fn append(&mut self, other: &Self) {
        self.0.extend(&other.0);
    }

    /// Mean and 95th percentile (nearest rank) over the questions with a context.
    pub(crate) fn with_context(&self) -> Option<[f64; 2]> {
        mean_and_p95(self.0.iter().copied().filter(|tokens| *tokens > 0.0).collect())
    }

    /// Mean and 95th percentile over all questions.
    pub(crate) fn over_all(&self) -> Option<[f64; 2]> {
        mean_and_p95(self.0.clone())
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of questions are far below 2^52")]
fn mean_and_p95(mut values: Vec<f64>) -> Option<[f64; 2]> {
    values.sort_by(f64::total_cmp);
    let p95 = values.get((values.len() * 95).div_ceil(100).checked_sub(1)?)?;
    Some([values.iter().sum::<f64>() / values.len() as f64, *p95])
}

impl Serialize for Tokens {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Told {
            tokenizer: &'static str,
            mean_and_p95_with_context: Option<[f64; 2]>,
            mean_and_p95_over_all: Option<[f64; 2]>,
        }
        Told {
            tokenizer: "characters / 4",
            mean_and_p95_with_context: self.with_context(),
            mean_and_p95_over_all: self.over_all(),
        }
        .serialize(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_has_a_share_and_an_interval_unless_it_is_empty() {
        let count = Count { hits: 1, of: 2 };
        assert_eq!(count.told(), "50.0% 1/2 [9.5, 90.5]");
        assert_eq!(Count::default().told(), "- 0/0");
        let json = serde_json::to_value(Count::default()).unwrap();
        assert!(json["share"].is_null() && json["interval"].is_null() && json["n"] == 0);
    }

    #[test]
    fn tokens_are_characters_by_four_with_and_without_empty_contexts() {
        let mut tokens = Tokens::default();
        assert_eq!((tokens.with_context(), tokens.over_all()), (None, None));
        for context in ["", "äöüß", "12345678"] {
            tokens.add(context);
        }
        assert_eq!(tokens.with_context(), Some([1.5, 2.0]));
        assert_eq!(tokens.over_all(), Some([1.0, 2.0]));
    }

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
