//! Structured output: the JSON schema of a response, and whether a server supports it.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// How long a rejection is remembered; servers are replaced now and then.
const REMEMBERED: Duration = Duration::from_secs(3600);

/// The format of a response, as a JSON schema.
#[derive(Clone, Debug)]
pub struct Form {
    name: &'static str,
    schema: Value,
}

impl Form {
    /// Creates a format from the schema of its root object. Servers in strict mode require all
    /// members and forbid others; the name may have letters, digits and `_`.
    #[must_use]
    pub fn new(name: &'static str, schema: Value) -> Self {
        Self { name, schema }
    }

    pub(super) fn as_response_format(&self) -> Value {
        let Self { name, schema } = self;
        json!({
            "type": "json_schema",
            "json_schema": {"name": name, "strict": true, "schema": schema},
        })
    }
}

/// Remembers that a server rejected structured output, for a limited time.
#[derive(Debug, Default)]
pub(super) struct Refusals(Mutex<Option<Instant>>);

impl Refusals {
    pub(super) fn are_known(&self, now: Instant) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|until| now < until)
    }

    pub(super) fn remember(&self, now: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = now.checked_add(REMEMBERED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_is_remembered_for_a_while() {
        let (refusals, now) = (Refusals::default(), Instant::now());
        assert!(!refusals.are_known(now));
        refusals.remember(now);
        assert!(refusals.are_known(now + REMEMBERED / 2));
        assert!(!refusals.are_known(now + REMEMBERED));
    }
}
