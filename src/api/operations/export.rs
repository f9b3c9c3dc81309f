//! Exports the memories of one user or of all users.

use futures_util::stream::{self, StreamExt};
use tokio::task::spawn_blocking;

use crate::api::{
    ApiError, Caller, ExportAllRequest, ExportRequest, LineStream, operations::Operations,
};
use memgate_core::memory::{Owner, Scan, Space, Status, Whole};
use memgate_store::transfer::{FORMAT, Header, Line};

/// Number of memories read at a time, if the caller sets no limit.
const PIECE: usize = 200;
/// Maximum number of memories read at a time.
const MAX_PIECE: usize = 1000;

/// An export in progress.
struct Export {
    owner: Option<Owner>,
    after: Option<String>,
    limit: usize,
    vectors: bool,
}

impl Operations {
    /// Exports a user's memories. With a limit there is one piece, which ends with a mark.
    ///
    /// # Errors
    /// 400 for an invalid field, and when `after` is not a mark of this export; 503 while the store is unavailable.
    pub async fn export(
        &self,
        caller: &Caller,
        request: ExportRequest,
    ) -> Result<LineStream, ApiError> {
        self.export_of(Some(caller.owner(&request.whose)?), request.all).await
    }

    /// Exports the memories of all users, for operators.
    ///
    /// # Errors
    /// As [`Operations::export`].
    pub async fn export_all(
        &self,
        _: &Caller,
        request: ExportAllRequest,
    ) -> Result<LineStream, ApiError> {
        self.export_of(None, request).await
    }

    /// A failure before the first line is an error; a later one ends the stream early, without its last line.
    async fn export_of(
        &self,
        owner: Option<Owner>,
        ExportAllRequest { after, limit, vectors }: ExportAllRequest,
    ) -> Result<LineStream, ApiError> {
        let once = limit.is_some();
        let limit = limit.unwrap_or(PIECE);
        if !(1..=MAX_PIECE).contains(&limit) {
            let cause = format!("must be between 1 and {MAX_PIECE}");
            return Err(ApiError::invalid("limit", cause));
        }
        let export = Export { owner, after, limit, vectors: vectors.unwrap_or(true) };
        let header = Header {
            format: FORMAT,
            owner: export.owner.clone(),
            vectors: export.vectors,
            exported_at: self.clock.now(),
        };
        let mut first = lines([Line::Header(header)])?;
        let (piece, rest) = self.piece(export).await?;
        first.extend(piece);
        let state = (self.clone(), rest.filter(|_| !once));
        let pieces = stream::try_unfold(state, async |(operations, rest)| {
            let Some(export) = rest else { return Ok::<_, ApiError>(None) };
            let (piece, rest) = operations.piece(export).await.inspect_err(|error| {
                tracing::warn!(%error, "an export was interrupted");
            })?;
            Ok(Some((piece, (operations, rest))))
        });
        Ok(LineStream(Box::pin(stream::once(async { Ok(first) }).chain(pieces))))
    }

    /// The next lines, followed by a mark, or by `end` if there is no rest.
    async fn piece(&self, export: Export) -> Result<(Vec<u8>, Option<Export>), ApiError> {
        let Export { owner, after, limit, vectors } = &export;
        let Scan { found, next } =
            self.store.scan(owner.as_ref(), after.as_deref(), *limit).await?;
        let (vectors, mark) = (*vectors, next.clone());
        let write = move || {
            // Memories being forgotten, and of sessions without a user, are left out: no other memgate would ever erase them.
            let is_kept = |Whole { memory, .. }: &Whole| {
                memory.status != Status::Forgotten
                    && !matches!(memory.owner.space(), Space::Session(_))
            };
            let memories = found.into_iter().filter(is_kept).map(|mut whole| {
                if !vectors {
                    whole.vectors.clear();
                }
                Line::Memory(Box::new(whole))
            });
            lines(memories.chain([mark.map_or(Line::End, Line::Mark)]))
        };
        let lines = spawn_blocking(write).await.map_err(|_| ApiError::interrupted())??;
        Ok((lines, next.map(|next| Export { after: Some(next), ..export })))
    }
}

fn lines(all: impl IntoIterator<Item = Line>) -> Result<Vec<u8>, ApiError> {
    let mut bytes = Vec::new();
    for line in all {
        line.write(&mut bytes).map_err(|_| ApiError::interrupted())?;
    }
    Ok(bytes)
}
