//! The stack's ports on loopback: the requested ones, or free ones.

use std::net::{Ipv4Addr, TcpListener};

use anyhow::{Context, Result};

/// The ports of each part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ports {
    /// Envoy's port for clients.
    pub envoy: u16,
    /// memgate's ext_proc service.
    pub grpc: u16,
    /// memgate's REST API.
    pub http: u16,
    /// The model double, when it is the upstream.
    pub double: u16,
    /// The server of the store, when it has one.
    pub store: u16,
}

impl Ports {
    /// Checks the requested ports and replaces each 0 by a free one.
    ///
    /// Another process can take a free port before it is used; binding it fails then.
    ///
    /// # Errors
    /// One sentence with the port, its purpose and the option that changes it.
    pub(super) fn choose(envoy: u16, grpc: u16, http: u16) -> Result<Self> {
        // Held together, so that all are different.
        let envoy = claim(envoy, "Envoy", "--port")?;
        let grpc = claim(grpc, "memgate's gRPC", "--grpc-port")?;
        let http = claim(http, "memgate's HTTP", "--http-port")?;
        let double = claim(0, "the echo upstream", "")?;
        let store = claim(0, "the store", "")?;
        let port = |listener: &TcpListener| listener.local_addr().map(|address| address.port());
        Ok(Self {
            envoy: port(&envoy)?,
            grpc: port(&grpc)?,
            http: port(&http)?,
            double: port(&double)?,
            store: port(&store)?,
        })
    }
}

fn claim(port: u16, what: &str, option: &str) -> Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).with_context(|| {
        format!(
            "port {port} for {what} is not available; choose another one with {option} (0 picks a free one)"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_replaced_by_different_free_ports() {
        let ports = Ports::choose(0, 0, 0).unwrap();
        let mut all = [ports.envoy, ports.grpc, ports.http, ports.double, ports.store];
        all.sort_unstable();
        assert!(all[0] > 0 && all.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn an_error_names_a_port_in_use_and_its_option() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        let error = Ports::choose(0, port, 0).unwrap_err().to_string();
        assert!(error.contains(&format!("port {port} for memgate's gRPC")), "{error}");
        assert!(error.contains("--grpc-port"), "{error}");
    }
}
