//! Reads one memory, alone or with all that is known of it, and counts memories.

mod count;
mod history;

use std::collections::HashSet;

use crate::api::{
    ApiError, Caller, MemoryView, RecordView, SaidView, Tagged, Whose, WithId,
    operations::Operations,
};
use memgate_core::memory::{Memory, MemoryId, Status};

impl Operations {
    /// One memory, with any status.
    ///
    /// # Errors
    /// 404 when the user has no memory with this id.
    pub async fn one(
        &self,
        caller: &Caller,
        WithId { id, request: whose }: WithId<Whose>,
    ) -> Result<Tagged<MemoryView>, ApiError> {
        let id = MemoryId::from_outside(&id);
        Ok(self.store.get(&caller.owner(&whose)?, &id, self.clock.now()).await?.into())
    }

    /// One memory with all that is known of it: its links, the words that it was made of as far as the journal holds them, and
    /// its embedding spaces.
    ///
    /// # Errors
    /// 404 when the user has no memory with this id, 503 while store or journal are unavailable.
    pub async fn record_of(
        &self,
        caller: &Caller,
        WithId { id, request: whose }: WithId<Whose>,
    ) -> Result<Tagged<RecordView>, ApiError> {
        let owner = caller.owner(&whose)?;
        let id = MemoryId::from_outside(&id);
        let memory = self.store.get(&owner, &id, self.clock.now()).await?;
        let mut said: Vec<SaidView> = memory.occurrences().map(SaidView::from).collect();
        let hidden = match memory.status {
            // Its own words are those that are asked for.
            Status::Forgotten => HashSet::new(),
            _ => self.hidden_turns(&owner).await?,
        };
        let shown = said.iter().filter(|said| !hidden.contains(&said.id));
        let turns = shown.map(|said| said.id.clone()).collect();
        for turn in self.capture.turns_of_ids(&owner, turns).await? {
            for said in said.iter_mut().filter(|said| said.id == turn.id) {
                said.user = Some(turn.user_text.clone());
                said.assistant = Some(turn.reply_text.clone());
            }
        }
        let spaces = self.store.spaces(&owner, &id).await?;
        Ok(Tagged { version: memory.version, value: RecordView::of(memory, said, spaces) })
    }
}

impl From<Memory> for Tagged<MemoryView> {
    fn from(memory: Memory) -> Self {
        Self { version: memory.version, value: memory.into() }
    }
}
