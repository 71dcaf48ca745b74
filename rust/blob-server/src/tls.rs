//! TLS of the server: certificates that can be read again while it runs.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{self, ServerConfig, SupportedProtocolVersion};

/// Why TLS cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("TLS: {}: {reason}", path.display())]
pub struct TlsError {
    path: PathBuf,
    reason: String,
}

impl TlsError {
    fn new(path: &Path, reason: impl fmt::Display) -> Self {
        TlsError { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// A chain of certificates with its key, from PEM files. All protocols of a server show the same one; connections that are open
/// keep what they began with. Cheap to clone.
#[derive(Clone)]
pub struct Certificates(Arc<Inner>);

struct Inner {
    certificate: PathBuf,
    key: PathBuf,
    provider: Arc<CryptoProvider>,
    current: RwLock<Arc<CertifiedKey>>,
}

impl fmt::Debug for Certificates {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Certificates").field(&self.0.certificate).finish()
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Certificates")
    }
}

impl Certificates {
    /// Reads the files.
    pub fn open(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let current = RwLock::new(Arc::new(read(certificate, key, &provider)?));
        let (certificate, key) = (certificate.to_owned(), key.to_owned());
        Ok(Certificates(Arc::new(Inner { certificate, key, provider, current })))
    }

    /// Reads the files again: new connections see what they have now. After an error, what there was before.
    pub fn reload(&self) -> Result<(), TlsError> {
        let Inner { certificate, key, provider, current } = &*self.0;
        let new = Arc::new(read(certificate, key, provider)?);
        *current.write().unwrap_or_else(PoisonError::into_inner) = new;
        Ok(())
    }

    /// Accepts connections of the native protocol: TLS 1.3 alone.
    pub fn acceptor(&self) -> Result<TlsAcceptor, TlsError> {
        Ok(TlsAcceptor::from(Arc::new(self.config(&[&rustls::version::TLS13])?)))
    }

    /// Accepts connections of HTTP clients, some of which know no TLS 1.3.
    pub fn http_acceptor(&self) -> Result<TlsAcceptor, TlsError> {
        let mut config = self.config(&[&rustls::version::TLS13, &rustls::version::TLS12])?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    fn config(
        &self,
        versions: &[&'static SupportedProtocolVersion],
    ) -> Result<ServerConfig, TlsError> {
        let config = ServerConfig::builder_with_provider(self.0.provider.clone())
            .with_protocol_versions(versions)
            .map_err(|e| TlsError::new(&self.0.certificate, e))?;
        Ok(config.with_no_client_auth().with_cert_resolver(self.0.clone()))
    }
}

impl ResolvesServerCert for Inner {
    fn resolve(&self, _client: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.current.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

fn read(
    certificate: &Path,
    key: &Path,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, TlsError> {
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|e| TlsError::new(certificate, e))?;
    if chain.is_empty() {
        let reason = "has no certificate (PEM, 'BEGIN CERTIFICATE')";
        return Err(TlsError::new(certificate, reason));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|e| TlsError::new(key, e))?;
    // Also whether the key is that of the certificate.
    CertifiedKey::from_der(chain, private, provider).map_err(|e| TlsError::new(certificate, e))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, certificate: &str, key: &str) -> (PathBuf, PathBuf) {
        let (cert, private) = (folder.join("c.pem"), folder.join("k.pem"));
        std::fs::write(&cert, certificate).unwrap();
        std::fs::write(&private, key).unwrap();
        (cert, private)
    }

    fn made() -> (String, String, Vec<u8>) {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        (made.cert.pem(), made.signing_key.serialize_pem(), made.cert.der().to_vec())
    }

    #[test]
    fn what_cannot_be_used_does_not_replace_what_can() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (made(), made());
        let (cert, key) = write(folder.path(), &first.0, &first.1);
        let certificates = Certificates::open(&cert, &key).unwrap();
        let shown = || certificates.0.current.read().unwrap().cert[0].to_vec();
        assert_eq!(shown(), first.2);
        for (cert, key) in [
            (second.0.as_str(), first.1.as_str()),
            (&second.0, ""),
            ("", &second.1),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", &second.1),
        ] {
            write(folder.path(), cert, key);
            let refused = certificates.reload().unwrap_err().to_string();
            assert!(refused.starts_with("TLS: ") && refused.contains(".pem"), "{refused}");
            assert_eq!(shown(), first.2, "{refused}");
        }
        write(folder.path(), &second.0, &second.1);
        certificates.reload().unwrap();
        assert_eq!(shown(), second.2);
        assert!(!format!("{certificates:?}").contains("BEGIN"));
    }
}
