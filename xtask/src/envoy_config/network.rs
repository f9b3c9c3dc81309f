//! Settings for Envoy, memgate and model server on separate machines, for example in containers:
//! Envoy's listen address, memgate's host name, and the token issuer.

use std::net::IpAddr;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::parts::{API_CLUSTER, MEMGATE_CLUSTERS, cluster, http_manager, part};

/// Envoy's filter that verifies tokens.
const TOKEN_FILTER: &str = "envoy.filters.http.jwt_authn";

/// The changes; absent values stay as in the file.
#[derive(clap::Args, Default)]
pub(super) struct Network {
    /// Listen address of Envoy [default: the file's, which is loopback].
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<IpAddr>,
    /// Host of memgate, resolved continuously if it is a name, or unix:/path of memgate's
    /// listen.grpc socket [default: 127.0.0.1].
    #[arg(long, value_name = "HOST")]
    pub memgate: Option<String>,
    /// Host of memgate's REST API [default: that of --memgate, unless it is a socket].
    #[arg(long, value_name = "HOST")]
    pub rest: Option<String>,
    /// Issuer of the tokens; like the two options below, only for a configuration that verifies
    /// tokens.
    #[arg(long, value_name = "URL", env = "JWT_ISSUER")]
    pub jwt_issuer: Option<String>,
    /// Audience of the tokens.
    #[arg(long, value_name = "NAME", env = "JWT_AUDIENCE")]
    pub jwt_audience: Option<String>,
    /// The issuer's public keys: a path that Envoy can read.
    #[arg(long, value_name = "FILE")]
    pub jwks: Option<String>,
}

impl Network {
    /// Changes a configuration whose ports and upstream are already set.
    ///
    /// # Errors
    /// When a part that is to be changed is missing, or a token value is empty.
    pub(super) fn put_into(&self, config: &mut Value) -> Result<()> {
        if let Some(address) = self.listen {
            let at = "/static_resources/listeners/0/address/socket_address/address";
            *part(config, at)? = address.to_string().into();
        }
        if let Some(host) = &self.memgate {
            for name in MEMGATE_CLUSTERS {
                put_host(cluster(config, name)?, host)?;
            }
        }
        // A socket is for gRPC only.
        let of_grpc = self.memgate.as_ref().filter(|host| !host.starts_with("unix:"));
        if let Some(host) = self.rest.as_ref().or(of_grpc)
            && let Ok(api) = cluster(config, API_CLUSTER)
        {
            put_host(api, host)?;
        }
        self.put_tokens_into(config)
    }

    fn put_tokens_into(&self, config: &mut Value) -> Result<()> {
        let filters = part(http_manager(config)?, "/http_filters")?.as_array_mut();
        let found = filters.into_iter().flatten().find(|filter| filter["name"] == TOKEN_FILTER);
        // A configuration without token verification needs no values.
        let Some(filter) = found else { return Ok(()) };
        let users = part(filter, "/typed_config/providers/users")?;
        if let Some(issuer) = given("issuer (JWT_ISSUER)", self.jwt_issuer.as_ref())? {
            users["issuer"] = issuer.into();
        }
        if let Some(audience) = given("audience (JWT_AUDIENCE)", self.jwt_audience.as_ref())? {
            users["audiences"] = json!([audience]);
        }
        if let Some(file) = given("key file", self.jwks.as_ref())? {
            users["local_jwks"] = json!({"filename": file});
        }
        Ok(())
    }
}

/// Unset environment variables arrive as empty ones, and an empty issuer would refuse everyone.
fn given<'a>(what: &str, value: Option<&'a String>) -> Result<Option<&'a str>> {
    match value.map(|value| value.trim()) {
        Some("") => bail!("the tokens' {what} is empty"),
        value => Ok(value),
    }
}

