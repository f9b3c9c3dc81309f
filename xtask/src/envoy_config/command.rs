//! `cargo xtask envoy-config`: writes an Envoy configuration with other addresses and another
//! upstream.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::{Network, Settings, Upstream, render};

/// Arguments of `cargo xtask envoy-config`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Configuration to start from.
    #[arg(long, default_value = "envoy/development.yaml")]
    base: PathBuf,
    /// URL of the model server: origin and optional prefix before /v1.
    #[arg(long, default_value = "http://127.0.0.1:8000")]
    upstream: String,
    /// Port for clients.
    #[arg(long, default_value_t = 8888)]
    port: u16,
    /// Port of memgate's ext_proc service.
    #[arg(long, default_value_t = 50051)]
    grpc_port: u16,
    /// Port of memgate's REST API.
    #[arg(long, default_value_t = 8080)]
    http_port: u16,
    /// Envoy's admin port; 0 lets Envoy pick one.
    #[arg(long, default_value_t = 9901)]
    admin_port: u16,
    #[command(flatten)]
    network: Network,
    /// Output file, as JSON, which Envoy reads like YAML.
    #[arg(long)]
    out: PathBuf,
}

impl Args {
    /// Runs the command.
    ///
    /// # Errors
    /// Those of [`render`] and [`Network::put_into`], and of writing the file.
    pub(crate) fn run(&self) -> Result<()> {
        let settings = Settings {
            port: self.port,
            grpc_port: self.grpc_port,
            http_port: self.http_port,
            admin_port: self.admin_port,
            upstream: Upstream::parse(&self.upstream)?,
        };
        let mut config = render(&self.base, &settings)?;
        self.network
            .put_into(&mut config)
            .with_context(|| format!("cannot adapt {}", self.base.display()))?;
        std::fs::write(&self.out, format!("{config:#}\n"))
            .with_context(|| format!("cannot write {}", self.out.display()))
    }
}
