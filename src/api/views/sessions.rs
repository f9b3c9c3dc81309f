//! The turns of a session as JSON.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::api::MemoryView;
use memgate_capture::TurnRow;
use memgate_core::memory::Memory;

/// A page of a session's turns, the latest first. Turns that the journal no longer holds are absent.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SessionTurnsView {
    /// The turns.
    pub turns: Vec<SessionTurnView>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// A turn with what was learned from it.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SessionTurnView {
    /// Its id.
    pub id: String,
    /// The id of its first request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// When it began.
    pub at: Timestamp,
    /// Its project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// Its agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Who said it, where that was another person than the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// The user's words, without what the screening removes.
    pub user: String,
    /// The assistant's words, likewise.
    pub assistant: String,
    /// The memories that were first taken from it, of any status.
    pub learned: Vec<MemoryView>,
}

impl SessionTurnsView {
    pub(in crate::api) fn of(
        turns: Vec<TurnRow>,
        next_cursor: Option<String>,
        learned: impl Fn(&TurnRow) -> Vec<Memory>,
    ) -> Self {
        let view = |turn: TurnRow| SessionTurnView {
            learned: learned(&turn).into_iter().map(MemoryView::from).collect(),
            id: turn.id,
            request_id: turn.request_id,
            at: turn.began_at,
            project_id: turn.project_id,
            agent_id: turn.agent_id,
            speaker: turn.speaker,
            user: turn.user_text,
            assistant: turn.reply_text,
        };
        Self { turns: turns.into_iter().map(view).collect(), next_cursor }
    }
}
