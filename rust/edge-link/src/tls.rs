//! TLS 1.3 of both sides, from PEM files.
//!
//! The file of roots may have the gateway's own certificate, signed by itself and marked as one that may sign others
//! (`openssl req -x509`). webpki refuses to see such a one at the end of a chain. But who names it in the file trusts it as it is.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore, ServerConfig,
    SignatureScheme,
};

/// What is spoken, as ALPN names it: frames of codec 0; of codecs 0 and 1. Who names nothing speaks the first.
const PLAIN: &[u8] = b"abel/1";
pub(crate) const COLUMNS: &[u8] = b"abel/1+columns";

/// Why TLS cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("TLS: {place}: {reason}")]
pub struct TlsError {
    place: String,
    reason: String,
}

impl TlsError {
    fn of(path: &Path) -> impl Fn(&dyn fmt::Display) -> Self + use<> {
        let path: PathBuf = path.to_owned();
        move |reason| Self { place: path.display().to_string(), reason: reason.to_string() }
    }
}

/// Of a gateway with this certificate and its key.
///
/// # Errors
/// A file cannot be read, or they do not belong together.
pub fn server_config(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, TlsError> {
    let of_chain = TlsError::of(certificate);
    let chain = certificates(certificate)?;
    let of_key = TlsError::of(key);
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| of_key(&error))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .and_then(|config| config.with_no_client_auth().with_single_cert(chain, private))
        .map_err(|error| of_chain(&error))?;
    config.alpn_protocols = vec![COLUMNS.to_vec(), PLAIN.to_vec()];
    Ok(Arc::new(config))
}

/// Of a site that trusts these certificates.
///
/// # Errors
/// The file cannot be read, or has none.
pub fn client_config(roots: &Path) -> Result<Arc<ClientConfig>, TlsError> {
    let wrong = TlsError::of(roots);
    let trusted = certificates(roots)?;
    let mut store = RootCertStore::empty();
    for certificate in &trusted {
        store.add(certificate.clone()).map_err(|error| wrong(&error))?;
    }
    let provider = Arc::new(default_provider());
    let by_chain = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider.clone())
        .build()
        .map_err(|error| wrong(&error))?;
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|error| wrong(&error))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Trusted { trusted, by_chain }))
        .with_no_client_auth();
    config.alpn_protocols = vec![COLUMNS.to_vec(), PLAIN.to_vec()];
    Ok(Arc::new(config))
}

/// The same, but frames are of codec 0.
pub fn plain_frames(config: &ClientConfig) -> Arc<ClientConfig> {
    let mut config = config.clone();
    config.alpn_protocols = vec![PLAIN.to_vec()];
    Arc::new(config)
}

/// The name that the gateway's certificate must have: the given one, or the host of the address.
///
/// # Errors
/// It is no name.
pub fn server_name(address: &str, name: Option<&str>) -> Result<ServerName<'static>, TlsError> {
    let of_address = || address.rsplit_once(':').map_or(address, |(host, _)| host);
    let name = name.unwrap_or_else(of_address);
    let bare = name.trim_start_matches('[').trim_end_matches(']').to_owned();
    ServerName::try_from(bare).map_err(|error| TlsError {
        place: format!("name of the gateway {name:?}"),
        reason: error.to_string(),
    })
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let wrong = TlsError::of(path);
    let all = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(&error))?;
    if all.is_empty() {
        return Err(wrong(&"has no certificate (PEM, 'BEGIN CERTIFICATE')"));
    }
    Ok(all)
}

/// Accepts a certificate that one of the trusted ones signed, or that is one of them.
#[derive(Debug)]
struct Trusted {
    trusted: Vec<CertificateDer<'static>>,
    by_chain: Arc<WebPkiServerVerifier>,
}

impl ServerCertVerifier for Trusted {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verified = self.by_chain.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match verified {
            Err(error) if is_of_authority(&error) && self.trusted.contains(end_entity) => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.by_chain.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.by_chain.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.by_chain.supported_verify_schemes()
    }
}

/// Whether a certificate was refused only because it may sign others. webpki looks at its time first.
fn is_of_authority(error: &rustls::Error) -> bool {
    let rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(cause))) = error
    else {
        return false;
    };
    matches!(cause.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}
