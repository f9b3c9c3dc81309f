//! The listeners: TCP ports, or a Unix socket whose file is removed on shutdown.

use std::{
    fs, io,
    net::SocketAddr,
    os::unix::fs::{FileTypeExt, PermissionsExt},
    path::{Path, PathBuf},
};

use tokio::net::{TcpListener, UnixListener, UnixStream};
use tonic::transport::{Certificate, Identity, ServerTlsConfig};

use crate::startup::StartError;
use memgate_config::{GrpcAddress, GrpcTls, Listen};

/// The socket's owner and group may connect. If Envoy runs as another user, both need a common
/// group.
const SOCKET_MODE: u32 = 0o660;

/// The listener for Envoy.
pub(super) enum GrpcListener {
    Tcp(TcpListener, Option<ServerTlsConfig>),
    Unix(UnixListener, SocketFile),
}

impl GrpcListener {
    /// The actual address; port 0 is replaced by the port in use.
    pub(super) fn shown(&self, configured: &GrpcAddress) -> String {
        match self {
            Self::Tcp(listener, _) => listener.local_addr().map(|address| address.to_string()),
            Self::Unix(..) => Ok(configured.to_string()),
        }
        .unwrap_or_default()
    }
}

/// The file of a socket; removed on drop.
pub(super) struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Listens on a TCP port.
pub(super) async fn tcp(key: &'static str, address: SocketAddr) -> Result<TcpListener, StartError> {
    TcpListener::bind(address).await.map_err(|cause| failed(key, &address, cause))
}

/// Listens for Envoy.
pub(super) async fn grpc(listen: &Listen) -> Result<GrpcListener, StartError> {
    const KEY: &str = "listen.grpc";
    match &listen.grpc {
        GrpcAddress::Tcp(address) => {
            let tls = listen.grpc_tls.as_ref().map(tls).transpose()?;
            Ok(GrpcListener::Tcp(tcp(KEY, *address).await?, tls))
        }
        GrpcAddress::Unix(path) => {
            let (listener, file) =
                unix(path).await.map_err(|cause| failed(KEY, &listen.grpc, cause))?;
            Ok(GrpcListener::Unix(listener, file))
        }
    }
}

/// Replaces a socket left behind by a killed process, but no other file.
async fn unix(path: &Path) -> io::Result<(UnixListener, SocketFile)> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.file_type().is_socket() => {
            return Err(io::Error::other("the file exists and is not a socket"));
        }
        Ok(_) if UnixStream::connect(path).await.is_ok() => {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        Ok(_) => fs::remove_file(path)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let listener = UnixListener::bind(path)?;
    let file = SocketFile(path.to_owned());
    fs::set_permissions(path, fs::Permissions::from_mode(SOCKET_MODE))?;
    Ok((listener, file))
}

fn tls(files: &GrpcTls) -> Result<ServerTlsConfig, StartError> {
    let read = |member: &str, path: &Path| {
        fs::read(path).map_err(|error| StartError::Unusable {
            key: "listen.grpc_tls",
            cause: format!("{member}: cannot read {}: {error}", path.display()),
        })
    };
    let certificate = read("certificate", &files.certificate)?;
    let key = read("key", &files.key)?;
    let client_ca = read("client_ca", &files.client_ca)?;
    // Clients without a certificate of this CA fail the handshake: tonic requires one once a CA is
    // set.
    Ok(ServerTlsConfig::new()
        .identity(Identity::from_pem(certificate, key))
        .client_ca_root(Certificate::from_pem(client_ca)))
}

fn failed(key: &'static str, address: &dyn std::fmt::Display, cause: io::Error) -> StartError {
    StartError::Listen { key, address: address.to_string(), cause }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stale_socket_is_replaced_and_one_in_use_is_not() {
        // Not in TMPDIR: the path of a socket has 107 bytes at most.
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let path = folder.path().join("grpc.sock");
        // Dropped without removing the file, as after a kill.
        drop(UnixListener::bind(&path).unwrap());
        let (listener, file) = unix(&path).await.unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, SOCKET_MODE);
        let error = unix(&path).await.err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        drop((listener, file));
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn a_file_that_is_not_a_socket_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        fs::write(&path, "mine").unwrap();
        assert!(unix(&path).await.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    }
}
