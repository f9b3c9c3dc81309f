//! `cargo xtask train`: trains the models of the default embedder, or checks that training gives what is committed.
//! Those of all-MiniLM-L6-v2 are trained one by one: docs/models.md.
//!
//! The order is that of [`Model`]. The encoder learns from labelled rows alone, and is then exported anew. query_adapter, need,
//! answers, resuming, reader, memorable, update and forgetting learn from labelled rows and from what the encoder makes of them. relevance is fitted last, to
//! stories replayed with all of these; the program has them compiled in, so it is built again before.

mod model;
mod steps;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;

use self::model::Model;
use self::steps::{Programs, Stage};
use crate::assets::progress::say;
use crate::assets::{Kind, MODEL, ensure, repository};
use crate::build::Profile;

/// Arguments of `cargo xtask train`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Train into a temporary folder and compare with what is committed: equal to the last bit, or predictions that
    /// differ by 0.01 at most. Every model then learns from the committed others.
    #[arg(long)]
    check: bool,
    /// Only these models.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Model::ALL)]
    only: Vec<Model>,
    /// How the program that extracts the features is built.
    #[arg(long, value_enum, default_value_t = Profile::Release)]
    profile: Profile,
}

impl Args {
    /// Runs the command: progress and times on stderr.
    ///
    /// # Errors
    /// When something cannot be fetched, built or trained; with `--check` also when a model differs.
    pub(crate) fn run(&self) -> Result<()> {
        let assets = ensure(&[Kind::Runtime, Kind::Model, Kind::Training])?;
        let mut models = self.only.clone();
        models.sort_unstable();
        models.dedup();
        let scratch = tempfile::tempdir()?;
        let committed = repository().join("models").join(MODEL);
        let folder = if self.check { copy(&committed, scratch.path())? } else { committed };
        let mut programs = Programs::build(self.profile)?;
        let (mut trained, mut pairs) = (false, None);
        for &model in &models {
            if model.needs_those_before() && trained && !self.check {
                programs = Programs::build(self.profile)?;
            }
            say(&format!("training {}", model.name()));
            let started = Instant::now();
            let stage = Stage {
                programs: &programs,
                python: assets.training(),
                scratch: scratch.path(),
                folder: &folder,
            };
            match model {
                Model::Encoder => {
                    stage.encoder(&assets.e5_weights())?;
                    // The others must see what was trained, unless they are compared with what is committed.
                    if !self.check {
                        ensure(&[Kind::Model])?;
                    }
                }
                Model::QueryAdapter => stage.query_adapter()?,
                Model::Need => stage.need()?,
                Model::Housekeeping => stage.housekeeping()?,
                Model::Answers => stage.answers()?,
                Model::Resuming => stage.resuming()?,
                Model::Reader => stage.reader()?,
                Model::Memorable => stage.memorable()?,
                Model::Update => pairs = Some(stage.update()?),
                Model::Forgetting => stage.forgetting()?,
                Model::Relevance => stage.relevance()?,
            }
            trained = true;
            say(&format!("{}: {} s", model.name(), started.elapsed().as_secs()));
        }
        if self.check {
            let stage = Stage {
                programs: &programs,
                python: assets.training(),
                scratch: scratch.path(),
                folder: &folder,
            };
            return stage.compare(&models, pairs.as_deref());
        }
        Ok(())
    }
}

/// A copy of the model files, to be trained over.
fn copy(committed: &Path, scratch: &Path) -> Result<PathBuf> {
    let folder = scratch.join(MODEL);
    std::fs::create_dir(&folder)?;
    for file in ["manifest.toml", "weights.safetensors", "layers.safetensors"] {
        std::fs::copy(committed.join(file), folder.join(file))?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_trained_in_their_order_and_those_that_replay_stories_last() {
        assert!(Model::ALL.is_sorted());
        let replay = Model::ALL.map(Model::needs_those_before);
        assert_eq!(replay, [[false; 10].as_slice(), &[true]].concat()[..]);
    }
}
