//! The current configuration and its reload at run time.

use std::{
    path::PathBuf,
    sync::{Arc, RwLock},
};

use crate::{Config, parse::problem::ConfigError, reload_guard::weakened};

/// Changes applied to a configuration after it was read, for example from command-line flags.
type Overrides = Box<dyn Fn(&mut Config) + Send + std::marker::Sync>;

/// A shared handle to the current configuration. Read it once per exchange, so that the exchange
/// sees one consistent configuration.
#[derive(Clone)]
pub struct Live {
    shared: Arc<Shared>,
}

struct Shared {
    current: RwLock<Arc<Config>>,
    path: Option<PathBuf>,
    overrides: Overrides,
}

/// Outcome of a reload.
#[derive(Debug, PartialEq, Eq)]
pub struct Reloaded {
    /// Whether any setting that takes effect now has changed.
    pub changed: bool,
    /// Changed keys that take effect only after a restart.
    pub need_restart: Vec<&'static str>,
}

impl Live {
    /// Reads a file (or takes the defaults) and applies `overrides`, now and at every reload.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn load(
        path: Option<PathBuf>,
        overrides: impl Fn(&mut Config) + Send + std::marker::Sync + 'static,
    ) -> Result<Self, ConfigError> {
        let config = Config::load_with(path.as_deref(), &overrides)?;
        Ok(Self::with(config, path, Box::new(overrides)))
    }

    /// A fixed configuration; reloading it changes nothing.
    #[must_use]
    pub fn fixed(config: Config) -> Self {
        let same = config.clone();
        Self::with(config, None, Box::new(move |config| config.clone_from(&same)))
    }

    fn with(config: Config, path: Option<PathBuf>, overrides: Overrides) -> Self {
        Self {
            shared: Arc::new(Shared { current: RwLock::new(Arc::new(config)), path, overrides }),
        }
    }

    /// The current configuration.
    #[must_use]
    pub fn get(&self) -> Arc<Config> {
        // The lock can only be poisoned between two complete values.
        Arc::clone(&self.shared.current.read().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// Reads the file again. Settings that need a restart keep their value and are listed.
    /// Blocking: it reads a file.
    ///
    /// # Errors
    /// As [`Config::load`], and when the new file would weaken a protection. The old configuration
    /// stays in use.
    pub fn reload(&self) -> Result<Reloaded, ConfigError> {
        let mut new =
            Config::load_with(self.shared.path.as_deref(), self.shared.overrides.as_ref())?;
        let old = self.get();
        let problems = weakened(&old, &new);
        if !problems.is_empty() {
            return Err(ConfigError::Invalid { path: self.shared.path.clone(), problems });
        }
        let need_restart = keep_until_restart(&old, &mut new);
        let changed = new != *old;
        let mut current =
            self.shared.current.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        *current = Arc::new(new);
        Ok(Reloaded { changed, need_restart })
    }
}

macro_rules! need_restart {
    ($($($member:ident).+;)*) => {
        /// Settings that are read once, at start-up.
        #[cfg(test)]
        pub(super) const NEED_RESTART: &[&str] = &[$(stringify!($($member).+)),*];

        /// Restores the old values of settings that need a restart, and returns the keys that
        /// differed.
        fn keep_until_restart(old: &Config, new: &mut Config) -> Vec<&'static str> {
            let mut named = Vec::new();
            $(
                if new.$($member).+ != old.$($member).+ {
                    new.$($member).+.clone_from(&old.$($member).+);
                    named.push(stringify!($($member).+));
                }
            )*
            named
        }
    };
}

need_restart! {
    listen;
    data_dir;
    assets_dir;
    memory.store;
    memory.milvus;
    memory.postgres;
    memory.sqlite;
    memory.journal.sync;
    memory.embedding;
    memory.capture;
    memory.anonymous_sessions.ttl_seconds;
    memory.anonymous_sessions.max_memories;
    memory.anonymous_sessions.max_sessions;
    memory.trail;
    memory.max_body_bytes;
    api;
    audit;
    telemetry.log_format;
    telemetry.otlp_endpoint;
    external_models;
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_reload_applies_changes_and_lists_keys_that_need_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.yaml");
        fs::write(&file, "memory: {deadline_ms: 40}\n").unwrap();
        let live = Live::load(Some(file.clone()), |_| {}).unwrap();
        let exchange = live.get();
        fs::write(&file, "memory: {deadline_ms: 80, embedding: {threads: 2}}\ndata_dir: /x\n")
            .unwrap();
        let reloaded = live.clone().reload().unwrap();
        assert!(reloaded.changed);
        assert_eq!(reloaded.need_restart, ["data_dir", "memory.embedding"]);
        assert_eq!(live.get().memory.deadline_ms, 80);
        assert_eq!(live.get().memory.embedding.threads, 1);
        assert_eq!(exchange.memory.deadline_ms, 40);
    }

    #[test]
    fn an_invalid_file_keeps_the_old_configuration_and_flags_still_override() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.yaml");
        fs::write(&file, "memory: {deadline_ms: 40}\n").unwrap();
        let live =
            Live::load(Some(file.clone()), |config| config.data_dir = "/flag".into()).unwrap();
        fs::write(&file, "memory: {deadline_ms: 0}\n").unwrap();
        assert!(live.reload().unwrap_err().to_string().contains("memory.deadline_ms"));
        assert_eq!(live.get().memory.deadline_ms, 40);
        fs::write(&file, "memory: {deadline_ms: 41}\ndata_dir: /file\n").unwrap();
        assert_eq!(live.reload(), Ok(Reloaded { changed: true, need_restart: vec![] }));
        assert_eq!(live.get().data_dir, PathBuf::from("/flag"));
    }

    #[test]
    fn reloading_a_fixed_configuration_changes_nothing() {
        let mut config = Config::default();
        config.memory.deadline_ms = 77;
        let live = Live::fixed(config);
        assert_eq!(live.reload(), Ok(Reloaded { changed: false, need_restart: vec![] }));
        assert_eq!(live.get().memory.deadline_ms, 77);
    }
}
