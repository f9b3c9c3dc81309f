//! Who changes a memory, why, and for which request: every change says so.

/// Who changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Actor {
    /// Learning from a conversation.
    Capture,
    /// The REST API or the command line.
    Api,
    /// Scheduled work.
    Upkeep,
}

impl Actor {
    /// The name kept in the history.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The circumstances of a change, kept with the version it makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// Who.
    pub actor: Actor,
    /// Why, in a word or two of ours; never content.
    pub reason: &'static str,
    /// For which request, where there was one.
    pub request_id: Option<String>,
}

impl Write {
    /// A change for no particular request.
    #[must_use]
    pub fn by(actor: Actor, reason: &'static str) -> Self {
        Self { actor, reason, request_id: None }
    }

    /// Says in the log that memories were removed, by whom and why; never whose or which.
    pub fn told(&self, removed: u64) {
        let request_id = self.request_id.as_deref();
        let (actor, reason) = (self.actor.name(), self.reason);
        tracing::debug!(actor, reason, request_id, removed, "forgot");
    }
}
