//! The configuration in use, and how it is swapped while running.

use std::{
    path::PathBuf,
    sync::{Arc, RwLock},
};

use super::{Config, ConfigError, loosening::loosened};

/// Changes a configuration after it was read.
type Overrides = Box<dyn Fn(&mut Config) + Send + std::marker::Sync>;

/// The configuration in use. Clones share it; read it once an exchange, so that the exchange sees
/// one configuration from beginning to end.
#[derive(Clone)]
pub struct Live {
    shared: Arc<Shared>,
}

struct Shared {
    current: RwLock<Arc<Config>>,
    path: Option<PathBuf>,
    overrides: Overrides,
}

/// What a reload did.
#[derive(Debug, PartialEq, Eq)]
pub struct Reloaded {
    /// Whether anything that is in use now differs from before.
    pub changed: bool,
    /// Keys whose new value is used only after a restart.
    pub need_restart: Vec<&'static str>,
}

impl Live {
    /// Reads a file, or takes the defaults, and applies the command line's overrides: now and at
    /// every reload.
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

    /// A configuration without a file; reloading it changes nothing.
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

    /// The configuration as it is now.
    #[must_use]
    pub fn get(&self) -> Arc<Config> {
        // A poisoned lock only means that a writer panicked between two whole values.
        Arc::clone(&self.shared.current.read().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// Reads the file again. What needs a restart keeps its old value and is named. It opens a
    /// file: call it where blocking is allowed.
    ///
    /// # Errors
    /// As [`Config::load`], and when the new file would loosen what protects people; the old configuration stays in use.
    pub fn reload(&self) -> Result<Reloaded, ConfigError> {
        let mut new =
            Config::load_with(self.shared.path.as_deref(), self.shared.overrides.as_ref())?;
        let old = self.get();
        let problems = loosened(&old, &new);
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
        /// What is built once, at start.
        #[cfg(test)]
        pub(super) const NEED_RESTART: &[&str] = &[$(stringify!($($member).+)),*];

        /// Puts back the old values of what is built once, and names the keys that differed.
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
    memory.sqlite;
    memory.journal.sync;
    memory.embedding;
    memory.capture;
    memory.max_body_bytes;
    api;
    telemetry.log_format;
    telemetry.otlp_endpoint;
    external_models;
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_reload_takes_what_may_change_and_names_what_needs_a_restart() {
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
    fn a_bad_new_file_keeps_the_old_configuration_and_the_command_line_wins_again() {
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
    fn a_fixed_configuration_stays_what_it_is() {
        let mut config = Config::default();
        config.memory.deadline_ms = 77;
        let live = Live::fixed(config);
        assert_eq!(live.reload(), Ok(Reloaded { changed: false, need_restart: vec![] }));
        assert_eq!(live.get().memory.deadline_ms, 77);
    }
}
