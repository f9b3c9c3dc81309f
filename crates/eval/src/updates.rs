//! `memgate eval updates`: does a new message supersede the outdated statements, and only those?

use std::{fs, io::Write, path::PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    data::{self, Digests, Labelled, no_language},
    evaluation::{Evaluation, Services},
    replay::Scenario,
};
use memgate_capture::{Judged, judged, told};
use memgate_config::MemoryConfig;
use memgate_models::{Models, UpdateFeatures};

/// Arguments of `memgate eval updates`.
#[derive(Debug, clap::Args)]
pub struct Updates {
    /// Scenarios (testdata/scenarios/README.md), or pairs of a sentence and a later message
    /// (testdata/reconcile), as JSON Lines
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Also write the features of every pair to this file, for tools/train_updates.py
    #[arg(long, value_name = "FILE")]
    features: Option<PathBuf>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Row {
    Pair(Pair),
    Story(Box<Scenario>),
}

#[derive(Clone, Debug, Deserialize)]
pub struct Pair {
    lang: String,
    old: String,
    new: String,
    replaces: bool,
}

impl Labelled for Row {
    fn id(&self) -> Option<&str> {
        match self {
            Self::Pair(_) => None,
            Self::Story(story) => story.id(),
        }
    }

    fn wrong(&self) -> Option<String> {
        match self {
            Self::Pair(pair) => no_language(&pair.lang),
            Self::Story(story) => story.wrong(),
        }
    }
}

/// A message, and the earlier statements with whether it supersedes them.
struct Later {
    lang: String,
    group: String,
    message: String,
    olds: Vec<(String, bool)>,
}

impl Evaluation for Updates {
    const LEARNS: bool = false;
    type Rows = Vec<Row>;
    type Report = Report;

    fn read(&self) -> Result<(Vec<Row>, String)> {
        data::rows(&self.file)
    }

    async fn measure(
        &self,
        memory: &Services,
        rows: &Vec<Row>,
        digests: Digests,
    ) -> Result<Report> {
        let messages: Vec<Later> = rows.iter().enumerate().flat_map(messages).collect();
        let judged = judge(memory, &messages).await?;
        if let Some(file) = &self.features {
            write(file, &messages, &judged)?;
        }
        Ok(Report::of(&messages, &judged, digests))
    }

    fn text(report: &Report, _: &MemoryConfig) -> String {
        report.told()
    }
}

async fn judge(memory: &Services, messages: &[Later]) -> Result<Vec<Vec<Judged>>> {
    let embedder = memory.embedder.as_ref();
    let models = Models::for_embedder(embedder.space())?;
    let mut all = Vec::with_capacity(messages.len());
    for message in messages {
        let olds: Vec<String> = message.olds.iter().map(|(old, _)| old.clone()).collect();
        all.push(judged(embedder, &models.update, &message.message, &olds).await?);
    }
    Ok(all)
}

/// The messages of a row that follow earlier sessions.
fn messages((number, row): (usize, &Row)) -> Vec<Later> {
    let story = match row {
        Row::Pair(Pair { lang, old, new, replaces }) => {
            return vec![Later {
                lang: lang.clone(),
                // Near misses are grouped with the pair they resemble.
                group: format!("pairs-{}", number / 8),
                message: new.clone(),
                olds: vec![(old.clone(), *replaces)],
            }];
        }
        Row::Story(story) => story,
    };
    let sessions = story.told();
    let mut later = Vec::new();
    for (at, session) in sessions.iter().enumerate() {
        let before = sessions[..at].iter().flatten().flat_map(|turn| told(turn));
        let before: Vec<&str> = before.collect();
        for message in session {
            let olds = before.iter().map(|old| ((*old).to_owned(), story.is_over(old, message)));
            let olds: Vec<_> = olds.collect();
            let (lang, group) = (story.lang.clone(), story.id.clone());
            later.push(Later { lang, group, message: (*message).to_owned(), olds });
        }
    }
    later
}

fn write(file: &std::path::Path, messages: &[Later], judged: &[Vec<Judged>]) -> Result<()> {
    let mut text = Vec::new();
    for (later, judged) in messages.iter().zip(judged) {
        for ((old, replaces), judged) in later.olds.iter().zip(judged) {
            // In their order, which an object would not keep.
            let values = UpdateFeatures::NAMES.iter().zip(judged.features.values());
            let features: Vec<(&&str, f32)> = values.collect();
            let line = json!({
                "group": later.group, "lang": later.lang, "old": old, "new": later.message,
                "replaces": replaces, "features": features, "excluded": judged.likelihood <= 0.0,
            });
            writeln!(text, "{line}")?;
        }
    }
    fs::write(file, text).with_context(|| format!("{}", file.display()))
}

/// The result, as `--json` prints it.
#[derive(Debug, Serialize)]
pub struct Report {
    #[serde(flatten)]
    digests: Digests,
    /// Number of pairs of a sentence and a later message.
    pairs: usize,
    /// Outdated sentences that were detected.
    found: usize,
    /// Outdated sentences that were missed.
    missed: usize,
    /// Valid sentences that were superseded.
    put_away_wrongly: usize,
}

impl Report {
    fn of(messages: &[Later], judged: &[Vec<Judged>], digests: Digests) -> Self {
        let pairs = messages.iter().zip(judged).flat_map(|(later, judged)| {
            let pairs = later.olds.iter().zip(judged);
            pairs.map(|((_, over), judged)| (*over, judged.is_outdated))
        });
        let pairs: Vec<(bool, bool)> = pairs.collect();
        let count = |of: (bool, bool)| pairs.iter().filter(|pair| **pair == of).count();
        Self {
            digests,
            pairs: pairs.len(),
            found: count((true, true)),
            missed: count((true, false)),
            put_away_wrongly: count((false, true)),
        }
    }

    fn told(&self) -> String {
        let Digests { data_sha256, model_sha256 } = &self.digests;
        format!(
            "data sha256  {data_sha256}\nmodel sha256 {model_sha256}\n\n\
             pairs {}\noutdated and detected  {}\noutdated and missed    {}\nvalid but superseded   {}",
            self.pairs, self.found, self.missed, self.put_away_wrongly,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_is_paired_with_statements_of_earlier_sessions() {
        let turn = |user: &str| json!({"user": user, "assistant": "Ok."});
        let session = |day: u8, turns: &[serde_json::Value]| json!({"date": format!("2026-01-0{day}T10:00:00Z"), "turns": turns});
        let story: Row = serde_json::from_value(json!({
            "id": "u", "lang": "en", "kind": "update",
            "sessions": [
                session(1, &[turn("My rent is 900. I like it here."), turn("what is a lease?")]),
                session(2, &[turn("Rent went up to 950")]),
            ],
            "ask": {"date": "2026-05-01T10:00:00Z", "turns": [], "user": "?"},
            "must_recall": [["950"]], "must_not_recall": ["900"],
        }))
        .unwrap();
        let later = messages((0, &story));
        assert_eq!(later.len(), 3);
        assert!(later[0].olds.is_empty(), "of the same session");
        let olds = [("My rent is 900.".to_owned(), true), ("I like it here.".to_owned(), false)];
        assert_eq!(later[2].olds, olds);
        let pair = json!({"lang": "en", "old": "a", "new": "b", "replaces": true});
        let pair = messages((0, &serde_json::from_value(pair).unwrap()));
        assert_eq!((pair[0].message.as_str(), pair[0].olds.len()), ("b", 1));
    }
}
