//! `memgate eval locomo`: recall of evidence turns in long conversations of two people. There is no
//! judge model: a question is answered if its evidence is among the hits.

mod conversation;
mod figures;
mod run;

use std::path::PathBuf;

use anyhow::{Context, Result};

use self::{
    conversation::Conversation,
    figures::{Figures, Interval, KS, Report},
};
use crate::{
    data::Digests,
    evaluation::{Evaluation, Services},
    table::Sheet,
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
    let mut sheet = Sheet::of(&report.digests);
    let names = report.by_category.keys().map(|category| format!("category {category}"));
    let names = ["all".to_owned()].into_iter().chain(names);
    let names = names.chain(report.by_conversation.keys().cloned());
    let names = names.chain(["plain cosine", "plain BM25", "presented"].map(str::to_owned));
    let Report { baselines, after_gate: gate, .. } = report;
    let figures = [&report.all].into_iter().chain(report.by_category.values());
    let figures = figures.chain(report.by_conversation.values());
    let figures = figures.chain([&baselines.cosine, &baselines.bm25, &gate.figures]);
    let row = |(name, figures): (String, &Figures)| {
        let recall = KS.map(|k| figures.recall.get(&k).copied().unwrap_or_default());
        let [a, b, c, d] = recall.map(|share| format!("{share:.3}"));
        [name, figures.questions.to_string(), a, b, c, d, format!("{:.3}", figures.mrr)]
    };
    let [a, b, c, d] = KS.map(|k| format!("@{k}"));
    sheet.table(
        ["evidence recall", "questions", &a, &b, &c, &d, "MRR"],
        names.zip(figures).map(row),
    );
    match &report.interval {
        None => sheet.line("no 95% interval: it requires two conversations"),
        Some(Interval { by_depth, samples, seed }) => {
            for (k, [low, high]) in by_depth {
                sheet.line(format_args!("95% interval @{k}: {low:.3} to {high:.3}"));
            }
            sheet.line(format_args!(
                "intervals: {samples} bootstrap samples of conversations, seed {seed}"
            ));
        }
    }
    sheet.line(format_args!(
        "presented {:.1} memories in {:.0} tokens; {:.1} ms per question",
        gate.shown, gate.tokens, report.ms_per_question,
    ));
    sheet.end()
}
