//! Identifies the user of a request by trusted sources.
//!
//! Only this module can create an [`Identity`], so holding one proves that the rules of the
//! configured mode were applied. It must not depend on stores or wire formats.

mod claims;
mod rules;
mod session;
#[cfg(test)]
mod tests;

pub use claims::{ClaimNames, Claims};
pub use rules::{BodyIds, Credentials, Mode, Verdict, identify};
pub use session::{SessionNamer, of_session};

use crate::memory::Owner;

/// A trusted user id with tenant and roles, or a session without a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    owner: Owner,
    roles: Vec<String>,
}

impl Identity {
    /// The owner of the memories of this user, or session.
    #[must_use]
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The roles that the gateway vouches for; empty in development mode.
    #[must_use]
    pub fn roles(&self) -> &[String] {
        &self.roles
    }
}
