//! SHA-256 of files, and the refusal of one that is not the pinned one.

use std::fs::File;
use std::io;
use std::path::Path;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

/// A file's SHA-256 in lower-case hexadecimal.
pub fn of_file(path: &Path) -> Result<String> {
    let mut file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut hasher = Sha256::new();
    io::copy(&mut file, &mut hasher).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(hex(&hasher.finalize()))
}

/// Refuses `path` unless its digest is `pinned`. `what` names it in the message.
pub fn check(what: &str, path: &Path, pinned: &str) -> Result<()> {
    let found = of_file(path)?;
    if found != pinned {
        bail!(
            "{what}: the downloaded file has sha256 {found}, but {pinned} is pinned, so it was thrown away"
        );
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
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
    fn a_file_with_the_pinned_digest_is_accepted() {
        check("thing 1.0", abc().path(), ABC).unwrap();
    }

    #[test]
    fn another_digest_is_refused_and_both_are_named() {
        let pinned = "0".repeat(64);
        let message = check("thing 1.0", abc().path(), &pinned).unwrap_err().to_string();
        assert!(message.starts_with("thing 1.0: "), "{message}");
        assert!(message.contains(ABC) && message.contains(&pinned), "{message}");
    }
}
