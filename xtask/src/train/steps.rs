//! Training steps: measurements of the program that write features, and a trainer in tools/.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use super::model::Model;
use crate::assets::repository;
use crate::build::{self, Profile};

/// The programs that extract features, with the models that they were built with.
pub(super) struct Programs {
    memgate: PathBuf,
    exporter: PathBuf,
}

impl Programs {
    pub(super) fn build(profile: Profile) -> Result<Self> {
        let memgate = build::binaries(profile)?.memgate;
        Ok(Self { memgate, exporter: build::example(profile, "export_features")? })
    }
}

/// Where a model is trained.
pub(super) struct Stage<'a> {
    pub programs: &'a Programs,
    /// The trainers' interpreter.
    pub python: PathBuf,
    /// For features.
    pub scratch: &'a Path,
    /// The folder whose files are written.
    pub folder: &'a Path,
}

impl Stage<'_> {
    pub(super) fn need(&self) -> Result<()> {
        self.train("train_signals.py", &[])
    }

    pub(super) fn housekeeping(&self) -> Result<()> {
        self.train("train_housekeeping.py", &[])
    }

    pub(super) fn answers(&self) -> Result<()> {
        self.train("train_answers.py", &[])
    }

    pub(super) fn resuming(&self) -> Result<()> {
        self.train("train_resuming.py", &[])
    }

    pub(super) fn reader(&self) -> Result<()> {
        self.train("train_reader.py", &[])
    }

    pub(super) fn memorable(&self) -> Result<()> {
        self.train("train_memorable.py", &[])
    }

    /// Gives the pairs of near misses.
    pub(super) fn update(&self) -> Result<PathBuf> {
        let pairs = |data: &str, name| self.features("updates", data, name);
        let own = pairs("testdata/reconcile/messages.jsonl", "own.pairs")?;
        let changes = pairs("testdata/reconcile/changes.jsonl", "changes.pairs")?;
        let conversations = self.conversations(&["ordinary", "conversations"])?;
        let conversations = self.features("updates", conversations, "conversations.pairs")?;
        let forgetting =
            self.features("updates", self.conversations(&["forgetting"])?, "forgetting.pairs")?;
        let train = pairs("testdata/scenarios/train.jsonl", "train.pairs")?;
        let adapter = pairs("testdata/scenarios/adapter.jsonl", "adapter.pairs")?;
        let all =
            [&own, &changes, &conversations, &forgetting, &train, &adapter].map(PathBuf::as_path);
        self.train("train_updates.py", &[&all, &[Path::new("--write")][..]].concat())?;
        Ok(own)
    }

    pub(super) fn forgetting(&self) -> Result<()> {
        self.train("train_forgetting.py", &[])
    }

    pub(super) fn encoder(&self, weights: &Path) -> Result<()> {
        self.train("train_encoder.py", &[weights])
    }

    pub(super) fn query_adapter(&self) -> Result<()> {
        self.train("train_turn.py", &[])
    }

    pub(super) fn relevance(&self) -> Result<()> {
        let stories = "testdata/scenarios/train.jsonl";
        let features = self.features("scenarios", stories, "train")?;
        let conversations = self.conversations(&["ordinary"])?;
        let conversations = self.features("ordinary", conversations, "conversations")?;
        let crossed = self.scratch.join("crossed.jsonl");
        let out = fs::File::create(&crossed)?;
        let mut cross = self.python("cross_scenarios.py");
        run(cross.arg(stories).stdout(out))?;
        let crossed = self.features("scenarios", crossed, "crossed")?;
        let asked = self.scratch.join("asked.jsonl");
        let mut small = self.python("small_memories.py");
        run(small.arg("testdata/asked/pairs.jsonl").stdout(fs::File::create(&asked)?))?;
        let asked = self.features("ordinary", asked, "asked")?;
        let [asked, nothing] = [("--asked", &asked), ("--nothing", &crossed)]
            .map(|(name, file)| [Path::new(name), file.as_path()]);
        let told = [features.as_path(), &conversations];
        self.train("calibrate.py", &[&told[..], &asked, &nothing, &[Path::new("--write")]].concat())
    }

    /// All conversations of folders of testdata in one file.
    fn conversations(&self, folders: &[&str]) -> Result<PathBuf> {
        let mut files: Vec<PathBuf> = Vec::new();
        for folder in folders {
            for entry in fs::read_dir(repository().join("testdata").join(folder))? {
                files.push(entry?.path());
            }
        }
        files.retain(|file| file.extension().is_some_and(|it| it == "jsonl"));
        files.sort();
        let all = self.scratch.join("conversations.jsonl");
        let texts = files.iter().map(fs::read_to_string).collect::<Result<Vec<_>, _>>()?;
        fs::write(&all, texts.concat())?;
        Ok(all)
    }

    /// Compares what was trained with what is committed.
    pub(super) fn compare(&self, models: &[Model], pairs: Option<&Path>) -> Result<()> {
        let mut compare = self.python("compare_models.py");
        compare.arg(self.folder);
        if let Some(pairs) = pairs {
            compare.arg("--pairs").arg(pairs);
        }
        compare.arg("--only").args(models.iter().map(|model| model.name()));
        run(&mut compare)
    }

    /// Runs `memgate eval` and writes the features to a file of this name.
    fn features(&self, what: &str, data: impl AsRef<Path>, name: &str) -> Result<PathBuf> {
        let file = self.scratch.join(name);
        let mut eval = Command::new(&self.programs.memgate);
        eval.args(["eval", what]).arg(data.as_ref()).arg("--features").arg(&file);
        run(eval.stdout(Stdio::null()))?;
        Ok(file)
    }

    fn train(&self, trainer: &str, arguments: &[&Path]) -> Result<()> {
        run(self.python(trainer).args(arguments).arg("--into").arg(self.folder))
    }

    fn python(&self, tool: &str) -> Command {
        let mut command = Command::new(&self.python);
        command.arg(repository().join("tools").join(tool));
        command.env("MEMGATE_EXPORT_FEATURES", &self.programs.exporter);
        command
    }
}

fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().display().to_string();
    // The default embedder's models, whatever the developer has configured.
    command.env_remove("MEMGATE_CONFIG").current_dir(repository()).stdin(Stdio::null());
    let status = command.status();
    match status.with_context(|| format!("cannot run {program}"))? {
        status if status.success() => Ok(()),
        status => bail!("{command:?} ended with {status}"),
    }
}
