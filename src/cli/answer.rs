//! Runs an operation, prints its result and sets the exit status.

use std::process::ExitCode;

use crate::{
    cli::{
        backend::Backend,
        client::Answer,
        failure::Failure,
        options::Common,
        output::{
            print::{print, tell},
            text::{Width, width},
        },
    },
    startup::Need,
};
use memgate_telemetry::{LogLevel, Telemetry, TelemetryConfig};

/// Runs an operation and prints its result: the body with `--json`, else as `show` formats it.
pub(super) fn run<T>(
    common: Common,
    need: Need,
    operation: impl AsyncFnOnce(&Backend) -> Result<Answer<T>, Failure>,
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

/// Runs an operation.
///
/// # Errors
/// Those of the operation, and when the memories cannot be accessed.
pub(super) fn ask<T>(
    common: Common,
    need: Need,
    operation: impl AsyncFnOnce(&Backend) -> Result<T, Failure>,
) -> Result<T, Failure> {
    block_on(async {
        let log = TelemetryConfig { log: LogLevel::Warn, ..TelemetryConfig::default() };
        // If it fails, only warnings are lost.
        let _ = Telemetry::start(&log);
        let memories = Backend::find(common, need).await?;
        let answer = operation(&memories).await;
        memories.close().await;
        answer
    })
}

/// Runs a future on a new single-threaded runtime.
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

/// Reports a failure on standard error, and with `--json` also as REST's error body on standard output.
pub(super) fn report(failure: &Failure, json: bool) -> ExitCode {
    if json {
        // If standard output fails too, standard error still has the first cause.
        let _ = print(&[failure.body(), b"\n"].concat());
    }
    tell(&format!("error: {}", failure.message()));
    failure.exit_code()
}
