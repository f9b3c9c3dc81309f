//! Extends Envoy's `message_timeout` while the rewrite model runs.

use std::time::Duration;

use tokio::sync::mpsc;

use super::replies;
use crate::gateway::service::Answered;

/// What Envoy is given to take an answer that is ready, and memgate to splice it: as much as lies between the
/// default deadline and `message_timeout` of the Envoy configurations in envoy/.
const MARGIN: Duration = Duration::from_millis(200);

/// Sends Envoy a request for more time, ahead of the answer to one message.
#[derive(Clone, Copy, Default)]
pub(super) struct TimeoutExtension<'a>(Option<&'a mpsc::Sender<Answered>>);

impl<'a> TimeoutExtension<'a> {
    /// By the channel of answers.
    pub(super) fn by(answers: &'a mpsc::Sender<Answered>) -> Self {
        Self(Some(answers))
    }

    /// Asks Envoy to wait this much longer from now, once a message. False when it cannot be asked. Envoy does not say
    /// whether it agrees: it needs a `max_message_timeout` of at least as much, and else gives up as before.
    pub(super) fn ask(self, longer: Duration) -> bool {
        let request = replies::more_time(longer + MARGIN);
        self.0.is_some_and(|answers| answers.try_send(Ok(request)).is_ok())
    }
}
