//! What memgate counted itself: where its time went.

use std::collections::HashMap;

use anyhow::Result;
use reqwest::Client;

/// A look at `/metrics`.
pub struct Figures(HashMap<String, f64>);

/// What happened between two looks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Between {
    /// The mean time to embed a query, in milliseconds.
    pub embed_ms: Option<f64>,
    /// The mean time of the store, in milliseconds.
    pub search_ms: Option<f64>,
    /// The mean of all that requests waited for, in milliseconds.
    pub total_ms: Option<f64>,
    /// Searches by words alone, because the vector was not there in time.
    pub by_words: u64,
    /// Exchanges that were not learnt from although they might have been.
    pub dropped: u64,
}

impl Figures {
    /// Looks.
    ///
    /// # Errors
    /// When memgate does not answer.
    pub async fn look(client: &Client, api: &str) -> Result<Self> {
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

    /// What happened since an earlier look.
    pub fn since(&self, earlier: &Self) -> Between {
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
    fn means_are_of_what_happened_between() {
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
