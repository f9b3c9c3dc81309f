//! Imports an export. Invalid lines are reported and skipped. A failure of the store stops the
//! import, which can then be repeated: existing memories are skipped.

mod admit;

use std::{sync::Arc, time::Duration};

use axum::http::StatusCode;
use futures_util::{StreamExt, stream::FuturesOrdered};
use tokio::{io::AsyncBufRead, time::timeout};

use self::admit::{Refused, Trust, admit};
use crate::api::{
    ApiError, Caller, ImportOptions, ImportRequest, ImportedView, LineReader, ProblemView,
    WithLines,
    operations::{Operations, TextWork, orders_to_model, write, write::source},
};
use memgate_access::{Action, Subject};
use memgate_capture::OrdersToModel;
use memgate_config::Config;
use memgate_core::{
    clock::Clock,
    memory::{Memory, Owner, Restored, StoreError, Whole, Write},
};
use memgate_store::transfer::{Line, Lines, MAX_LINE_BYTES, Raw};
use memgate_telemetry::PanicIn;

/// Timeout for the next line, and for its turn to be checked.
const PATIENCE: Duration = Duration::from_secs(60);
/// Number of memories stored concurrently, as long as their lines together do not exceed the limit
/// of one line.
const AT_ONCE: usize = 16;
/// Maximum number of reported lines.
const MAX_PROBLEMS: usize = 100;

impl Operations {
    /// Imports the memories of a user.
    ///
    /// # Errors
    /// 400 when it is not an export, 408 when it stalls, 503 while the store is unavailable.
    pub async fn import(
        &self,
        caller: &Caller,
        WithLines { request: ImportRequest { whose, options }, lines }: WithLines<ImportRequest>,
    ) -> Result<ImportedView, ApiError> {
        self.import_of(Some(caller.owner(&whose)?), options, caller, lines).await
    }

    /// Imports the memories of all users, for operators.
    ///
    /// # Errors
    /// 400 when it is not an export, 408 when it stalls, 503 while the store is unavailable.
    pub async fn import_all(
        &self,
        caller: &Caller,
        WithLines { request: options, lines }: WithLines<ImportOptions>,
    ) -> Result<ImportedView, ApiError> {
        self.import_of(None, options, caller, lines).await
    }

    async fn import_of(
        &self,
        owner: Option<Owner>,
        options: ImportOptions,
        caller: &Caller,
        from: LineReader,
    ) -> Result<ImportedView, ApiError> {
        let subject = owner.as_ref().map_or_else(Subject::default, Subject::of);
        let (orders, config) = (orders_to_model(options.admit_quoted), self.config.get());
        let (trust, write) = (Trust::of(caller, &config), write("imported", caller));
        let (clock, texts) = (self.clock.clone(), self.texts.clone());
        let import = Import { texts, owner, orders, config, trust, clock, write };
        let mut view = ImportedView::default();
        let done = self.import_lines(&import, from, &mut view).await;
        // Also of an import that was stopped: what was written stays.
        self.record(caller, Action::MemoryImport, subject.count(view.written)).await;
        done.map(|()| view)
    }

    async fn import_lines(
        &self,
        import: &Import,
        from: LineReader,
        view: &mut ImportedView,
    ) -> Result<(), ApiError> {
        let space = self.embedder.space().id();
        let mut lines = Lines::new(from);
        let (mut begun, mut bare) = (false, false);
        let (mut under_way, mut held) = (FuturesOrdered::new(), 0);
        let read = loop {
            let (number, raw) = match next(&mut lines).await {
                Ok(Some(line)) => line,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            };
            let bytes = raw.bytes();
            let memory = match import.read(raw, begun).await {
                Ok(Ok(Line::Header(_))) => {
                    (begun, view.complete) = (true, false);
                    continue;
                }
                Ok(Ok(Line::Mark(_))) => continue,
                Ok(Ok(Line::End)) => {
                    view.complete = true;
                    continue;
                }
                Ok(Ok(Line::Memory(whole))) => Ok(whole),
                Ok(Err(refused)) if !begun || refused.is_of_header() => {
                    break Err(ApiError::invalid(&format!("line {number}"), refused));
                }
                Ok(Err(refused)) => Err(refused),
                Err(error) => break Err(error),
            };
            bare |= memory.as_ref().is_ok_and(|whole| whole.lacks(&space));
            while under_way.len() >= AT_ONCE || (held > 0 && held + bytes > MAX_LINE_BYTES) {
                held -= view.settle(under_way.next().await)?;
            }
            under_way.push_back(self.take(number, bytes, memory, import));
            held += bytes;
        };
        while !under_way.is_empty() {
            view.settle(under_way.next().await)?;
        }
        read?;
        if !begun {
            return Err(ApiError::invalid("body", "must be an export, but is empty"));
        }
        if bare
            && view.written > 0
            && let Err(error) = self.capture.make_vectors().await
        {
            tracing::warn!(%error, "imported memories without vectors are embedded with a delay");
        }
        Ok(())
    }

