//! TLS for the REST API: a listener whose handshakes run beside each other, so that a client that
//! stalls delays nobody, and whose certificate can be replaced.

use std::{
    io,
    net::SocketAddr,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use axum::{
    extract::connect_info::Connected,
    serve::{IncomingStream, Listener},
};
use rustls::{
    ServerConfig,
    crypto::ring::default_provider,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, mpsc},
    time::timeout,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tokio_util::task::AbortOnDropHandle;

use crate::{api::Peer, startup::StartError};
use memgate_config::HttpTls;

/// Maximum number of handshakes at a time. At the bound, new connections wait in the kernel.
const HANDSHAKES: usize = 256;
/// Timeout of a handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// The certificate in use.
pub(super) struct Certificate {
    files: HttpTls,
    current: RwLock<Arc<ServerConfig>>,
}

impl Certificate {
    /// Reads the files. Blocks.
    ///
    /// # Errors
    /// [`StartError::Unusable`] names the member.
    pub(super) fn read(files: &HttpTls) -> Result<Self, StartError> {
        Ok(Self { files: files.clone(), current: RwLock::new(server_config(files)?) })
    }

    /// Reads the files again; new connections use what they contain. Blocks.
    ///
    /// # Errors
    /// As [`Certificate::read`]; the old certificate stays in use then.
    pub(super) fn reload(&self) -> Result<(), StartError> {
        let new = server_config(&self.files)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = new;
        Ok(())
    }

    fn acceptor(&self) -> TlsAcceptor {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        TlsAcceptor::from(current.clone())
    }
}

fn server_config(files: &HttpTls) -> Result<Arc<ServerConfig>, StartError> {
    let unusable = |member: &str, cause: &dyn std::fmt::Display| StartError::Unusable {
        key: "listen.http_tls",
        cause: format!("{member}: {cause}"),
    };
    let chain = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unusable("certificate", &error))?;
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| unusable("key", &error))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable("certificate", &error))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| unusable("certificate", &error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// A listener for TLS connections.
pub(super) struct TlsListener {
    address: SocketAddr,
    ready: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    _accepting: AbortOnDropHandle<()>,
}

impl TlsListener {
    /// # Errors
    /// When the listener has no address.
    pub(super) fn new(listener: TcpListener, certificate: Arc<Certificate>) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (done, ready) = mpsc::channel(1);
        let accepting = tokio::spawn(accept(listener, certificate, done));
        Ok(Self { address, ready, _accepting: AbortOnDropHandle::new(accepting) })
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.ready.recv().await {
            Some(connection) => connection,
            // The accepting task ends only with this listener.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}

impl Connected<IncomingStream<'_, TlsListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, TlsListener>) -> Self {
        Self(stream.remote_addr().ip())
    }
}

async fn accept(
    mut listener: TcpListener,
    certificate: Arc<Certificate>,
    done: mpsc::Sender<(TlsStream<TcpStream>, SocketAddr)>,
) {
    let handshakes = Arc::new(Semaphore::new(HANDSHAKES));
    while let Ok(permit) = handshakes.clone().acquire_owned().await {
        // Pauses after errors such as too many open files.
        let (stream, peer) = Listener::accept(&mut listener).await;
        let (acceptor, done) = (certificate.acceptor(), done.clone());
        tokio::spawn(async move {
            // A client that is refused has seen why; others end by the timeout.
            if let Ok(Ok(stream)) = timeout(HANDSHAKE, acceptor.accept(stream)).await {
                let _ = done.send((stream, peer)).await;
            }
            drop(permit);
        });
    }
}
