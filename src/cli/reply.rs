//! What an operation answered.

/// What an operation answered.
pub(super) struct Answer<T> {
    /// REST's body, byte for byte.
    pub(super) body: Vec<u8>,
    /// What is in it.
    pub(super) view: T,
}
