//! The TLS provider that reqwest requires, also for plain HTTP on loopback.

use anyhow::{Result, bail};

/// Installs it; call it once per process, before the first client.
///
/// # Errors
/// When there is one already.
pub(crate) fn provide() -> Result<()> {
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        bail!("a TLS provider is already installed");
    }
    Ok(())
}
