//! Vectors that stored memories are missing: owed as a job, and made.

use std::{collections::HashSet, time::Duration};

use crate::{
    journal::{self, Journal},
    settings::AnonymousBounds,
    writer::{MemoryWriter, Tools},
};
use memgate_core::memory::{Memory, MemoryId, Owner};
use memgate_sqlite::DatabaseError;

/// The pause while the embedder or the store fails.
pub(super) const EMBED_REST: Duration = Duration::from_secs(10);

/// Schedules the job that makes missing vectors, after a pause.
pub(super) async fn owe_vectors(journal: &Journal, pause: Duration) -> Result<(), DatabaseError> {
    let now = journal.now();
    journal.write(move |c| journal::ask_for_vectors(c, now, pause)).await
}

/// Gives at most `most` memories their missing vectors, except those in `passed_over`, to which
/// memories are added whose text the model cannot embed. Returns how many got vectors, or why it
/// failed.
pub(super) async fn embed_missing(
    writer: &MemoryWriter,
    most: usize,
    passed_over: &mut HashSet<(Owner, MemoryId)>,
) -> Result<usize, String> {
    let space = writer.embedder.space().id();
    let missing = writer.store.unembedded(&space, most + passed_over.len()).await;
    let mut missing = missing.map_err(|error| error.to_string())?;
    missing.retain(|memory| !passed_over.contains(&key(memory)));
    if missing.is_empty() {
        return Ok(0);
    }
    // In one go: on a server that is one request.
    let parts: Vec<Vec<String>> = missing.iter().map(Memory::passages).collect();
    let together = writer.embedder.embed_passages(parts.concat()).await;
    let mut together = match together {
        Ok(vectors) => Some(vectors.into_iter()),
        Err(error) if error.may_be_the_text() => None,
        Err(error) => return Err(error.to_string()),
    };
    let mut embedded = 0;
    for (memory, parts) in missing.iter().zip(parts) {
        let vectors = match &mut together {
            Some(vectors) => Ok(vectors.take(parts.len()).collect()),
            None => writer.embedder.embed_passages(parts).await,
        };
        match vectors {
            Ok(vectors) => {
                let vectors = writer.in_space(vectors);
                let given =
                    writer.store.embed(&memory.owner, &memory.id, memory.version, vectors).await;
                given.map_err(|error| error.to_string())?;
                embedded += 1;
            }
            Err(error) if error.may_be_the_text() => {
                tracing::debug!(%error, "a memory goes on without vectors");
                passed_over.insert(key(memory));
            }
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(embedded)
}

fn key(memory: &Memory) -> (Owner, MemoryId) {
    (memory.owner.clone(), memory.id.clone())
}

/// Gives memories their missing vectors, step by step, while a caller waits.
pub struct Backfill {
    writer: MemoryWriter,
    passed_over: HashSet<(Owner, MemoryId)>,
}

impl Backfill {
    /// With this store and this model.
    #[must_use]
    pub fn new(tools: Tools) -> Self {
        Self {
            writer: MemoryWriter::new(tools, AnonymousBounds::default()),
            passed_over: HashSet::new(),
        }
    }

    /// At most `most` memories, the oldest first. Returns how many got vectors, 0 at the end.
    ///
    /// # Errors
    /// Why store or model failed.
    pub async fn step(&mut self, most: usize) -> Result<usize, String> {
        loop {
            let before = self.passed_over.len();
            let embedded = embed_missing(&self.writer, most, &mut self.passed_over).await?;
            // Else none of these can be embedded, and there may be others.
            if embedded > 0 || self.passed_over.len() == before {
                return Ok(embedded);
            }
        }
    }

    /// How many have texts that the model cannot embed.
    #[must_use]
    pub fn passed_over(&self) -> usize {
        self.passed_over.len()
    }
}
