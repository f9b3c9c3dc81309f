//! Progress of long commands, on standard error and in a terminal only.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Time between two drawings while nothing advances.
const TICK: Duration = Duration::from_millis(200);

/// A progress bar, or a spinner where the end is not known. It is removed when it is dropped.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Progress through a file of this size, in bytes.
    pub(crate) fn through_file(bytes: Option<u64>) -> Self {
        let Some(bytes) = bytes else { return Self::spinner("{bytes} read") };
        Self::styled(ProgressBar::new(bytes), "{wide_bar} {bytes}/{total_bytes} {eta}")
    }

    /// A growing number of memories.
    pub(crate) fn of_memories() -> Self {
        Self::spinner("{pos} memories, {per_sec}")
    }

    /// The time that something takes.
    pub(crate) fn of_time(what: &'static str) -> Self {
        let spinner = Self::spinner("{msg} {elapsed}");
        spinner.0.set_message(what);
        spinner
    }

    /// Where it is now.
    pub(crate) fn set(&self, position: u64) {
        self.0.set_position(position);
    }

    fn spinner(template: &str) -> Self {
        Self::styled(ProgressBar::new_spinner(), &format!("{{spinner}} {template}"))
    }

    fn styled(bar: ProgressBar, template: &str) -> Self {
        // The template is ours; if it were wrong, the default style would be shown.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        Self(bar)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
