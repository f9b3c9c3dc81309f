//! Free ports on loopback.

use std::net::{Ipv4Addr, TcpListener};

use anyhow::{Context, Result};

/// This many different free ports. Another process can take one before it is used; binding it fails
/// then.
///
/// # Errors
/// When no port is free.
pub(crate) fn free(count: usize) -> Result<Vec<u16>> {
    let bind = |_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    // Held together, so that all are different.
    let held: Vec<_> =
        (0..count).map(bind).collect::<std::io::Result<_>>().context("no port is free")?;
    let ports = held.iter().map(|listener| listener.local_addr().map(|address| address.port()));
    ports.collect::<std::io::Result<_>>().context("no port is free")
}

/// Whether all of these ports are free.
pub(crate) fn are_free<const N: usize>(ports: &[u16; N]) -> bool {
    ports.iter().all(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
}
