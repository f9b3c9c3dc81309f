//! Extends Envoy's `message_timeout` while the rewrite model runs.

use std::time::Duration;

use tokio::sync::mpsc;

use crate::gateway::replies::{self, Answered};

/// Time for Envoy to receive a finished answer and for memgate to splice it: the difference between
/// the default deadline and `message_timeout` in the configurations in envoy/.
const MARGIN: Duration = Duration::from_millis(200);

/// Sends extension requests to Envoy, separate from the answer of a message.
#[derive(Clone, Copy, Default)]
pub(super) struct TimeoutExtension<'a>(Option<&'a mpsc::Sender<Answered>>);

impl<'a> TimeoutExtension<'a> {
    /// Uses the channel of answers.
    pub(super) fn new(answers: &'a mpsc::Sender<Answered>) -> Self {
        Self(Some(answers))
    }

    /// Asks Envoy to wait this long from now; at most once per message. Returns false if Envoy
    /// cannot be asked. Envoy does not confirm: it needs a `max_message_timeout` of at least this,
    /// else its timeout stays as it was.
    pub(super) fn request(self, longer: Duration) -> bool {
        let request = replies::more_time(longer + MARGIN);
        self.0.is_some_and(|answers| answers.try_send(Ok(request)).is_ok())
    }
}
