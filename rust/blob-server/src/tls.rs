//! TLS of the server.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig, SupportedProtocolVersion};

/// Why TLS cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("TLS: {}: {reason}", path.display())]
pub struct TlsError {
    path: PathBuf,
    reason: String,
}

/// Accepts connections of the native protocol: TLS 1.3 alone.
pub fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, TlsError> {
    Ok(TlsAcceptor::from(Arc::new(config(certificate, key, &[&rustls::version::TLS13])?)))
}

/// Accepts connections of HTTP clients, some of which know no TLS 1.3.
pub fn http_acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, TlsError> {
    let versions = [&rustls::version::TLS13, &rustls::version::TLS12];
    let mut config = config(certificate, key, &versions)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// A configuration with a chain of certificates and a key from PEM files.
pub fn config(
    certificate: &Path,
    key: &Path,
    versions: &[&'static SupportedProtocolVersion],
) -> Result<ServerConfig, TlsError> {
    let wrong = |path: &Path, reason: &dyn std::fmt::Display| TlsError {
        path: path.to_owned(),
        reason: reason.to_string(),
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|e| wrong(certificate, &e))?;
    if chain.is_empty() {
        return Err(wrong(certificate, &"has no certificate (PEM, 'BEGIN CERTIFICATE')"));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|e| wrong(key, &e))?;
    ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(versions)
        .map_err(|e| wrong(certificate, &e))?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|e| wrong(certificate, &e))
}
