//! `memgate eval locomo`: recall of evidence turns in long conversations of two people. There is no
//! judge model: a question is answered if its evidence is among the hits.

mod conversation;
mod figures;
mod run;

use std::{fmt::Write as _, path::PathBuf};

use anyhow::{Context, Result};

use self::{
    conversation::Conversation,
    figures::{Figures, Interval, KS, Report},
};
use crate::{
    data::Digests,
    evaluation::{Evaluation, Services},
};
use memgate_config::MemoryConfig;

/// Arguments of `memgate eval locomo`.
#[derive(Debug, clap::Args)]
pub struct Locomo {
    /// Conversations: JSON files as in LoCoMo's `locomo10.json`, each with its `conversation` and
    /// `qa`
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

impl Evaluation for Locomo {
    const LEARNS: bool = false;
    type Rows = Vec<Conversation>;
    type Report = Report;

    fn read(&self) -> Result<(Vec<Conversation>, String)> {
        conversation::read(&self.files)
    }

    async fn measure(
        &self,
        memory: &Services,
        conversations: &Vec<Conversation>,
        digests: Digests,
    ) -> Result<Report> {
        let mut answers = Vec::new();
        for conversation in conversations {
            // Each conversation is the memory of a separate user.
            let of_one = run::answers(memory, conversation).await;
            answers.extend(of_one.with_context(|| conversation.name.clone())?);
        }
        Ok(Report::of(&answers, digests))
    }

    fn text(report: &Report, _: &MemoryConfig) -> String {
        told(report)
    }
}

/// The result as text.
fn told(report: &Report) -> String {
    let mut text = format!(
        "data sha256  {}\nmodel sha256 {}\n\n{:<16} {:>9}",
        report.digests.data_sha256, report.digests.model_sha256, "evidence recall", "questions"
    );
    KS.iter().for_each(|k| _ = write!(text, " {:>7}", format!("@{k}")));
    text.push_str("     MRR\n");
    let mut line = |name: &str, figures: &Figures| {
        _ = write!(text, "{name:<16} {:>9}", figures.questions);
        figures.recall.values().for_each(|share| _ = write!(text, " {share:>7.3}"));
        _ = writeln!(text, " {:>7.3}", figures.mrr);
    };
    line("all", &report.all);
    report.by_category.iter().for_each(|(name, of)| line(&format!("category {name}"), of));
    report.by_conversation.iter().for_each(|(name, of)| line(name, of));
    line("plain cosine", &report.baselines.cosine);
    line("plain BM25", &report.baselines.bm25);
    line("presented", &report.after_gate.figures);
    match &report.interval {
        None => text.push_str("no 95% interval: it requires two conversations\n"),
        Some(Interval { by_depth, samples, seed }) => {
            for (k, [low, high]) in by_depth {
                _ = writeln!(text, "95% interval @{k}: {low:.3} to {high:.3}");
            }
            _ = writeln!(
                text,
                "intervals: {samples} bootstrap samples of conversations, seed {seed}"
            );
        }
    }
    let gate = &report.after_gate;
    _ = write!(
        text,
        "presented {:.1} memories in {:.0} tokens; {:.1} ms per question",
        gate.shown, gate.tokens, report.ms_per_question,
    );
    text
}
