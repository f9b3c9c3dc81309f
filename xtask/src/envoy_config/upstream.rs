//! The URL of the model server, and its representation in an Envoy configuration.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use reqwest::Url;
use serde_json::{Value, json};

use super::parts::part;

/// Locations of the CA certificates in Linux distributions.
const CA_BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// A model server: an origin and an optional prefix before `/v1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Upstream {
    host: Host,
    port: u16,
    /// "" or "/a/b", without a trailing slash.
    prefix: String,
    /// The CA certificates, for TLS.
    tls: Option<PathBuf>,
    /// Value of the Host header.
    authority: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Host {
    Ip(IpAddr),
    Name(String),
}

impl Upstream {
    /// Parses `http(s)://host[:port][/prefix]`. A trailing `/v1`, as in a client's base URL, is
    /// removed.
    ///
    /// # Errors
    /// One sentence about what is wrong with the URL, or that no CA bundle was found for https.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let url = Url::parse(text).with_context(|| format!("{text} is not a URL"))?;
        let tls = match url.scheme() {
            "http" => None,
            "https" => Some(ca_bundle()?),
            other => {
                bail!("{text} has the scheme {other}, but an upstream must use http or https")
            }
        };
        if !url.username().is_empty() || url.password().is_some() {
            bail!("the upstream's URL must not contain a user name or password");
        }
        if url.query().is_some() || url.fragment().is_some() {
            bail!("{text} must not have a query or fragment");
        }
        let name = url.host_str().unwrap_or_default();
        let port = url.port_or_known_default().unwrap_or(80);
        let host = match name.trim_matches(['[', ']']).parse() {
            Ok(ip) => Host::Ip(ip),
            Err(_) => Host::Name(name.to_owned()),
        };
        let path = url.path().trim_end_matches('/');
        Ok(Self {
            host,
            port,
            prefix: path.strip_suffix("/v1").unwrap_or(path).to_owned(),
            tls,
            authority: match url.port() {
                Some(port) => format!("{name}:{port}"),
                None => name.to_owned(),
            },
        })
    }

    /// The server for memgate's own requests, as `llm_endpoint` in its configuration.
    pub(crate) fn llm_endpoint(&self) -> Value {
        let address = match &self.host {
            Host::Ip(ip) => ip.to_string(),
            Host::Name(name) => name.clone(),
        };
        json!({
            "address": address,
            "port": self.port,
            "scheme": if self.tls.is_some() { "https" } else { "http" },
            "path": format!("{}/v1/chat/completions", self.prefix),
        })
    }

    /// Whether it is OpenAI's own server.
    pub(crate) fn is_openai(&self) -> bool {
        matches!(&self.host, Host::Name(name) if name.ends_with(".openai.com"))
    }

    /// Edits one route: the Host header, and the prefix of the path.
    pub(super) fn put_into_route(&self, route: &mut Value) -> Result<()> {
        let matched = &route["match"];
        let path = matched["path"].as_str().or_else(|| matched["prefix"].as_str());
        let rewritten = path.map(|path| format!("{}{path}", self.prefix));
        let action = part(route, "/route")?;
        action["host_rewrite_literal"] = self.authority.clone().into();
        if !self.prefix.is_empty() {
            action["prefix_rewrite"] =
                rewritten.context("a route matches neither path nor prefix")?.into();
        }
        Ok(())
    }

    /// Edits the cluster: address, resolution, and TLS.
    pub(super) fn put_into_cluster(&self, cluster: &mut Value) -> Result<()> {
        let (kind, address) = match &self.host {
            Host::Ip(ip) => ("STATIC", ip.to_string()),
            Host::Name(name) => ("STRICT_DNS", name.clone()),
        };
        cluster["type"] = kind.into();
        if kind == "STRICT_DNS" {
            cluster["dns_lookup_family"] = "V4_PREFERRED".into();
        }
        let endpoint =
            "/load_assignment/endpoints/0/lb_endpoints/0/endpoint/address/socket_address";
        *part(cluster, endpoint)? = json!({"address": address, "port_value": self.port});
        if let Some(bundle) = &self.tls {
            cluster["transport_socket"] = self.transport_socket(bundle);
        }
        Ok(())
    }

    /// TLS that verifies the certificate chain and the host name.
    fn transport_socket(&self, bundle: &Path) -> Value {
        let (san_type, name) = match &self.host {
            Host::Ip(ip) => ("IP_ADDRESS", ip.to_string()),
            Host::Name(name) => ("DNS", name.clone()),
        };
        let mut context = json!({
            "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
            "common_tls_context": {
                "validation_context": {
                    "trusted_ca": {"filename": bundle},
                    "match_typed_subject_alt_names": [{"san_type": san_type, "matcher": {"exact": name}}],
                },
            },
        });
        // The server name of TLS must not be an IP address.
        if let Host::Name(name) = &self.host {
            context["sni"] = name.clone().into();
        }
        json!({"name": "envoy.transport_sockets.tls", "typed_config": context})
    }
}

