//! Wishes about every answer that a caller of the API writes.

use jiff::Timestamp;

use crate::api::{
    ApiError, Caller, WishView,
    operations::{Operations, write, write::standing},
};
use memgate_access::{Action, Subject};
use memgate_capture::{OrdersToModel, admit_memory, standing_of};
use memgate_core::memory::{Memory, MemoryId, MemoryType, Owner, Source, Status};
use memgate_screening::{MAX_MESSAGE_BYTES, Screener};
use memgate_text::normal::plain;

/// The states of a memory that holds.
pub(super) const IN_USE: [Status; 2] = [Status::Active, Status::Review];

/// The wishes about every answer among memories that hold now, newest first.
pub(super) fn in_force(memories: &[Memory], now: Timestamp) -> Vec<&Memory> {
    let holds = |memory: &&Memory| {
        memory.is_wish_for_every_answer() && memory.valid_until.is_none_or(|until| until > now)
    };
    let mut found: Vec<&Memory> = memories.iter().filter(holds).collect();
    found.sort_by_key(|memory| std::cmp::Reverse(memory.preference_said_at()));
    found
}

impl Operations {
    /// Stores a wish about every answer. One in the same words that holds in this project is answered instead.
    pub(super) async fn set_wish(
        &self,
        caller: &Caller,
        owner: Owner,
        words: &str,
        project_id: Option<String>,
    ) -> Result<WishView, ApiError> {
        let now = self.clock.now();
        let kind = MemoryType::new(MemoryType::PROCEDURAL);
        let (id, source) = (MemoryId::fresh(), Source::ExternalData);
        let mut memory = Memory::new(id, owner, kind, words.trim(), source, now);
        memory.project_id = project_id;
        memory.valid_from = Some(now);
        let (screener, bytes) = (self.screener(), memory.content.len());
        let memory = self.texts.run(bytes, move || admitted(screener, memory)).await??;
        let (store, project) = (self.store.as_ref(), memory.project_id.as_deref());
        let known = standing_of(store, &memory.owner, project, &IN_USE, now).await?;
        let same = |known: &&&Memory| plain(&known.content) == plain(&memory.content);
        if let Some(known) = in_force(&known, now).iter().find(same) {
            return Ok(WishView::of(known));
        }
        let vectors = self.vectors(memory.passages()).await;
        let whole = !vectors.is_empty();
        let stored = store.store(memory, vectors, &write("wish", caller)).await?;
        self.metrics.stored(stored.memory_type.as_str());
        self.owe_vectors(whole).await;
        self.recall.tool_loops().forget(&stored.owner);
        let subject = Subject::of(&stored.owner).target(&stored.id).count(1);
        self.record(caller, Action::MemoryCreate, subject).await;
        Ok(WishView::of(&stored))
    }
}

/// A wish as it may be stored.
fn admitted(screener: Screener, mut memory: Memory) -> Result<Memory, ApiError> {
    admit_memory(screener, &mut memory, MAX_MESSAGE_BYTES, OrdersToModel::Refuse).map_err(
        |why| {
            let field = if why.field() == "content" { "wish" } else { why.field() };
            ApiError::invalid(field, why.cause())
        },
    )?;
    standing::checked("wish", &memory.content)?;
    memory.set_wish_for_every_answer();
    Ok(memory)
}
