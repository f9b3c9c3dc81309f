//! TLS of a connection to a store's server: one section for each of them.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// TLS settings of the connection to a store's server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClientTlsConfig {
    /// CA certificate of the server, in PEM, if it is not signed by a public CA.
    pub ca: Option<PathBuf>,
    /// Client certificate, in PEM, if the server requires one.
    pub certificate: Option<PathBuf>,
    /// Private key of the client certificate, in PEM.
    pub key: Option<PathBuf>,
    /// Name in the server's certificate, if it differs from the host.
    pub server_name: Option<String>,
}
