//! Changes only the ports and the model server of a file in `envoy/`, so that development and tests
//! run the file that users copy.
//!
//! It must not depend on what the filters do.

pub(crate) mod command;
mod network;
mod parts;
mod upstream;

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use self::network::Network;
use self::parts::{API_CLUSTER, MEMGATE_CLUSTERS, cluster, http_manager, part};
pub(crate) use self::upstream::Upstream;

/// The cluster of the model server, in both files.
const UPSTREAM_CLUSTER: &str = "upstream";

/// The changes. All ports are on loopback.
pub(crate) struct Settings {
    /// Port for clients.
    pub port: u16,
    /// Port of memgate's ext_proc service.
    pub grpc_port: u16,
    /// Port of memgate's REST API.
    pub http_port: u16,
    /// Envoy's admin port; with 0 Envoy picks one (see its `--admin-address-path`).
    pub admin_port: u16,
    /// The model server.
    pub upstream: Upstream,
}

/// Reads the Envoy configuration at `base` and applies `settings`.
///
/// # Errors
/// When the file cannot be read, or lacks a part that is to be changed (named in the error).
pub(crate) fn render(base: &Path, settings: &Settings) -> Result<Value> {
    let text =
        std::fs::read_to_string(base).with_context(|| format!("cannot read {}", base.display()))?;
    let mut config: Value = serde_saphyr::from_str(&text)
        .with_context(|| format!("{} is not valid YAML", base.display()))?;
    put_in(&mut config, settings)
        .with_context(|| format!("{} has an unexpected structure", base.display()))?;
    Ok(config)
}

fn put_in(config: &mut Value, settings: &Settings) -> Result<()> {
    *part(config, "/admin/address/socket_address/port_value")? = settings.admin_port.into();
    *part(config, "/static_resources/listeners/0/address/socket_address/port_value")? =
        settings.port.into();
    let hosts = part(http_manager(config)?, "/route_config/virtual_hosts/0/routes")?;
    for route in hosts.as_array_mut().into_iter().flatten() {
        if route["route"]["cluster"] == UPSTREAM_CLUSTER {
            settings.upstream.put_into_route(route)?;
        }
    }
    let endpoint = "/load_assignment/endpoints/0/lb_endpoints/0/endpoint/address/socket_address";
    for name in MEMGATE_CLUSTERS {
        *part(cluster(config, name)?, endpoint)? =
            json!({"address": "127.0.0.1", "port_value": settings.grpc_port});
    }
    // Without verified users there is no such cluster.
    if let Ok(api) = cluster(config, API_CLUSTER) {
        *part(api, endpoint)? = json!({"address": "127.0.0.1", "port_value": settings.http_port});
    }
    settings.upstream.put_into_cluster(cluster(config, UPSTREAM_CLUSTER)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::repository;

    fn rendered(file: &str, upstream: &str) -> Value {
        let settings = Settings {
            port: 1001,
            grpc_port: 1002,
            http_port: 1005,
            admin_port: 1003,
            upstream: Upstream::parse(upstream).unwrap(),
        };
        render(&repository().join("envoy").join(file), &settings).unwrap()
    }

    #[test]
    fn a_plain_upstream_changes_only_ports() {
        for file in ["development.yaml", "production.yaml"] {
            let text = rendered(file, "http://127.0.0.1:1004").to_string();
            let original = std::fs::read_to_string(repository().join("envoy").join(file)).unwrap();
            let original: Value = serde_saphyr::from_str(&original).unwrap();
            let original = original
                .to_string()
                .replace("\"port_value\":8888", "\"port_value\":1001")
                .replace("\"port_value\":50051", "\"port_value\":1002")
                .replace("\"port_value\":9901", "\"port_value\":1003")
                .replace("\"port_value\":8080", "\"port_value\":1005")
                .replace("\"port_value\":8000", "\"port_value\":1004");
            assert_eq!(without_host(&text), original);
        }
    }

    /// The Host header depends on the upstream; everything else must stay unchanged.
    fn without_host(text: &str) -> String {
        let mut config: Value = serde_json::from_str(text).unwrap();
        let routes = "/static_resources/listeners/0/filter_chains/0/filters/0/typed_config\
                      /route_config/virtual_hosts/0/routes";
        for route in config.pointer_mut(routes).unwrap().as_array_mut().unwrap() {
            if route["route"]["cluster"] != UPSTREAM_CLUSTER {
                continue;
            }
            let removed = route["route"].as_object_mut().unwrap().remove("host_rewrite_literal");
            assert_eq!(removed, Some("127.0.0.1:1004".into()));
        }
        config.to_string()
    }

    #[test]
    fn an_error_names_a_missing_part() {
        let settings = Settings {
            port: 1,
            grpc_port: 2,
            http_port: 5,
            admin_port: 3,
            upstream: Upstream::parse("http://127.0.0.1:4").unwrap(),
        };
        let error = put_in(&mut json!({"admin": {}}), &settings).unwrap_err();
        assert!(error.to_string().contains("/admin/address"), "{error}");
    }
}