    /// Stores a memory.
    async fn take(
        &self,
        line: u64,
        bytes: usize,
        memory: Result<Box<Whole>, Refused>,
        import: &Import,
    ) -> Taken {
        let done = match memory {
            Ok(whole) => {
                let kind = whole.memory.memory_type.clone();
                let marked = (!import.trust.sources).then(|| whole.memory.clone());
                let mut done = self.store.restore(*whole, &import.write).await;
                if matches!(done, Ok(Restored::Written)) {
                    self.metrics.stored(kind.as_str());
                }
                let differs = matches!(done, Ok(Restored::Differs));
                if let Some(marked) = marked
                    && differs
                    && self.is_of_own_export(&marked).await
                {
                    done = Ok(Restored::Same);
                }
                refused(done)
            }
            Err(refused) => Ok(Err(refused)),
        };
        Taken { line, bytes, done }
    }

    /// Whether a user brings a memory that they still have: only its stored source is another one than the mark.
    async fn is_of_own_export(&self, marked: &Memory) -> bool {
        let stored = self.store.get(&marked.owner, &marked.id, self.clock.now()).await;
        stored.is_ok_and(|stored| source::differs_only_by_mark(marked, &stored))
    }
}

/// The result of a line.
struct Taken {
    line: u64,
    bytes: usize,
    done: Result<Result<Restored, Refused>, StoreError>,
}

/// A rejection by the store is an error of the line; other failures are not.
fn refused(done: Result<Restored, StoreError>) -> Result<Result<Restored, Refused>, StoreError> {
    match done {
        Ok(restored) => Ok(Ok(restored)),
        Err(StoreError::Invalid { field: field @ ("history" | "vectors"), cause }) => {
            Ok(Err(Refused::new(field, cause)))
        }
        Err(StoreError::Invalid { field, cause }) => {
            Ok(Err(Refused::new(&format!("memory.{field}"), cause)))
        }
        Err(error) => Err(error),
    }
}

/// State of an import.
struct Import {
    owner: Option<Owner>,
    orders: OrdersToModel,
    config: Arc<Config>,
    texts: TextWork,
    trust: Trust,
    clock: Clock,
    write: Write,
}

impl Import {
    /// Parses and checks a line on a blocking thread, because it may be long. A panic refuses the line.
    async fn read(&self, raw: Raw, begun: bool) -> Result<Result<Line, Refused>, ApiError> {
        let Raw::Line(bytes) = raw else {
            let cause = format!("must have at most {MAX_LINE_BYTES} bytes");
            return Ok(Err(Refused { field: None, cause }));
        };
        let (owner, config, orders) = (self.owner.clone(), self.config.clone(), self.orders);
        let (trust, now) = (self.trust, self.clock.now());
        let read = move || match Line::read(&bytes)? {
            header @ Line::Header(_) => Ok(header),
            _ if !begun => Err(Refused::new("export", "must come first")),
            Line::Memory(mut whole) => {
                admit(&mut whole, owner.as_ref(), &config, orders, trust, now)?;
                Ok(Line::Memory(whole))
            }
            other => Ok(other),
        };
        let read = self.texts.within(PATIENCE, PanicIn::Import, read).await?;
        Ok(read.unwrap_or_else(|| {
            let cause = "cannot be checked because of a bug in memgate; its log has the place";
            Err(Refused { field: None, cause: cause.to_owned() })
        }))
    }
}

impl ImportedView {
    /// Counts the result of the next line; returns the number of bytes it held.
    fn settle(&mut self, taken: Option<Taken>) -> Result<usize, ApiError> {
        let Some(Taken { line, bytes, done }) = taken else { return Ok(0) };
        match done.map_err(|error| stopped(line, error))? {
            Ok(Restored::Written) => self.written += 1,
            Ok(Restored::Same) => self.same += 1,
            Ok(Restored::Differs) => {
                self.differs += 1;
                let cause = "is already the id of another memory of this user, which is kept";
                self.tell(line, Refused::new("memory.id", cause));
            }
            Err(refused) => {
                self.refused += 1;
                self.tell(line, refused);
            }
        }
        Ok(bytes)
    }

    fn tell(&mut self, line: u64, Refused { field, cause }: Refused) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(ProblemView { line, field, cause });
        }
    }
}

async fn next<R: AsyncBufRead + Unpin>(
    lines: &mut Lines<R>,
) -> Result<Option<(u64, Raw)>, ApiError> {
    match timeout(PATIENCE, lines.next()).await {
        Ok(Ok(line)) => Ok(line),
        Ok(Err(_)) => {
            let message = "the body could not be read completely; the lines before are imported";
            Err(ApiError::new(StatusCode::BAD_REQUEST, "unreadable", message))
        }
        Err(_) => {
            let message = format!(
                "no line for {} seconds; the lines before are imported",
                PATIENCE.as_secs()
            );
            Err(ApiError::new(StatusCode::REQUEST_TIMEOUT, "timeout", message))
        }
    }
}

/// The import stops because of the store.
fn stopped(line: u64, error: StoreError) -> ApiError {
    let error = ApiError::from(error);
    let message = format!("line {line}: {}; the lines before are imported", error.message);
    ApiError { message, ..error }
}
