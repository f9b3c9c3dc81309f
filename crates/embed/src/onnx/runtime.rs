//! Loads the ONNX Runtime library. A process can load it only once, so this module has a global.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ort::environment::Environment;
use ort::logging::LogLevel;

use crate::EmbedError;

/// The loaded library and its environment.
static LOADED: Mutex<Option<(PathBuf, Environment)>> = Mutex::new(None);

/// The environment of the library at `path`, loaded now or earlier.
pub(super) fn environment(path: &Path) -> Result<Environment, EmbedError> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((from, environment)) = loaded.as_ref() {
        if from == path {
            return Ok(environment.clone());
        }
        let cause = format!("ONNX Runtime is already loaded from {}", from.display());
        return Err(EmbedError::load(path, cause));
    }
    // Checked first, because the loader would search its own folders for a missing file.
    if !path.is_file() {
        return Err(EmbedError::load(path, "no such file"));
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

/// Forwards the library's messages to our log instead of standard error. Important ones are also
/// returned as errors.
fn log(level: LogLevel, category: &str, _id: &str, _location: &str, message: &str) {
    match level {
        LogLevel::Error | LogLevel::Fatal | LogLevel::Warning => {
            tracing::debug!(category, message, "ONNX Runtime");
        }
        LogLevel::Info | LogLevel::Verbose => {}
    }
}
