//! What is wrong with a configuration: where, which key, and why.

use std::{fmt, path::PathBuf};

/// One thing that is wrong. Values are not repeated: they may be secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The key, `memory.deadline_ms` for example; empty when the file as a whole is meant.
    pub key: String,
    /// The line in the file, from 1, where the value comes from a file.
    pub line: Option<u64>,
    /// What is wrong.
    pub cause: String,
}

impl Problem {
    /// A problem with a key, its line not known (yet).
    #[must_use]
    pub fn new(key: impl Into<String>, cause: impl Into<String>) -> Self {
        Self { key: key.into(), line: None, cause: cause.into() }
    }

    pub(super) fn at(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.key.is_empty() {
            return f.write_str(&self.cause);
        }
        write!(f, "{}: {}", self.key, self.cause)
    }
}

/// Why there is no configuration.
#[derive(Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// The file cannot be read.
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        cause: String,
    },
    /// Something in it, or in what was given beside it, is wrong.
    Invalid {
        /// The file, where there is one.
        path: Option<PathBuf>,
        /// What; never empty.
        problems: Vec<Problem>,
    },
}

impl std::error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    /// One line a problem: `file:line: key: cause`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, cause } => write!(f, "{}: {cause}", path.display()),
            Self::Invalid { path, problems } => {
                for (index, problem) in problems.iter().enumerate() {
                    if index > 0 {
                        f.write_str("\n")?;
                    }
                    if let Some(path) = path {
                        write!(f, "{}:", path.display())?;
                        if let Some(line) = problem.line {
                            write!(f, "{line}:")?;
                        }
                        f.write_str(" ")?;
                    }
                    write!(f, "{problem}")?;
                }
                Ok(())
            }
        }
    }
}
