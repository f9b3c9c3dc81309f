//! How a text looks to a reader, whatever alphabet it is written in.

use unicode_security::skeleton;

/// The look of a text: equal for texts that look alike (Unicode TS 39). Letters are folded between two rounds: a capital
/// can look like another alphabet's capital, and not like its small letter.
pub(super) fn look(text: &str) -> String {
    let capitals: String = skeleton(text).collect();
    skeleton(&capitals.to_lowercase()).collect()
}
