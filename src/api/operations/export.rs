//! Everything a user has, or everybody, as lines that import reads.

use jiff::Timestamp;
use tokio::task::spawn_blocking;

use super::Operations;
use crate::{
    api::{ApiError, ExportAllRequest, ExportRequest, requests::owner},
    memory::{Owner, Scan, Status},
    transfer::{FORMAT, Header, Line},
};

/// Memories that are read at a time, where the caller names no number.
const PIECE: usize = 200;
/// The most that are read at a time.
const MAX_PIECE: usize = 1000;

/// What is to be exported.
#[derive(Clone)]
pub struct Export {
    owner: Option<Owner>,
    after: Option<String>,
    limit: usize,
    vectors: bool,
}

/// Some lines of an export.
pub struct Piece {
    /// Whole lines.
    pub lines: Vec<u8>,
    /// What is still to be exported.
    pub rest: Option<Export>,
}

impl Export {
    /// One user's.
    ///
    /// # Errors
    /// 400 for a bad field.
    pub fn of(request: &ExportRequest) -> Result<Self, ApiError> {
        let owner = owner(&request.user_id, request.tenant_id.as_deref())?;
        let all = ExportAllRequest {
            after: request.after.clone(),
            limit: request.limit,
            vectors: request.vectors,
        };
        Ok(Self { owner: Some(owner), ..Self::of_everybody(&all)? })
    }

    /// Everybody's, for operators.
    ///
    /// # Errors
    /// 400 for a bad field.
    pub fn of_everybody(request: &ExportAllRequest) -> Result<Self, ApiError> {
        let limit = request.limit.unwrap_or(PIECE);
        if !(1..=MAX_PIECE).contains(&limit) {
            let cause = format!("must be between 1 and {MAX_PIECE}");
            return Err(ApiError::invalid("limit", cause));
        }
        let (after, vectors) = (request.after.clone(), request.vectors.unwrap_or(true));
        Ok(Self { owner: None, after, limit, vectors })
    }

    /// The line that an answer begins with.
    ///
    /// # Errors
    /// Only what cannot happen: that it is no JSON.
    pub fn header(&self) -> Result<Vec<u8>, ApiError> {
        let header = Header {
            format: FORMAT,
            owner: self.owner.clone(),
            vectors: self.vectors,
            exported_at: Timestamp::now(),
        };
        lines([Line::Header(header)])
    }
}

impl Operations {
    /// The next lines of an export, and a line that tells where the rest begins or that there is none.
    ///
    /// # Errors
    /// 400 when `after` is no place of this export, 503 while the store does not work.
    pub async fn export(&self, export: Export) -> Result<Piece, ApiError> {
        let Export { owner, after, limit, vectors } = &export;
        let Scan { found, next } =
            self.store.scan(owner.as_ref(), after.as_deref(), *limit).await?;
        let (vectors, mark) = (*vectors, next.clone());
        let write = move || {
            // What is forgotten is on its way out: nothing elsewhere would ever erase it.
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
