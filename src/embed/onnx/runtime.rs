//! Loads ONNX Runtime's library. It can be loaded once in a process, so this is the one
//! place with a global.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ort::environment::Environment;
use ort::logging::LogLevel;

use crate::embed::EmbedError;

/// The library that was loaded, and what it gave.
static LOADED: Mutex<Option<(PathBuf, Environment)>> = Mutex::new(None);

/// The environment of the library at `path`, loaded now or before.
pub fn environment(path: &Path) -> Result<Environment, EmbedError> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((from, environment)) = loaded.as_ref() {
        if from == path {
            return Ok(environment.clone());
        }
        let cause = format!("ONNX Runtime is already loaded from {}", from.display());
        return Err(EmbedError::load(path, cause));
    }
    // Looked at first: the loader would search its own folders for a missing file.
    if !path.is_file() {
        return Err(EmbedError::load(path, "there is no such file"));
    }
    let environment = ort::init_from(path)
        .map_err(|error| EmbedError::load(path, error))?
        .with_name("memgate")
        .with_telemetry(false)
        .with_logger(Arc::new(log))
        .build()
        .map_err(|error| EmbedError::load(path, error))?;
    *loaded = Some((path.to_path_buf(), environment.clone()));
    Ok(environment)
}

/// The library's own messages, so that they do not go to stderr past our log format. What
/// matters in them also comes back as an error.
fn log(level: LogLevel, category: &str, _id: &str, _location: &str, message: &str) {
    match level {
        LogLevel::Error | LogLevel::Fatal | LogLevel::Warning => {
            tracing::debug!(category, message, "ONNX Runtime");
        }
        LogLevel::Info | LogLevel::Verbose => {}
    }
}
