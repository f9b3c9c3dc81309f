//! Performs an operation, prints its result and sets the exit status.

use std::process::ExitCode;

use axum::http::Method;

use crate::{
    api::{Operation, RequestOf, ViewOf},
    cli::{
        backend::Backend,
        failure::Failure,
        options::Common,
        output::{
            print::{print, tell},
            text::{Width, width},
        },
    },
    startup::Need,
};
use memgate_access::Scope;
use memgate_telemetry::{LogLevel, Telemetry, TelemetryConfig};

/// Performs an operation and prints its result: the body with `--json`, else as `show` formats it.
pub(super) fn run<O: Operation>(
    common: Common,
    need: Need,
    request: RequestOf<O>,
    show: impl FnOnce(&ViewOf<O>, Width) -> String,
) -> ExitCode {
    let json = common.json;
    let reads = O::ENTRY.scope == Scope::Read || O::ENTRY.method == Method::GET;
    let answer =
        ask(common, need, reads, async |memories: &Backend| memories.ask::<O>(request).await);
    let printed = answer.and_then(|answer| {
        let mut out = if json { answer.body } else { show(&answer.view, width()).into_bytes() };
        out.push(b'\n');
        print(&out)
    });
    match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => report(&failure, json),
    }
}

/// Runs one or more operations. `reads`: none of them writes.
///
/// # Errors
/// Those of the operations, and when the memories cannot be accessed.
pub(super) fn ask<T>(
    common: Common,
    need: Need,
    reads: bool,
    operations: impl AsyncFnOnce(&Backend) -> Result<T, Failure>,
) -> Result<T, Failure> {
    block_on(async {
        let log = TelemetryConfig { log: LogLevel::Warn, ..TelemetryConfig::default() };
        // If it fails, only warnings are lost.
        let _ = Telemetry::start(&log);
        let memories = Backend::find(common, need, reads).await?;
        let answer = operations(&memories).await;
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
