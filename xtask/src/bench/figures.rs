//! memgate's own metrics during a measurement.

use std::collections::HashMap;

use anyhow::Result;
use reqwest::Client;

/// A snapshot of `/metrics`.
pub(super) struct Figures(HashMap<String, f64>);

/// The difference between two snapshots.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Between {
    /// Mean duration of embedding a query, in milliseconds.
    pub embed_ms: Option<f64>,
    /// Mean duration of a store search, in milliseconds.
    pub search_ms: Option<f64>,
    /// Mean time that requests waited in total, in milliseconds.
    pub total_ms: Option<f64>,
    /// Number of searches by words alone, because the vector was late.
    pub by_words: u64,
    /// Number of exchanges that were dropped instead of learned from.
    pub dropped: u64,
}

impl Figures {
    /// Takes a snapshot.
    ///
    /// # Errors
    /// When memgate does not answer.
    pub(super) async fn look(client: &Client, api: &str) -> Result<Self> {
        let url = format!("{api}/metrics");
        let text = client.get(url).send().await?.error_for_status()?.text().await?;
        Ok(Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let pair = |line: &str| {
            let (name, value) = line.rsplit_once(' ')?;
            Some((name.to_owned(), value.parse().ok()?))
        };
        Self(lines.filter_map(pair).collect())
    }

    /// The difference from an earlier snapshot.
    pub(super) fn since(&self, earlier: &Self) -> Between {
        let rise = |name: &str| {
            let of = |figures: &Self| figures.0.get(name).copied().unwrap_or(0.0);
            of(self) - of(earlier)
        };
        let mean = |phase: &str| {
            let count = rise(&format!("memgate_phase_seconds_count{{phase=\"{phase}\"}}"));
            let sum = rise(&format!("memgate_phase_seconds_sum{{phase=\"{phase}\"}}"));
            (count > 0.0).then(|| 1e3 * sum / count)
        };
        let dropped =
            self.0.keys().filter(|name| name.starts_with("memgate_capture_dropped_total"));
        Between {
            embed_ms: mean("embed"),
            search_ms: mean("search"),
            total_ms: mean("total"),
            by_words: rise("memgate_failures_total{kind=\"embedding\"}") as u64,
            dropped: dropped.map(|name| rise(name) as u64).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_cover_only_the_time_between_snapshots() {
        let look = |sum: f64, count: u32, late: u32| {
            Figures::parse(&format!(
                "# HELP x y\nmemgate_phase_seconds_sum{{phase=\"embed\"}} {sum}\n\
                 memgate_phase_seconds_count{{phase=\"embed\"}} {count}\n\
                 memgate_failures_total{{kind=\"embedding\"}} {late}\n# EOF\n"
            ))
        };
        let between = look(0.7, 30, 3).since(&look(0.5, 10, 1));
        assert!(between.embed_ms.is_some_and(|ms| (ms - 10.0).abs() < 1e-9));
        assert_eq!((between.search_ms, between.by_words), (None, 2));
    }
}
