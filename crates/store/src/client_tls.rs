//! TLS of a connection to a store's server.

use std::path::PathBuf;

/// TLS settings. The server's certificate is always verified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientTls {
    /// CA of the server's certificate, if it is not a public one.
    pub ca: Option<PathBuf>,
    /// Client certificate and key, if the server requires them.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// Name in the server's certificate, if it differs from the host.
    pub server_name: Option<String>,
}
