//! Reads the configuration: the preset, the file over it, environment variables over both, and flags over all.

use std::{fs, path::Path};

use memgate_located::Node;

use crate::{
    Config,
    environment::Variables,
    parse::{
        interpolate::{Lookup, interpolate},
        problem::{ConfigError, Place, Problem},
        words, yaml,
    },
    preset::Preset,
    schema::all_keys,
};

impl Config {
    /// Maximum size of a configuration file.
    const MAX_FILE_BYTES: u64 = 1 << 20;

    /// Reads and checks a file and the environment.
    ///
    /// # Errors
    /// [`ConfigError`] with the file and the line, key and cause of every problem.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        Self::load_with(Some(path), &|_| {})
    }

    /// As [`Config::load`], with `overrides` (for example command-line flags) applied before the
    /// check. Without a file the preset and the environment count.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn load_with(
        path: Option<&Path>,
        overrides: &dyn Fn(&mut Self),
    ) -> Result<Self, ConfigError> {
        let text = path.map(read_file).transpose()?;
        let variables = Variables::of_process();
        Self::from_text(text.as_deref(), &variables, overrides, &|name| std::env::var(name).ok())
            .map_err(|problems| ConfigError::Invalid { path: path.map(Into::into), problems })
    }

    /// The configuration as a file: every key with its value. The `${NAME}` in the file that it was read from are replaced.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        // Only a path that is not UTF-8 cannot be written, and `check` refuses it.
        serde_saphyr::to_string(self).unwrap_or_default()
    }

    pub(super) fn from_text(
        text: Option<&str>,
        variables: &Variables,
        overrides: &dyn Fn(&mut Self),
        env: Lookup<'_>,
    ) -> Result<Self, Vec<Problem>> {
        let root = tree(text, variables, env)?;
        let placed = |mut problems: Vec<Problem>| {
            for problem in problems.iter_mut().filter(|problem| problem.place.is_none()) {
                problem.place = variables
                    .place_of(&problem.key)
                    .or_else(|| root.line_of(&problem.key).map(Place::Line));
            }
            problems.sort_by(|a, b| a.place.cmp(&b.place));
            problems
        };
        let mut config: Self = match memgate_located::read(&root) {
            Ok(config) => config,
            Err(first) => {
                // One value that does not fit must not hide the other mistakes.
                let mut rest = tree(text, variables, env)?;
                let (errors, config) = memgate_located::read_without::<Self>(&mut rest, first);
                let mut problems = words::problems(errors, &all_keys());
                if let Some(mut config) = config {
                    overrides(&mut config);
                    let wrong: Vec<String> = problems.iter().map(|it| it.key.clone()).collect();
                    let is_left = |key: &str| {
                        rest.holds(key) && !wrong.iter().any(|wrong| wrong.starts_with(key))
                    };
                    let others = config.problems(env).into_iter();
                    problems.extend(others.filter(|problem| is_left(&problem.key)));
                }
                return Err(placed(problems));
            }
        };
        overrides(&mut config);
        let problems = config.problems(env);
        if problems.is_empty() { Ok(config) } else { Err(placed(problems)) }
    }
}

/// The preset, the file over it, and the environment over both.
fn tree(text: Option<&str>, variables: &Variables, env: Lookup<'_>) -> Result<Node, Vec<Problem>> {
    let written = text.map(|text| parse(text, env)).transpose()?;
    let set = variables.tree()?;
    let named = [Some(&set), written.as_ref()].into_iter().flatten().find_map(Preset::named_in);
    let mut root = named.unwrap_or_default().tree().map_err(|problem| vec![problem])?;
    if let Some(written) = written {
        root.overlay(written);
    }
    root.overlay(set);
    Ok(root)
}

fn parse(text: &str, env: Lookup<'_>) -> Result<Node, Vec<Problem>> {
    let Some(mut root) = yaml::parse(text).map_err(|problem| vec![problem])? else {
        let cause = "the file is empty; write `{}` to use every default";
        return Err(vec![Problem::new("", cause)]);
    };
    let mut problems = Vec::new();
    interpolate(&mut root, "", env, &mut problems);
    if problems.is_empty() { Ok(root) } else { Err(problems) }
}

fn read_file(path: &Path) -> Result<String, ConfigError> {
    let failed = |cause: String| ConfigError::File { path: path.into(), cause };
    let size = fs::metadata(path)
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => failed("no such file".into()),
            _ => failed(error.to_string()),
        })?
        .len();
    if size > Config::MAX_FILE_BYTES {
        return Err(failed(format!("the file is larger than {} bytes", Config::MAX_FILE_BYTES)));
    }
    fs::read_to_string(path).map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests;
