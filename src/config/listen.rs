//! The addresses memgate listens on.

use std::{
    fmt,
    net::SocketAddr,
    path::{Path, PathBuf},
    str::FromStr,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

/// The addresses memgate listens on. Port 0 takes a free one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Listen {
    /// Envoy's side, gRPC: `address:port`, or `unix:/path`. Its clients get any user's memory, so an
    /// address other than loopback needs `grpc_tls`.
    #[serde(deserialize_with = "parsed")]
    #[schemars(with = "String")]
    pub grpc: GrpcAddress,
    /// TLS with client certificates (mTLS) for `grpc`; absent: plain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc_tls: Option<GrpcTls>,
    /// REST, `/healthz`, `/readyz` and `/metrics`: `address:port`.
    #[serde(deserialize_with = "parsed")]
    #[schemars(with = "String")]
    pub http: SocketAddr,
    /// A second address for `/healthz`, `/readyz` and `/metrics` alone, for a scraper on another machine:
    /// `address:port`; absent: none.
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
            metrics: None,
        }
    }
}

/// Where Envoy reaches memgate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrpcAddress {
    /// A TCP port.
    Tcp(SocketAddr),
    /// A socket in the file system; its permissions say who may connect.
    Unix(PathBuf),
}

impl GrpcAddress {
    /// Whether only processes of this machine can connect.
    #[must_use]
    pub fn is_local(&self) -> bool {
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
                Err("must be unix: and an absolute path, unix:/run/memgate/grpc.sock for example")
            }
            None => text.parse().map(Self::Tcp).map_err(
                |_| "must be an IP address and a port, 127.0.0.1:50051 for example, or unix:/path",
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

/// mTLS: clients must show a certificate signed by `client_ca`. All files are PEM and are read at
/// start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrpcTls {
    /// memgate's certificate, with the chain up to its authority.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// The authority that signed Envoy's certificate. It should sign nothing else.
    pub client_ca: PathBuf,
}

/// An address as the configuration spells it.
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
        text.parse().map_err(|_| "must be an IP address and a port, 127.0.0.1:8080 for example")
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
