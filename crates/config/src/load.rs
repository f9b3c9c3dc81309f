//! Reads the configuration file.

use std::{fs, path::Path};

use memgate_located::Node;

use crate::{
    Config,
    parse::{
        interpolate::{Lookup, interpolate},
        problem::{ConfigError, Problem},
        words, yaml,
    },
    schema::all_keys,
};

impl Config {
    /// Maximum size of a configuration file.
    const MAX_FILE_BYTES: u64 = 1 << 20;

    /// Reads and checks a file.
    ///
    /// # Errors
    /// [`ConfigError`] with the file and the line, key and cause of every problem.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        Self::load_with(Some(path), &|_| {})
    }

    /// As [`Config::load`], with `overrides` (for example command-line flags) applied before the
    /// check. Without a file the built-in defaults are used.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn load_with(
        path: Option<&Path>,
        overrides: &dyn Fn(&mut Self),
    ) -> Result<Self, ConfigError> {
        let text = path.map(read_file).transpose()?;
        Self::from_text(text.as_deref(), overrides, &|name| std::env::var(name).ok())
            .map_err(|problems| ConfigError::Invalid { path: path.map(Into::into), problems })
    }

    pub(super) fn from_text(
        text: Option<&str>,
        overrides: &dyn Fn(&mut Self),
        env: Lookup<'_>,
    ) -> Result<Self, Vec<Problem>> {
        let root = text.map(|text| parse(text, env)).transpose()?;
        let mut config = match &root {
            Some(root) => memgate_located::read(root)
                .map_err(|errors| words::problems(errors, &all_keys()))?,
            None => Self::default(),
        };
        overrides(&mut config);
        let mut problems = config.problems(env);
        if problems.is_empty() {
            return Ok(config);
        }
        if let Some(root) = &root {
            for problem in &mut problems {
                problem.line = root.line_of(&problem.key);
            }
        }
        problems.sort_by_key(|problem| problem.line);
        Err(problems)
    }
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
