//! Log lines on standard error, as text or JSON. The level can change at run time.

use std::io::{self, IsTerminal};

use tracing::{Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{
    Layer, Registry, filter::Targets, fmt::MakeWriter, layer::SubscriberExt, registry::LookupSpan,
    reload, util::SubscriberInitExt,
};

use crate::{
    TelemetryError,
    settings::{LogFormat, LogLevel, TelemetryConfig},
    trace::Exporter,
};

/// Changes the level at run time.
pub struct LogControl {
    filter: reload::Handle<Targets, Registry>,
}

impl LogControl {
    /// Changes the minimum level.
    pub fn set_level(&self, level: LogLevel) {
        // This fails only when the subscriber is gone, and then nothing is logged.
        let _ = self.filter.reload(targets(level));
    }
}

pub(super) fn install(
    config: &TelemetryConfig,
    exporter: Option<&Exporter>,
) -> Result<LogControl, TelemetryError> {
    let (filter, handle) = reload::Layer::new(targets(config.log));
    let lines = lines(config.log_format, io::stderr().is_terminal(), io::stderr);
    tracing_subscriber::registry()
        .with(lines.with_filter(filter))
        .with(exporter.map(Exporter::layer))
        .try_init()
        .map_err(|error| TelemetryError::Log(error.to_string()))?;
    Ok(LogControl { filter: handle })
}

/// memgate's own events at `level`; libraries at `warn`, unless everything is wanted.
fn targets(level: LogLevel) -> Targets {
    let ours = match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    let others = match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Trace => LevelFilter::DEBUG,
        _ => LevelFilter::WARN,
    };
    // The pool of PostgreSQL's connections warns of each that is lost; the store reports an outage once.
    let pool = if level == LogLevel::Trace { others } else { LevelFilter::ERROR };
    Targets::new().with_default(others).with_target("memgate", ours).with_target("deadpool", pool)
}

/// The layer that writes the lines.
fn lines<S, W>(format: LogFormat, colour: bool, writer: W) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let base = tracing_subscriber::fmt::layer().with_writer(writer);
    match format {
        LogFormat::Text => base.with_ansi(colour).boxed(),
        LogFormat::Json => {
            base.json().flatten_event(true).with_current_span(true).with_span_list(false).boxed()
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    pub(crate) struct Sink(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Sink {
        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }

        /// Takes what `work` logs on this thread.
        pub(crate) fn logs(&self, format: LogFormat, work: impl FnOnce()) {
            let out = self.clone();
            let layer = lines(format, false, move || out.clone());
            tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), work);
        }
    }

    #[test]
    fn the_level_applies_to_memgate_and_libraries_log_warnings() {
        let sink = Sink::default();
        let (filter, handle) = reload::Layer::new(targets(LogLevel::Info));
        let control = LogControl { filter: handle };
        let out = sink.clone();
        let layer = lines(LogFormat::Text, false, move || out.clone());
        let subscriber = tracing_subscriber::registry().with(layer.with_filter(filter));
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!(target: "memgate::recall", "one");
            tracing::debug!(target: "memgate::recall", "two");
            tracing::info!(target: "hyper", "three");
            tracing::warn!(target: "hyper", "four");
            control.set_level(LogLevel::Debug);
            tracing::debug!(target: "memgate::recall", "five");
        });
        let text = sink.text();
        let seen: Vec<_> =
            ["one", "two", "three", "four", "five"].map(|word| text.contains(word)).into();
        assert_eq!(seen, [true, false, false, true, true], "{text}");
    }

    #[test]
    fn lines_for_a_terminal_are_coloured_and_control_characters_are_escaped() {
        let sink = Sink::default();
        let out = sink.clone();
        let layer = lines(LogFormat::Text, true, move || out.clone());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            tracing::warn!(cause = "a\u{1b}[2Jb", "No");
        });
        let text = sink.text();
        assert!(text.contains("\u{1b}[33m WARN"), "{text:?}");
        assert!(!text.contains("\u{1b}[2J"), "{text:?}");
    }

    #[test]
    fn json_lines_are_objects_with_level_and_message() {
        let sink = Sink::default();
        sink.logs(LogFormat::Json, || tracing::warn!(hits = 3, "Memory search timeout, skipping"));
        let line: serde_json::Value = serde_json::from_str(sink.text().trim()).unwrap();
        assert_eq!(line["level"], "WARN");
        assert_eq!(line["message"], "Memory search timeout, skipping");
        assert_eq!(line["hits"], 3);
    }
}
