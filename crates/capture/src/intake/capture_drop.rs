//! Reasons why an exchange is not learned from.

/// Why an exchange was not learned from, although nothing opted out of learning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum CaptureDrop {
    /// All exchanges together exceeded `memory.capture.max_in_flight_bytes`.
    OverBudget,
    /// The journal's queue was full.
    QueueFull,
    /// The request or the reply was too large.
    TooLarge,
    /// The body could not be read.
    Unreadable,
    /// The reply did not end well: an error status, or truncated.
    Incomplete,
    /// The journal could not store the turn.
    Journal,
    /// The turn's screening panicked.
    Panicked,
}
