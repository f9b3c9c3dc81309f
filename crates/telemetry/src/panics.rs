//! Panics that are caught where they must cost one text or one request only. Each is counted, and logged with its place
//! and without its message: that of a slice outside a text quotes the text.

use std::panic::{self, AssertUnwindSafe, PanicHookInfo};

use futures_util::FutureExt;

use crate::Metrics;

/// Part of memgate that catches panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum PanicIn {
    /// Reading and screening a turn.
    Capture,
    /// Reading a request to a model and finding its context.
    Recall,
    /// Another message of an exchange.
    Gateway,
    /// A request to the API.
    Api,
    /// A line of an import.
    Import,
    /// A job.
    Job,
}

impl Metrics {
    /// Runs work on one text or request. `None`: it panicked, which is counted.
    pub fn catch<T>(&self, part: PanicIn, work: impl FnOnce() -> T) -> Option<T> {
        let done = panic::catch_unwind(AssertUnwindSafe(work)).ok();
        self.count(part, done)
    }

    /// Like [`Self::catch`], for a future.
    pub async fn catch_async<T>(&self, part: PanicIn, work: impl Future<Output = T>) -> Option<T> {
        let done = AssertUnwindSafe(work).catch_unwind().await.ok();
        self.count(part, done)
    }

    fn count<T>(&self, part: PanicIn, done: Option<T>) -> Option<T> {
        if done.is_none() {
            self.panicked(part);
        }
        done
    }
}

/// Has the process log its panics without their messages.
pub(crate) fn log_without_messages() {
    panic::set_hook(Box::new(log));
}

fn log(panic: &PanicHookInfo<'_>) {
    let location = panic.location().map(ToString::to_string).unwrap_or_default();
    let thread = std::thread::current();
    tracing::error!(location, thread = thread.name(), "memgate panicked; this is a bug");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LogFormat, log::tests::Sink};

    #[tokio::test]
    async fn a_caught_panic_is_counted_by_its_part() {
        let metrics = Metrics::new();
        assert_eq!(metrics.catch(PanicIn::Import, || 1), Some(1));
        assert_eq!(metrics.catch(PanicIn::Import, || -> u8 { panic!("of a test") }), None);
        let work = async { panic!("of a test") };
        assert_eq!(metrics.catch_async::<u8>(PanicIn::Recall, work).await, None);
        let text = metrics.encode();
        for part in ["import", "recall"] {
            let line = format!("memgate_panics_total{{part=\"{part}\"}} 1\n");
            assert!(text.contains(&line), "{text}");
        }
    }

    #[test]
    fn the_log_of_a_panic_names_its_place_and_quotes_no_text() {
        let (sink, metrics) = (Sink::default(), Metrics::new());
        log_without_messages();
        sink.logs(LogFormat::Text, || {
            let secret = "Mijn wachtwoord is Zwaluw٣٤";
            for at in [20, secret.len() - 1] {
                metrics.catch(PanicIn::Capture, || secret[at..].starts_with(&secret[..at + 40]));
            }
        });
        let text = sink.text();
        assert_eq!(text.matches("panicked").count(), 2, "{text}");
        assert!(text.contains("panics.rs:") && !text.contains("wachtwoord"), "{text}");
        assert!(!text.contains("Zwaluw"), "{text}");
    }
}
