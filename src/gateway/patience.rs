//! Asking Envoy for more time than its `message_timeout`, where a model shall help to find.

use std::time::Duration;

use tokio::sync::mpsc;

use super::replies;
use crate::gateway::service::Answered;

/// What Envoy is given to take an answer that is ready, and memgate to splice it: as much as lies between the
/// default deadline and `message_timeout` of the Envoy configurations in envoy/.
const MARGIN: Duration = Duration::from_millis(200);

/// A way to Envoy past the answers, for one message.
#[derive(Clone, Copy, Default)]
pub(super) struct Patience<'a>(Option<&'a mpsc::Sender<Answered>>);

impl<'a> Patience<'a> {
    /// By the channel of answers.
    pub(super) fn by(answers: &'a mpsc::Sender<Answered>) -> Self {
        Self(Some(answers))
    }

    /// Asks Envoy to wait for so long from now, once a message. False when it cannot be asked. Envoy does not say
    /// whether it agrees: it needs a `max_message_timeout` of at least as much, and else gives up as before.
    pub(super) fn ask(self, longer: Duration) -> bool {
        let request = replies::more_time(longer + MARGIN);
        self.0.is_some_and(|answers| answers.try_send(Ok(request)).is_ok())
    }
}