fn put_host(cluster: &mut Value, host: &str) -> Result<()> {
    if host.is_empty() {
        bail!("the host of memgate is empty");
    }
    if let Some(path) = host.strip_prefix("unix:") {
        if !path.starts_with('/') {
            bail!("{host} must have an absolute path after unix:");
        }
        let at = "/load_assignment/endpoints/0/lb_endpoints/0/endpoint/address";
        *part(cluster, at).context("a cluster of memgate's")? = json!({"pipe": {"path": path}});
        return Ok(());
    }
    if host.parse::<IpAddr>().is_err() {
        cluster["type"] = "STRICT_DNS".into();
        cluster["dns_lookup_family"] = "V4_PREFERRED".into();
    }
    let at = "/load_assignment/endpoints/0/lb_endpoints/0/endpoint/address/socket_address/address";
    *part(cluster, at).context("a cluster of memgate's")? = host.into();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::repository;

    fn spread(file: &str, network: &Network) -> Result<Value> {
        let text = std::fs::read_to_string(repository().join("envoy").join(file)).unwrap();
        let mut config = serde_saphyr::from_str(&text).unwrap();
        network.put_into(&mut config).map(|()| config)
    }

    fn users(config: &mut Value) -> Value {
        let filters = part(http_manager(config).unwrap(), "/http_filters").unwrap();
        let filters = filters.as_array().unwrap();
        let filter = filters.iter().find(|filter| filter["name"] == TOKEN_FILTER).unwrap();
        filter["typed_config"]["providers"]["users"].clone()
    }

    #[test]
    fn absent_values_change_nothing() {
        for file in ["development.yaml", "production.yaml"] {
            let text = std::fs::read_to_string(repository().join("envoy").join(file)).unwrap();
            let original: Value = serde_saphyr::from_str(&text).unwrap();
            assert_eq!(spread(file, &Network::default()).unwrap(), original);
        }
    }

    #[test]
    fn both_clusters_use_memgates_host_name() {
        let network = Network { memgate: Some("memgate".into()), ..Network::default() };
        let mut config = spread("production.yaml", &network).unwrap();
        for name in MEMGATE_CLUSTERS {
            let text = cluster(&mut config, name).unwrap().to_string();
            assert!(text.contains("STRICT_DNS") && text.contains("\"address\":\"memgate\""));
        }
        let upstream = cluster(&mut config, "upstream").unwrap().to_string();
        assert!(!upstream.contains("memgate"));
    }

    #[test]
    fn both_clusters_use_memgates_socket() {
        let network = Network { memgate: Some("unix:/run/grpc.sock".into()), ..Network::default() };
        let mut config = spread("production.yaml", &network).unwrap();
        for name in MEMGATE_CLUSTERS {
            let cluster = cluster(&mut config, name).unwrap();
            let address = "/load_assignment/endpoints/0/lb_endpoints/0/endpoint/address";
            assert_eq!(
                cluster.pointer(address),
                Some(&json!({"pipe": {"path": "/run/grpc.sock"}}))
            );
            assert_eq!(cluster["type"], "STATIC");
        }
        let relative = Network { memgate: Some("unix:grpc.sock".into()), ..Network::default() };
        assert!(spread("production.yaml", &relative).is_err());
    }

    #[test]
    fn rest_may_have_a_host_of_its_own() {
        let network = Network {
            memgate: Some("unix:/run/grpc.sock".into()),
            rest: Some("memgate".into()),
            ..Network::default()
        };
        let mut config = spread("production.yaml", &network).unwrap();
        let api = cluster(&mut config, API_CLUSTER).unwrap().to_string();
        assert!(api.contains("STRICT_DNS") && api.contains("\"address\":\"memgate\""));
        spread("development.yaml", &network).unwrap();
    }

    #[test]
    fn token_values_are_set_if_tokens_are_verified() {
        let network = Network {
            jwt_issuer: Some("https://issuer.test/".into()),
            jwt_audience: Some("chat".into()),
            jwks: Some("/keys.json".into()),
            ..Network::default()
        };
        let users = users(&mut spread("production.yaml", &network).unwrap());
        assert_eq!(users["issuer"], "https://issuer.test/");
        assert_eq!(users["audiences"], json!(["chat"]));
        assert_eq!(users["local_jwks"], json!({"filename": "/keys.json"}));
        assert_eq!(users["require_expiration"], true);
        spread("development.yaml", &network).unwrap();
    }

    #[test]
    fn refuses_an_empty_issuer_if_tokens_are_verified() {
        let network = Network { jwt_issuer: Some(String::new()), ..Network::default() };
        let error = spread("production.yaml", &network).unwrap_err().to_string();
        assert!(error.contains("JWT_ISSUER"), "{error}");
        spread("development.yaml", &network).unwrap();
    }
}
