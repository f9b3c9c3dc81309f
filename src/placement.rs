//! The configured placement as the wire formats call it: neither of the two crates knows the other.

use memgate_config::Placement;

/// Where a context is placed.
pub(crate) fn in_dialect(configured: Placement) -> memgate_dialect::Placement {
    match configured {
        Placement::System => memgate_dialect::Placement::System,
        Placement::BeforeLastUser => memgate_dialect::Placement::BeforeLastUser,
        Placement::LastUser => memgate_dialect::Placement::LastUser,
    }
}
