//! The addresses memgate listens on.

use std::{
    fmt,
    net::SocketAddr,
    path::{Path, PathBuf},
    str::FromStr,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

/// The addresses memgate listens on. Port 0 picks a free port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Listen {
    /// gRPC address for Envoy: `address:port`, or `unix:/path`. Its clients can read any user's
    /// memory, so an address other than loopback requires `grpc_tls`.
    #[serde(deserialize_with = "parsed")]
    #[schemars(with = "String")]
    pub grpc: GrpcAddress,
    /// TLS with client certificates (mTLS) for `grpc`. Default: plaintext.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc_tls: Option<GrpcTls>,
    /// HTTP address for REST, `/healthz`, `/readyz` and `/metrics`: `address:port`.
    #[serde(deserialize_with = "parsed")]
    #[schemars(with = "String")]
    pub http: SocketAddr,
    /// TLS for `http`. The files are read again at SIGHUP. Default: plaintext.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_tls: Option<HttpTls>,
    /// A second address that serves only `/healthz`, `/readyz` and `/metrics`, for a scraper on
    /// another machine: `address:port`. Default: none.
    #[serde(deserialize_with = "parsed_option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub metrics: Option<SocketAddr>,
}

impl Default for Listen {
    fn default() -> Self {
        Self {
            grpc: GrpcAddress::Tcp(SocketAddr::from(([127, 0, 0, 1], 50051))),
            grpc_tls: None,
            http: SocketAddr::from(([127, 0, 0, 1], 8080)),
            http_tls: None,
            metrics: None,
        }
    }
}

/// The gRPC address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrpcAddress {
    /// A TCP port.
    Tcp(SocketAddr),
    /// A Unix domain socket; its file permissions decide who may connect.
    Unix(PathBuf),
}

impl GrpcAddress {
    /// Whether only processes on this machine can connect.
    pub(crate) fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().is_loopback(),
            Self::Unix(_) => true,
        }
    }
}

impl FromStr for GrpcAddress {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.strip_prefix("unix:") {
            Some(path) if Path::new(path).is_absolute() => Ok(Self::Unix(path.into())),
            Some(_) => {
                Err("must be unix: and an absolute path, for example unix:/run/memgate/grpc.sock")
            }
            None => text.parse().map(Self::Tcp).map_err(
                |_| "must be an IP address and a port, for example 127.0.0.1:50051, or unix:/path",
            ),
        }
    }
}

impl fmt::Display for GrpcAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl Serialize for GrpcAddress {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// mTLS settings: clients must present a certificate signed by `client_ca`. All files are PEM and
/// are read at start-up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrpcTls {
    /// memgate's certificate, with the chain up to its CA.
    pub certificate: PathBuf,
    /// Private key of that certificate.
    pub key: PathBuf,
    /// The CA that signed Envoy's certificate. It should sign nothing else.
    pub client_ca: PathBuf,
}

/// TLS settings of the REST API. Both files are PEM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HttpTls {
    /// memgate's certificate, with the chain up to its CA.
    pub certificate: PathBuf,
    /// Private key of that certificate.
    pub key: PathBuf,
}

/// An address that serializes as the text in the configuration file.
trait Address: Sized {
    fn parse(text: &str) -> Result<Self, &'static str>;
}

impl Address for GrpcAddress {
    fn parse(text: &str) -> Result<Self, &'static str> {
        text.parse()
    }
}

impl Address for SocketAddr {
    fn parse(text: &str) -> Result<Self, &'static str> {
        text.parse().map_err(|_| "must be an IP address and a port, for example 127.0.0.1:8080")
    }
}

fn parsed<'de, T: Address, D: serde::Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    T::parse(&String::deserialize(from)?).map_err(serde::de::Error::custom)
}

fn parsed_option<'de, T: Address, D: serde::Deserializer<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    text.map(|text| T::parse(&text).map_err(serde::de::Error::custom)).transpose()
}
