//! The tables that README.md and docs/quality.md show of the results.

use super::{
    plan::EVALUATIONS,
    results::{Measured, Models, Results, Share},
};

/// The table of README.md.
pub(super) fn readme(results: &Results) -> String {
    let rows = EVALUATIONS.iter().zip(&results.evaluations).flat_map(|(evaluation, measured)| {
        let pairs = evaluation.figures.iter().zip(&measured.figures);
        pairs.filter_map(|(figure, share)| Some((figure.readme?, told(share))))
    });
    let rows = rows.map(|(name, told)| format!("| {name} | {told} |\n"));
    format!("| | |\n|---|---|\n{}", rows.collect::<String>())
}

/// The tables of docs/quality.md.
pub(super) fn quality(results: &Results) -> String {
    let Results { date, commit, machine, models, evaluations } = results;
    let Models { embedder, embedder_sha256, weights_sha256 } = models;
    let [embedder_sha256, weights_sha256] = [embedder_sha256, weights_sha256].map(|it| short(it));
    let mut text = format!(
        "{date}, commit {commit}, {machine}; {embedder} int8 (SHA-256 `{embedder_sha256}`), weights `{weights_sha256}`. In \
         parentheses: 95% intervals (Wilson).\n"
    );
    for (evaluation, measured) in EVALUATIONS.iter().zip(evaluations) {
        let Measured { command, data_sha256, seconds, figures } = measured;
        text += &format!(
            "\n`{command}`, {seconds} s: {} (SHA-256 `{}`).\n\n| | |\n|---|---|\n",
            evaluation.rows,
            short(data_sha256)
        );
        for (figure, share) in evaluation.figures.iter().zip(figures) {
            text += &format!("| {} | {} |\n", figure.name, told(share));
        }
    }
    text
}

/// `82.7% of 260 (77.9–86.6)`.
fn told(figure: &Share) -> String {
    let Some(share) = figure.share else { return "–".to_owned() };
    let of = figure.n.map(|n| format!(" of {n}")).unwrap_or_default();
    let between =
        figure.interval.map(|[low, high]| format!(" ({:.1}–{:.1})", 100.0 * low, 100.0 * high));
    format!("{:.1}%{of}{}", 100.0 * share, between.unwrap_or_default())
}

/// The beginning of a digest.
fn short(digest: &str) -> String {
    digest.chars().take(8).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_told_with_its_number_and_interval_where_it_has_them() {
        let share = Some(0.5);
        let bare = Share { share, n: None, interval: None };
        assert_eq!(told(&bare), "50.0%");
        assert_eq!(
            told(&Share { n: Some(2), interval: Some([0.095, 0.905]), ..bare }),
            "50.0% of 2 (9.5–90.5)"
        );
        assert_eq!(told(&Share { share: None, n: Some(0), interval: None }), "–");
    }
}
