//! Storing a memory once however often the request is sent. The memory's id is derived from the key and the day, so no other
//! record is kept, any instance knows it, and the key is free again after two days or once the memory is deleted.

use axum::http::StatusCode;
use jiff::Timestamp;

use crate::api::{ApiError, IdempotencyKey, operations::Operations};
use memgate_core::memory::{Memory, MemoryId, Owner, StoreError};

/// A key is good for this long and, depending on the time of day, for as long again, in seconds.
const PERIOD: i64 = 24 * 60 * 60;

/// The id of a memory that is stored now with this key.
pub(super) fn id(owner: &Owner, key: &IdempotencyKey, now: Timestamp) -> MemoryId {
    of_period(owner, key, now.as_second() / PERIOD)
}

fn of_period(owner: &Owner, key: &IdempotencyKey, period: i64) -> MemoryId {
    MemoryId::derived(&["idempotency", &owner.key(), key.as_str(), &period.to_string()])
}

impl Operations {
    /// The memory that was stored with this key, in this period or the one before.
    ///
    /// # Errors
    /// 422 when it was another memory, 503 while the store is unavailable.
    pub(super) async fn stored_before(
        &self,
        key: &IdempotencyKey,
        memory: &Memory,
        now: Timestamp,
    ) -> Result<Option<Memory>, ApiError> {
        let period = now.as_second() / PERIOD;
        for period in [period, period - 1] {
            let id = of_period(&memory.owner, key, period);
            let versions = match self.store.history(&memory.owner, &id).await {
                Err(StoreError::NotFound) => continue,
                versions => versions?,
            };
            if !versions.last().is_some_and(|first| is_same(first, memory)) {
                let message = "Idempotency-Key: was sent with another memory";
                return Err(ApiError {
                    param: Some("Idempotency-Key".to_owned()),
                    ..ApiError::new(
                        StatusCode::UNPROCESSABLE_ENTITY,
                        "idempotency_key_reused",
                        message,
                    )
                });
            }
            return Ok(versions.into_iter().next());
        }
        Ok(None)
    }
}

/// Whether two memories say the same in the same place.
fn is_same(a: &Memory, b: &Memory) -> bool {
    (&a.content, &a.memory_type, &a.project_id, &a.agent_id, &a.session_id, &a.visibility)
        == (&b.content, &b.memory_type, &b.project_id, &b.agent_id, &b.session_id, &b.visibility)
}
