//! Free ports of loopback.

use std::net::{Ipv4Addr, TcpListener};

use anyhow::{Context, Result};

/// So many ports that are free now, each another. One can be taken by somebody else before its owner binds it; the
/// owner's own error says so then.
///
/// # Errors
/// When the system has none left.
pub fn free(count: usize) -> Result<Vec<u16>> {
    let bind = |_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    // Held together, so that none comes twice.
    let held: Vec<_> =
        (0..count).map(bind).collect::<std::io::Result<_>>().context("no port is free")?;
    let ports = held.iter().map(|listener| listener.local_addr().map(|address| address.port()));
    ports.collect::<std::io::Result<_>>().context("no port is free")
}

/// Whether all of these can be listened on now.
pub fn are_free<const N: usize>(ports: &[u16; N]) -> bool {
    ports.iter().all(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
}
