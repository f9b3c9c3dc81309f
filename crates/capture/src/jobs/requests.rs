//! Requests to forget in free words, which the models notice once a turn is read.

use rusqlite::Connection;

use crate::{
    error::JobError,
    forget::meant,
    journal::{self, ForgetOrder},
    parts::Parts,
    turn::StoredTurn,
};

/// Owes what the requests of a turn mean. False where they mean nothing that is stored: then it is a turn like any other.
pub(crate) async fn owe_what_is_meant(
    parts: &Parts,
    number: i64,
    turn: &StoredTurn,
    requests: Vec<String>,
) -> Result<bool, JobError> {
    let (owner, now) = (turn.owner.clone(), parts.journal.now());
    if meant(parts, &owner, &requests).await?.is_empty() {
        return Ok(false);
    }
    let order = ForgetOrder { forget: Vec::new(), requests, asked_at: turn.began.as_millisecond() };
    let owe = move |c: &Connection| journal::owe_forgetting(c, number, &owner, &order, now);
    parts.journal.write(owe).await?;
    parts.wake.notify_one();
    Ok(true)
}
