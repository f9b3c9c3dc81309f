//! Which of two memories that contradict each other holds.

/// Which of two memories that contradict each other holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// The one that was said later.
    #[default]
    PreferNew,
    /// The one that is stored already.
    PreferOld,
    /// Both, with the status `review`, until somebody decides.
    Review,
}
