//! TLS of the connections: rustls, with the configured roots and client certificate.

use std::{path::Path, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{client_tls::ClientTls, postgres::connection::fault::PostgresRefusal};

/// Makes the TLS side of a connection.
#[derive(Clone)]
pub(crate) struct Tls {
    rustls: MakeRustlsConnect,
    /// Name in the server's certificate, if it differs from the host.
    name: Option<String>,
}

impl Tls {
    /// Reads the certificates. Blocks: call it at start-up.
    ///
    /// # Errors
    /// [`PostgresRefusal::Tls`] names the setting and the cause.
    pub(crate) fn new(settings: &ClientTls) -> Result<Self, PostgresRefusal> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable("tls", &error))?;
        let builder = match &settings.ca {
            Some(file) => builder.with_root_certificates(roots(file)?),
            None => builder.with_platform_verifier().map_err(|error| unusable("ca", &error))?,
        };
        let config = match &settings.identity {
            Some((certificate, key)) => {
                let chain = certificates(certificate, "certificate")?;
                let key =
                    PrivateKeyDer::from_pem_file(key).map_err(|error| unusable("key", &error))?;
                builder
                    .with_client_auth_cert(chain, key)
                    .map_err(|error| unusable("certificate", &error))?
            }
            None => builder.with_no_client_auth(),
        };
        Ok(Self { rustls: MakeRustlsConnect::new(config), name: settings.server_name.clone() })
    }
}

fn roots(file: &Path) -> Result<RootCertStore, PostgresRefusal> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file, "ca")? {
        roots.add(certificate).map_err(|error| unusable("ca", &error))?;
    }
    Ok(roots)
}

/// The certificates of a PEM file, at least one.
fn certificates(
    file: &Path,
    setting: &str,
) -> Result<Vec<CertificateDer<'static>>, PostgresRefusal> {
    let certificates = CertificateDer::pem_file_iter(file).and_then(Iterator::collect);
    let certificates: Vec<_> = certificates.map_err(|error| unusable(setting, &error))?;
    if certificates.is_empty() {
        return Err(unusable(setting, &"has no certificate"));
    }
    Ok(certificates)
}

fn unusable(setting: &str, cause: &dyn std::fmt::Display) -> PostgresRefusal {
    PostgresRefusal::Tls(format!("tls.{setting}: {cause}"))
}

impl<S> MakeTlsConnect<S> for Tls
where
    MakeRustlsConnect: MakeTlsConnect<S>,
{
    type Stream = <MakeRustlsConnect as MakeTlsConnect<S>>::Stream;
    type TlsConnect = <MakeRustlsConnect as MakeTlsConnect<S>>::TlsConnect;
    type Error = <MakeRustlsConnect as MakeTlsConnect<S>>::Error;

    fn make_tls_connect(&mut self, host: &str) -> Result<Self::TlsConnect, Self::Error> {
        self.rustls.make_tls_connect(self.name.as_deref().unwrap_or(host))
    }
}
