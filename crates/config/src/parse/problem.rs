//! Errors in a configuration: line, key and cause.

use std::{fmt, path::PathBuf};

/// One error in a configuration. It never contains the value, which may be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The key, for example `memory.deadline_ms`; empty for the file as a whole.
    pub key: String,
    /// Line in the file, starting at 1, if the value comes from a file.
    pub line: Option<u64>,
    /// What is wrong.
    pub cause: String,
}

impl Problem {
    /// A problem with a key whose line is not known (yet).
    #[must_use]
    pub fn new(key: impl Into<String>, cause: impl Into<String>) -> Self {
        Self { key: key.into(), line: None, cause: cause.into() }
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

/// Why the configuration could not be loaded.
#[derive(Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// The file cannot be read.
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        cause: String,
    },
    /// The file or the overrides are invalid.
    Invalid {
        /// The file, if there is one.
        path: Option<PathBuf>,
        /// The problems; never empty.
        problems: Vec<Problem>,
    },
}

impl std::error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    /// One line per problem: `file:line: key: cause`.
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
