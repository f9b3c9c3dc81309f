//! Milvus Lite: a Python server with Milvus' protocol.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tokio::net::TcpStream;

use crate::assets::Assets;
use crate::ports;
use crate::process::Program;
use crate::server::{LOG, Server};

/// Its output goes to its folder.
const START: &str =
    r#"exec "$0" -m milvus_lite server --data-dir data --host 127.0.0.1 --port "$1" >"$2" 2>&1"#;

/// How to start it.
pub(super) struct MilvusLite {
    python: PathBuf,
    folder: PathBuf,
    port: u16,
}

impl MilvusLite {
    /// Chooses a port if none is given.
    ///
    /// # Errors
    /// When no port is free.
    pub(super) fn prepare(assets: &Assets, folder: &Path, port: u16) -> Result<Self> {
        let free = ports::free(1)?.pop().context("no port is free")?;
        Ok(Self {
            python: assets.milvus_lite(),
            folder: folder.to_owned(),
            port: if port == 0 { free } else { port },
        })
    }
}

impl Server for MilvusLite {
    const NAME: &'static str = "milvus";

    fn program(&self) -> Program {
        let arguments = [
            "-c".into(),
            START.into(),
            self.python.clone().into(),
            self.port.to_string().into(),
            LOG.into(),
        ];
        Program { path: "/bin/sh".into(), arguments: arguments.into(), folder: self.folder.clone() }
    }

    fn port(&self) -> u16 {
        self.port
    }

    /// It listens only once it can answer.
    async fn is_ready(&self) -> bool {
        TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).await.is_ok()
    }
}
