//! Errors in a configuration: place, key and cause.

use std::{fmt, path::PathBuf};

/// One error in a configuration. It never contains the value, which may be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The key, for example `memory.deadline_ms`; empty for the file as a whole.
    pub key: String,
    /// Where the value comes from, if that is known.
    pub place: Option<Place>,
    /// The mistake.
    pub cause: String,
}

/// Where a value of the configuration comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// This line of the file, starting at 1.
    Line(u64),
    /// This environment variable.
    Variable(String),
}

impl Problem {
    /// A problem with a key whose place is not known (yet).
    #[must_use]
    pub fn new(key: impl Into<String>, cause: impl Into<String>) -> Self {
        Self { key: key.into(), place: None, cause: cause.into() }
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
    /// One line per problem: `file:line: key: cause`, or `VARIABLE: key: cause`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, cause } => write!(f, "{}: {cause}", path.display()),
            Self::Invalid { path, problems } => {
                for (index, problem) in problems.iter().enumerate() {
                    if index > 0 {
                        f.write_str("\n")?;
                    }
                    match (path, &problem.place) {
                        (_, Some(Place::Variable(name))) => write!(f, "{name}: {problem}")?,
                        (Some(path), Some(Place::Line(line))) => {
                            write!(f, "{}:{line}: {problem}", path.display())?;
                        }
                        (Some(path), None) => write!(f, "{}: {problem}", path.display())?,
                        (None, _) => write!(f, "{problem}")?,
                    }
                }
                Ok(())
            }
        }
    }
}
