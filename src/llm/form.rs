//! The form an answer should have, and whether a server can be held to it.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// How long a refused form is not tried again: servers are replaced now and then.
const REMEMBERED: Duration = Duration::from_secs(3600);

/// The form of an answer, as a JSON schema.
#[derive(Clone, Debug)]
pub struct Form {
    name: &'static str,
    schema: Value,
}

impl Form {
    /// A form by the schema of its root object. Servers in strict mode want every member required
    /// and no others allowed; the name has letters, digits and `_`.
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

/// That a server refused a form, for as long as that is remembered.
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
    fn a_refusal_is_remembered_for_a_while() {
        let (refusals, now) = (Refusals::default(), Instant::now());
        assert!(!refusals.are_known(now));
        refusals.remember(now);
        assert!(refusals.are_known(now + REMEMBERED / 2));
        assert!(!refusals.are_known(now + REMEMBERED));
    }
}
