//! The signals that end a command, so that it can stop its programs and remove its folders first.

use anyhow::{Context, Result, bail};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGINT, SIGTERM and SIGHUP.
pub(crate) struct Signals([Signal; 3]);

impl Signals {
    /// Starts listening.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn new() -> Result<Self> {
        let on = |kind| signal(kind).context("cannot listen for signals");
        Ok(Self([
            on(SignalKind::interrupt())?,
            on(SignalKind::terminate())?,
            on(SignalKind::hangup())?,
        ]))
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) {
        let Self([interrupt, terminate, hangup]) = self;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}

/// Runs `work`; a signal ends it early with an error.
///
/// # Errors
/// Those of `work`, and the signal.
pub(crate) async fn until_signal<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let mut end = Signals::new()?;
    tokio::select! {
        outcome = work => outcome,
        () = end.next() => bail!("stopped by a signal"),
    }
}
