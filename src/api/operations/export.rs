//! Exports the memories of one user or of all users.

use jiff::Timestamp;
use tokio::task::spawn_blocking;

use crate::api::{
    ApiError, Caller,
    operations::Operations,
    read::requests::{ExportAllRequest, ExportRequest},
};
use memgate_core::memory::{Owner, Scan, Status};
use memgate_store::transfer::{FORMAT, Header, Line};

/// Number of memories read at a time, if the caller sets no limit.
const PIECE: usize = 200;
/// Maximum number of memories read at a time.
const MAX_PIECE: usize = 1000;

/// An export in progress.
#[derive(Clone)]
pub struct Export {
    owner: Option<Owner>,
    after: Option<String>,
    limit: usize,
    vectors: bool,
}

/// A piece of an export.
pub struct Piece {
    /// Complete lines.
    pub lines: Vec<u8>,
    /// The rest of the export, if there is any.
    pub rest: Option<Export>,
}

impl Export {
    /// An export of one user.
    ///
    /// # Errors
    /// 400 for an invalid field.
    pub fn of(caller: &Caller, request: &ExportRequest) -> Result<Self, ApiError> {
        let owner = caller.owner(&request.whose)?;
        Ok(Self { owner: Some(owner), ..Self::of_everybody(&request.all)? })
    }

    /// An export of all users, for operators.
    ///
    /// # Errors
    /// 400 for an invalid field.
    pub fn of_everybody(request: &ExportAllRequest) -> Result<Self, ApiError> {
        let limit = request.limit.unwrap_or(PIECE);
        if !(1..=MAX_PIECE).contains(&limit) {
            let cause = format!("must be between 1 and {MAX_PIECE}");
            return Err(ApiError::invalid("limit", cause));
        }
        let (after, vectors) = (request.after.clone(), request.vectors.unwrap_or(true));
        Ok(Self { owner: None, after, limit, vectors })
    }

    /// The header line of a response.
    ///
    /// # Errors
    /// A failure of the JSON writer, which does not occur.
    pub fn header(&self, exported_at: Timestamp) -> Result<Vec<u8>, ApiError> {
        let header = Header {
            format: FORMAT,
            owner: self.owner.clone(),
            vectors: self.vectors,
            exported_at,
        };
        lines([Line::Header(header)])
    }
}

impl Operations {
    /// The next lines of an export, followed by a mark, or by `end` if it is complete.
    ///
    /// # Errors
    /// 400 when `after` is not a mark of this export, 503 while the store is unavailable.
    pub async fn export(&self, export: Export) -> Result<Piece, ApiError> {
        let Export { owner, after, limit, vectors } = &export;
        let Scan { found, next } =
            self.store.scan(owner.as_ref(), after.as_deref(), *limit).await?;
        let (vectors, mark) = (*vectors, next.clone());
        let write = move || {
            // Memories being forgotten are left out: no other memgate would ever erase them.
            let kept = found.into_iter().filter(|it| it.memory.status != Status::Forgotten);
            let memories = kept.map(|mut whole| {
                if !vectors {
                    whole.vectors.clear();
                }
                Line::Memory(Box::new(whole))
            });
            lines(memories.chain([mark.map_or(Line::End, Line::Mark)]))
        };
        let lines = spawn_blocking(write).await.map_err(|_| ApiError::interrupted())??;
        Ok(Piece { lines, rest: next.map(|next| Export { after: Some(next), ..export }) })
    }
}

fn lines(all: impl IntoIterator<Item = Line>) -> Result<Vec<u8>, ApiError> {
    let mut bytes = Vec::new();
    for line in all {
        line.write(&mut bytes).map_err(|_| ApiError::interrupted())?;
    }
    Ok(bytes)
}
