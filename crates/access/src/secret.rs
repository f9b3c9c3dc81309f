//! The text of a key, and its digest.

use std::fmt;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};

/// Start of every generated key, so that scanners for leaked secrets can find one.
const PREFIX: &str = "mgk_";
/// Random bytes of a key.
const BYTES: usize = 32;

/// A generated key. It is shown once, at its creation.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Generates a key from 256 bits of the operating system's randomness.
    ///
    /// # Errors
    /// When the operating system has none.
    pub fn generate() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))))
    }

    /// The text, for the caller who created it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The digest of a key: all that is kept of it. A fast hash is enough, because a generated key
/// cannot be guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digest(pub(crate) [u8; 32]);

impl Digest {
    /// The digest of a key's text.
    #[must_use]
    pub fn of(key: &str) -> Self {
        Self(Sha256::digest(key.trim()).into())
    }

    /// Whether two digests are equal, in constant time.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        let differ = self.0.iter().zip(other.0).fold(0, |differ, (a, b)| differ | (a ^ b));
        std::hint::black_box(differ) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_key_has_256_bits_and_is_never_printed() {
        let (one, two) = (Secret::generate().unwrap(), Secret::generate().unwrap());
        let random = one.reveal().strip_prefix("mgk_").unwrap();
        assert_eq!(random.len(), 43);
        assert_eq!(URL_SAFE_NO_PAD.decode(random).unwrap().len(), 32);
        assert_ne!(one, two);
        assert_eq!(format!("{one:?}"), "Secret(…)");
    }

    #[test]
    fn digests_ignore_white_space_around_a_key() {
        assert!(Digest::of("key\n").is(&Digest::of("key")));
        assert!(!Digest::of("key").is(&Digest::of("kez")));
    }
}
