//! The trail of a request: what recall did for it goes to the trail when the request is answered.

use tokio::time::Instant;

use crate::gateway::{
    outcome::Outcome,
    parts::Parts,
    request::{Admitted, RequestHead},
};
use memgate_dialect::Ask;
use memgate_recall::{Context, RecallTrail, Recalled, Step, Trace};
use memgate_screening::MAX_MESSAGE_BYTES;

/// A request that leaves a trail.
pub(in crate::gateway) struct Traced<'a> {
    trail: &'a RecallTrail,
    arrived: Instant,
    recalled: Recalled,
}

impl<'a> Traced<'a> {
    /// Begins the trail of a request that was just read; none where the trail is off, or the request has no id to look
    /// it up by.
    pub(in crate::gateway) fn begin(
        parts: &'a Parts,
        head: &RequestHead,
        ask: &Ask,
        admitted: &Admitted,
        arrived: Instant,
    ) -> Option<Self> {
        let trail = parts.memory.get()?.recall.trail();
        let request_id = head.request_id().filter(|_| trail.is_kept())?.to_owned();
        let trace = Trace::default();
        let message = ask.user_text.as_ref().filter(|text| {
            admitted.learn && trail.keeps_words() && text.len() <= MAX_MESSAGE_BYTES
        });
        trace.step(Step::Read, arrived.elapsed());
        let recalled = Recalled {
            request_id,
            owner: admitted.identity.owner().clone(),
            at: parts.clock.now(),
            began: arrived.into_std(),
            decision: Outcome::Searched.as_str(),
            threshold: admitted.selection.threshold,
            limit: admitted.selection.limit,
            trace,
            presented: Vec::new(),
            context: String::new(),
            message: message.cloned(),
        };
        Some(Self { trail, arrived, recalled })
    }

    /// Where the stages of recall note what they do.
    pub(in crate::gateway) fn trace(&self) -> &Trace {
        &self.recalled.trace
    }

    /// Ends the trail. `context`: the one that was added, if one was.
    pub(in crate::gateway) fn end(mut self, outcome: Outcome, context: Option<Context>) {
        self.recalled.decision = outcome.as_str();
        if let Some(Context { text, scores, .. }) = context {
            (self.recalled.context, self.recalled.presented) = (text, scores);
        }
        self.recalled.trace.step(Step::Total, self.arrived.elapsed());
        self.trail.record(self.recalled);
    }
}
