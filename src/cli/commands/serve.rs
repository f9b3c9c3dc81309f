//! `memgate serve`: runs the server.

use std::{net::SocketAddr, path::PathBuf};

use anyhow::{Context, Result};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::{cli::options::ConfigFile, startup};
use memgate_config::{Config, GrpcAddress, IdentityMode, Live};
use memgate_telemetry::Telemetry;

/// Arguments of `memgate serve`. They override the file, also at a reload.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    config: ConfigFile,
    /// Folder of the memories and the journal (data_dir).
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Folder of ONNX Runtime and the models (assets_dir).
    #[arg(long, value_name = "DIR")]
    assets: Option<PathBuf>,
    /// gRPC address for Envoy (listen.grpc): 127.0.0.1:50051, or unix:/path.
    #[arg(long, value_name = "ADDRESS")]
    grpc: Option<GrpcAddress>,
    /// HTTP address of the REST API (listen.http).
    #[arg(long, value_name = "ADDRESS:PORT")]
    http: Option<SocketAddr>,
    /// Identity mode (memory.identity.mode); development trusts user ids from clients.
    #[arg(long, value_name = "MODE")]
    identity: Option<IdentityMode>,
}

impl Args {
    pub(crate) fn run(self) -> Result<()> {
        let Self { config, data, assets, grpc, http, identity } = self;
        let config = Live::load(config.path(), move |config: &mut Config| {
            replace(&mut config.data_dir, data.as_ref());
            replace(&mut config.assets_dir, assets.as_ref());
            replace(&mut config.listen.grpc, grpc.as_ref());
            replace(&mut config.listen.http, http.as_ref());
            replace(&mut config.memory.identity.mode, identity.as_ref());
        })?;
        // This fails only when a provider is already installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .context("cannot start the async runtime")?;
        runtime.block_on(async {
            let telemetry = Telemetry::start(&config.get().telemetry)?;
            let shutdown = on_signal()?;
            Ok(startup::serve(config, telemetry, shutdown).await?)
        })
    }
}

fn replace<T: Clone>(value: &mut T, with: Option<&T>) {
    if let Some(with) = with {
        value.clone_from(with);
    }
}

/// A token that SIGINT and SIGTERM cancel.
fn on_signal() -> Result<CancellationToken> {
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    let shutdown = CancellationToken::new();
    let token = shutdown.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        token.cancel();
    });
    Ok(shutdown)
}
