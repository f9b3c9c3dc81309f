//! The user's messages that a request does not hold because the model server keeps the conversation. The journal lends
//! them.

use tokio::time::Instant;

use crate::gateway::request::RequestHead;
use memgate_capture::{Capture, SessionKey};
use memgate_core::memory::Owner;
use memgate_dialect::Ask;

/// Turns of a conversation that the journal lends.
const LENT_TURNS: usize = 3;
/// The part of the time left in which a chain's last turn may still reach the journal.
const LENDING_SHARE: u32 = 4;

/// The user's last messages before this request, oldest first; none where the request holds the conversation itself.
pub(super) async fn lent(
    capture: &Capture,
    head: &RequestHead,
    ask: &Ask,
    owner: &Owner,
    deadline: Instant,
) -> Vec<String> {
    let patience = deadline.saturating_duration_since(Instant::now()) / LENDING_SHARE;
    let turns = if let Some(id) = &ask.previous_response_id {
        capture.chain_turns(owner, id, LENT_TURNS, head.request_id(), patience).await
    } else if ask.conversation.is_some() && ask.user_text.is_some() {
        // Only with a message of the user: the conversation does not say which turn a tool's result belongs to.
        let session = SessionKey::of(head.headers().text("x-session-id"), ask, owner);
        capture.session_turns(owner, &session, LENT_TURNS, patience).await
    } else {
        Vec::new()
    };
    turns.into_iter().map(|turn| turn.user_text).collect()
}