/// The CA certificates: `SSL_CERT_FILE`, else the system's.
fn ca_bundle() -> Result<PathBuf> {
    if let Some(file) = std::env::var_os("SSL_CERT_FILE") {
        let file = PathBuf::from(file);
        if !file.is_file() {
            bail!("SSL_CERT_FILE is {}, which is not a file", file.display());
        }
        // Envoy runs in another folder.
        return std::path::absolute(&file).context("SSL_CERT_FILE cannot be resolved");
    }
    CA_BUNDLES.iter().map(PathBuf::from).find(|bundle| bundle.is_file()).context(
        "https requires CA certificates, but none were found on this machine; set SSL_CERT_FILE",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(upstream: &str, matched: Value) -> Value {
        let mut route = json!({"match": matched, "route": {"cluster": "upstream"}});
        Upstream::parse(upstream).unwrap().put_into_route(&mut route).unwrap();
        route["route"].clone()
    }

    fn cluster(upstream: &str) -> Value {
        let mut cluster = json!({"load_assignment": {"endpoints": [{"lb_endpoints": [
            {"endpoint": {"address": {"socket_address": null}}}]}]}});
        Upstream::parse(upstream).unwrap().put_into_cluster(&mut cluster).unwrap();
        cluster
    }

    #[test]
    fn the_prefix_is_added_to_every_path() {
        let exact = route("http://models.test/a/b/", json!({"path": "/v1/responses"}));
        assert_eq!(exact["prefix_rewrite"], "/a/b/v1/responses");
        let rest = route("http://models.test/a/b", json!({"prefix": "/"}));
        assert_eq!(rest["prefix_rewrite"], "/a/b/");
    }

    #[test]
    fn a_trailing_v1_is_removed() {
        assert_eq!(
            Upstream::parse("http://models.test/a/v1/").unwrap(),
            Upstream::parse("http://models.test/a").unwrap()
        );
    }

    #[test]
    fn the_host_header_has_the_port_unless_it_is_the_default() {
        let matched = json!({"prefix": "/"});
        assert_eq!(route("http://m.test:81", matched.clone())["host_rewrite_literal"], "m.test:81");
        assert_eq!(route("http://m.test", matched)["host_rewrite_literal"], "m.test");
    }

    #[test]
    fn host_names_are_resolved() {
        assert_eq!(cluster("http://models.test")["type"], "STRICT_DNS");
        let at = "/load_assignment/endpoints/0/lb_endpoints/0/endpoint/address/socket_address";
        let v6 = cluster("http://[::1]:9");
        assert_eq!(v6["type"], "STATIC");
        assert_eq!(v6.pointer(at), Some(&json!({"address": "::1", "port_value": 9})));
    }

    #[test]
    fn https_verifies_the_certificate_and_its_name() {
        let context = cluster("https://models.test")["transport_socket"]["typed_config"].clone();
        assert_eq!(context["sni"], "models.test");
        let validation = &context["common_tls_context"]["validation_context"];
        assert!(validation["trusted_ca"]["filename"].is_string());
        assert_eq!(
            validation["match_typed_subject_alt_names"],
            json!([{"san_type": "DNS", "matcher": {"exact": "models.test"}}])
        );
        let address = cluster("https://127.0.0.1:8443")["transport_socket"]["typed_config"].clone();
        assert!(address.get("sni").is_none());
    }

    #[test]
    fn refuses_invalid_upstreams_with_one_sentence() {
        for (text, word) in [
            ("models.test:8000", "must use http or https"),
            ("ftp://models.test", "must use http or https"),
            ("nonsense", "is not a URL"),
            ("http://u:p@models.test", "password"),
            ("http://models.test/?a=1", "query"),
        ] {
            let error = Upstream::parse(text).unwrap_err().to_string();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
