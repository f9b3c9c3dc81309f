//! Bringing in what was exported. A line that cannot be taken is told and left out; what the store
//! cannot do ends the import, which then may be repeated: what is there already is passed over.

mod admit;

use std::{sync::Arc, time::Duration};

use axum::http::StatusCode;
use tokio::{io::AsyncBufRead, task::spawn_blocking, time::timeout};

use self::admit::{Refused, admit};
use super::{Operations, write};
use crate::{
    api::{ApiError, ImportedView, ProblemView},
    config::Config,
    memory::{Owner, Restored, StoreError, Whole, Write},
    transfer::{Line, Lines, MAX_LINE_BYTES, Raw},
};

/// How long the next line may take to come.
const PATIENCE: Duration = Duration::from_secs(60);
/// The most lines that an answer tells of.
const MAX_PROBLEMS: usize = 100;

impl Operations {
    /// Takes the memories of an export that are `owner`'s, or with `None`, for operators, everybody's.
    ///
    /// # Errors
    /// 400 when it is no export, 408 when it stops coming, 503 while the store does not work.
    pub async fn import(
        &self,
        owner: Option<Owner>,
        from: impl AsyncBufRead + Unpin,
        request_id: Option<String>,
    ) -> Result<ImportedView, ApiError> {
        let import =
            Import { owner, config: self.config.get(), write: write("imported", request_id) };
        let mut lines = Lines::new(from);
        let mut view = ImportedView::default();
        let (mut begun, mut bare) = (false, false);
        let space = self.embedder.space().id();
        while let Some((number, raw)) = next(&mut lines).await? {
            match import.read(raw, begun).await? {
                Ok(Line::Header(_)) => (begun, view.complete) = (true, false),
                Ok(Line::Mark(_)) => {}
                Ok(Line::End) => view.complete = true,
                Ok(Line::Memory(whole)) => {
                    bare |= !whole.vectors.iter().any(|vector| *vector.space == *space);
                    let done = self.take(*whole, &import.write).await;
                    view.count(number, done.map_err(|error| stopped(number, error))?);
                }
                Err(refused) if !begun || refused.is_of_header() => {
                    return Err(ApiError::invalid(&format!("line {number}"), refused));
                }
                Err(refused) => view.refuse(number, refused),
            }
        }
        if !begun {
            return Err(ApiError::invalid("body", "must be an export; it is empty"));
        }
        if bare
            && view.written > 0
            && let Err(error) = self.capture.make_vectors().await
        {
            tracing::warn!(%error, "vectors of imported memories are made later than could be");
        }
        Ok(view)
    }

    async fn take(
        &self,
        whole: Whole,
        write: &Write,
    ) -> Result<Result<Restored, Refused>, StoreError> {
        let kind = whole.memory.memory_type.clone();
        match self.store.restore(whole, write).await {
            Ok(restored) => {
                if restored == Restored::Written {
                    self.metrics.stored(kind.as_str());
                }
                Ok(Ok(restored))
            }
            Err(StoreError::Invalid { field: field @ ("history" | "vectors"), cause }) => {
                Ok(Err(Refused::new(field, cause)))
            }
            Err(StoreError::Invalid { field, cause }) => {
                Ok(Err(Refused::new(&format!("memory.{field}"), cause)))
            }
            Err(error) => Err(error),
        }
    }
}

/// What all lines of an import have in common.
struct Import {
    owner: Option<Owner>,
    config: Arc<Config>,
    write: Write,
}

impl Import {
    /// Reads a line and checks it, off the runtime: it may be long.
    async fn read(&self, raw: Raw, begun: bool) -> Result<Result<Line, Refused>, ApiError> {
        let Raw::Line(bytes) = raw else {
            let cause = format!("must have at most {MAX_LINE_BYTES} bytes");
            return Ok(Err(Refused { field: None, cause }));
        };
        let (owner, config) = (self.owner.clone(), self.config.clone());
        let read = move || match Line::read(&bytes)? {
            header @ Line::Header(_) => Ok(header),
            _ if !begun => Err(Refused::new("export", "must come first: it tells the format")),
            Line::Memory(mut whole) => {
                admit(&mut whole, owner.as_ref(), &config)?;
                Ok(Line::Memory(whole))
            }
            other => Ok(other),
        };
        spawn_blocking(read).await.map_err(|_| ApiError::interrupted())
    }
}

impl ImportedView {
    fn count(&mut self, line: u64, done: Result<Restored, Refused>) {
        match done {
            Ok(Restored::Written) => self.written += 1,
            Ok(Restored::Same) => self.same += 1,
            Ok(Restored::Differs) => {
                self.differs += 1;
                let cause = "is the id of another memory of this user, which was left as it is";
                self.tell(line, Refused::new("memory.id", cause));
            }
            Err(refused) => self.refuse(line, refused),
        }
    }

    fn refuse(&mut self, line: u64, refused: Refused) {
        self.refused += 1;
        self.tell(line, refused);
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
            let message = "the body could not be read to its end; what came before is imported";
            Err(ApiError::new(StatusCode::BAD_REQUEST, "unreadable", message))
        }
        Err(_) => {
            let message = format!(
                "no line came for {} seconds; what came before is imported",
                PATIENCE.as_secs()
            );
            Err(ApiError::new(StatusCode::REQUEST_TIMEOUT, "timeout", message))
        }
    }
}

/// The store does not go on.
fn stopped(line: u64, error: StoreError) -> ApiError {
    let error = ApiError::from(error);
    let message = format!("line {line}: {}; what stands before it is imported", error.message);
    ApiError { message, ..error }
}
