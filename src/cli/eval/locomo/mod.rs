//! `memgate eval locomo`: long conversations of two people, and questions whose evidence is known
//! turn by turn. No judge model is asked: what counts is whether the evidence is among the hits.

mod conversation;
mod figures;
mod run;

use std::{fmt::Write as _, path::PathBuf};

use anyhow::{Context, Result};

use super::data;
use crate::{
    cli::config_file::ConfigFile,
    config::Config,
    startup::{Need, Offline},
};
use conversation::Conversation;
use figures::{Figures, KS, Report};

/// Arguments of `memgate eval locomo`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The conversations: a JSON file each, as in LoCoMo's `locomo10.json` under `conversation`,
    /// with its `qa` beside.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    config: ConfigFile,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self) -> Result<()> {
        let (conversations, data_sha256) = conversation::read(&self.files)?;
        let config = Config::load_with(self.config.path().as_deref(), &|_| {})?;
        let model_sha256 = data::model_digest(&config)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .context("cannot start the async runtime")?;
        let answers = runtime.block_on(measure(config, &conversations))?;
        let report = Report::of(&answers, data_sha256, model_sha256);
        if self.json {
            return super::print(&serde_json::to_string(&report)?);
        }
        super::print(&told(&report))
    }
}

/// Asks all questions, each conversation as the memory of a user of its own.
async fn measure(mut config: Config, conversations: &[Conversation]) -> Result<Vec<run::Answer>> {
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    config.data_dir = folder.path().to_owned();
    let rules = config.memory.clone();
    let offline = Offline::open(config, Need::Model).await?;
    let answers = async {
        let mut answers = Vec::new();
        for conversation in conversations {
            let of_one = run::answers(offline.operations(), &rules, conversation).await;
            answers.extend(of_one.with_context(|| conversation.name.clone())?);
        }
        Ok(answers)
    };
    let answers = answers.await;
    offline.close().await;
    answers
}

/// The measurement for people.
fn told(report: &Report) -> String {
    let mut text = format!(
        "data sha256  {}\nmodel sha256 {}\n\n{:<16} {:>9}",
        report.data_sha256, report.model_sha256, "evidence recall", "questions"
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
    line("after the gate", &report.after_gate.figures);
    for (k, [low, high]) in &report.interval {
        _ = writeln!(text, "95% interval @{k}: {low:.3} to {high:.3}");
    }
    let gate = &report.after_gate;
    _ = write!(
        text,
        "shown {:.1} memories in {:.0} tokens; {:.1} ms a question",
        gate.shown, gate.tokens, report.ms_per_question,
    );
    text
}
