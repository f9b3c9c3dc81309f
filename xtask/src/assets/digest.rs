//! SHA-256 of files, compared with pinned digests.

use std::fs::File;
use std::io;
use std::path::Path;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

/// A file's SHA-256 in lower-case hexadecimal.
pub(crate) fn of_file(path: &Path) -> Result<String> {
    let mut file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut hasher = Sha256::new();
    io::copy(&mut file, &mut hasher).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(hex(&hasher.finalize()))
}

/// Checks that `path` has the digest `pinned`. `what` names it in the error.
pub(crate) fn check(what: &str, path: &Path, pinned: &str) -> Result<()> {
    let found = of_file(path)?;
    if found != pinned {
        bail!(
            "{what}: the downloaded file has sha256 {found} instead of the pinned {pinned}, and was deleted"
        );
    }
    Ok(())
}

/// Bytes in lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SHA-256 of the three bytes "abc" (FIPS 180-2, appendix B.1).
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn abc() -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "abc").unwrap();
        file
    }

    #[test]
    fn accepts_the_pinned_digest() {
        check("thing 1.0", abc().path(), ABC).unwrap();
    }

    #[test]
    fn refuses_another_digest_and_names_both() {
        let pinned = "0".repeat(64);
        let message = check("thing 1.0", abc().path(), &pinned).unwrap_err().to_string();
        assert!(message.starts_with("thing 1.0: "), "{message}");
        assert!(message.contains(ABC) && message.contains(&pinned), "{message}");
    }
}
