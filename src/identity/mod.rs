//! Who is asking, and may we believe it.
//!
//! [`Identity`] can be made only here, so holding one proves that the rules of
//! the configured mode were applied. This module must never know a store, a
//! wire format, or what the identity is used for.

mod claims;
mod rules;
#[cfg(test)]
mod tests;

pub use claims::Claims;
pub use rules::{BodyIds, Credentials, Mode, Verdict, identify};

use crate::memory::Owner;

/// A user whom we may believe: who, of which tenant, with which roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    owner: Owner,
    roles: Vec<String>,
}

impl Identity {
    /// The owner of this user's memories.
    #[must_use]
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The roles that the gateway vouches for; empty in development.
    #[must_use]
    pub fn roles(&self) -> &[String] {
        &self.roles
    }
}
