//! From an operation to what is printed, and to the exit status.

use std::process::ExitCode;

use super::{
    failure::Failure,
    memories::Memories,
    options::Common,
    print::{print, tell},
    reply::Answer,
    text::{Width, width},
};
use crate::{
    config::{LogLevel, TelemetryConfig},
    startup::Need,
    telemetry::Telemetry,
};

/// Does an operation where the memories are, and prints its answer: as REST sent it, or as `show`
/// puts it for people.
pub(super) fn run<T>(
    common: Common,
    need: Need,
    operation: impl AsyncFnOnce(&Memories) -> Result<Answer<T>, Failure>,
    show: impl FnOnce(&T, Width) -> String,
) -> ExitCode {
    let json = common.json;
    let printed = ask(common, need, operation).and_then(|answer| {
        let mut out = if json { answer.body } else { show(&answer.view, width()).into_bytes() };
        out.push(b'\n');
        print(&out)
    });
    match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => report(&failure, json),
    }
}

/// Does an operation where the memories are.
///
/// # Errors
/// Those of the operation, and when the memories cannot be reached.
pub(super) fn ask<T>(
    common: Common,
    need: Need,
    operation: impl AsyncFnOnce(&Memories) -> Result<T, Failure>,
) -> Result<T, Failure> {
    block_on(async {
        let log = TelemetryConfig { log: LogLevel::Warn, ..TelemetryConfig::default() };
        // Without it only warnings are lost.
        let _ = Telemetry::start(&log);
        let memories = Memories::find(common, need).await?;
        let answer = operation(&memories).await;
        memories.close().await;
        answer
    })
}

/// Runs what waits for others.
///
/// # Errors
/// Those of `work`, and when the async runtime cannot be started.
pub(super) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new("runtime", format!("the async runtime: {error}")))?;
    runtime.block_on(work)
}

/// Tells people on standard error, and programs, which read REST's bodies, on standard output.
pub(super) fn report(failure: &Failure, json: bool) -> ExitCode {
    if json {
        // If this cannot be written either, standard error still says the first cause.
        let _ = print(&[failure.body(), b"\n"].concat());
    }
    tell(&format!("error: {}", failure.message()));
    failure.exit_code()
}
