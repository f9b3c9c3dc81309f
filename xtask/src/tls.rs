//! The TLS provider that reqwest asks for, though only plain HTTP on loopback is spoken here.

use anyhow::{Result, bail};

/// Installs it; once a process, before the first client.
///
/// # Errors
/// When there is one already.
pub fn provide() -> Result<()> {
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        bail!("a TLS provider was installed already");
    }
    Ok(())
}
