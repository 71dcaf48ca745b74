//! TLS of both sides, from PEM files: who the server must be, and what each side shows. It is 1.3, if nobody asks for less.
//! Where both know each other's certificates, [`Identity`] and [`pinned_client_config`] need no authority.
//!
//! The file of roots may have the server's own certificate, signed by itself and marked as one that may sign others
//! (`openssl req -x509`). webpki refuses to see such a one at the end of a chain. But who names it in the file trusts it as it is.

mod pinned;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore, ServerConfig,
    SignatureScheme, SupportedProtocolVersion,
};

pub use pinned::{CertificateDigest, Identity, digest_of, other_certificate, pinned_client_config};

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

/// Of a server with this certificate and its key.
///
/// # Errors
/// A file cannot be read, or they do not belong together.
pub fn server_config(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, TlsError> {
    let of_chain = TlsError::of(certificate);
    let chain = certificates(certificate)?;
    let private = private_key(key)?;
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .and_then(|config| config.with_no_client_auth().with_single_cert(chain, private))
        .map_err(|error| of_chain(&error))?;
    Ok(Arc::new(config))
}

/// Of a client that trusts these certificates.
///
/// # Errors
/// The file cannot be read, or has none.
pub fn client_config(roots: &Path) -> Result<Arc<ClientConfig>, TlsError> {
    client_config_of(roots, None, &[&rustls::version::TLS13])
}

/// Of a client that trusts these certificates, shows one of its own with its key if the server asks for it, and speaks these
/// versions.
///
/// # Errors
/// A file cannot be read, or has not what it is for; or certificate and key do not belong together.
pub fn client_config_of(
    roots: &Path,
    own: Option<(&Path, &Path)>,
    versions: &[&'static SupportedProtocolVersion],
) -> Result<Arc<ClientConfig>, TlsError> {
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
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .map_err(|error| wrong(&error))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Trusted { trusted, by_chain }));
    let Some((certificate, key)) = own else { return Ok(Arc::new(config.with_no_client_auth())) };
    let (chain, private) = (certificates(certificate)?, private_key(key)?);
    let config = config.with_client_auth_cert(chain, private).map_err(|error| {
        TlsError::of(certificate)(&format!(
            "it does not go with the key {}: {error}",
            key.display()
        ))
    })?;
    Ok(Arc::new(config))
}

/// The name that the server's certificate must have: the given one, or the host of the address.
///
/// # Errors
/// It is no name.
pub fn server_name(address: &str, name: Option<&str>) -> Result<ServerName<'static>, TlsError> {
    let of_address = || address.rsplit_once(':').map_or(address, |(host, _)| host);
    let name = name.unwrap_or_else(of_address);
    let bare = name.trim_start_matches('[').trim_end_matches(']').to_owned();
    ServerName::try_from(bare).map_err(|error| TlsError {
        place: format!("name of the server {name:?}"),
        reason: error.to_string(),
    })
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let wrong = TlsError::of(path);
    let all = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(&of_file(&error)))?;
    if all.is_empty() {
        return Err(wrong(&"has no certificate (PEM, 'BEGIN CERTIFICATE')"));
    }
    Ok(all)
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let wrong = TlsError::of(path);
    PrivateKeyDer::from_pem_file(path).map_err(|error| match error {
        pem::Error::NoItemsFound => wrong(&"has no private key (PEM, 'BEGIN PRIVATE KEY')"),
        error => wrong(&of_file(&error)),
    })
}

/// What is wrong with a file, and what to do about it.
fn of_file(error: &pem::Error) -> String {
    match error {
        pem::Error::Io(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            format!("{error}; give the user that this runs as leave to read it")
        }
        error => error.to_string(),
    }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, date_time_ymd};

    use super::*;

    /// As `openssl req -x509` makes it.
    fn self_signed(change: impl FnOnce(&mut CertificateParams)) -> CertificateDer<'static> {
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        change(&mut params);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().clone()
    }

    fn verified(
        trusted: &CertificateDer<'static>,
        shown: &CertificateDer<'static>,
        name: &'static str,
    ) -> Result<(), String> {
        let mut store = RootCertStore::empty();
        store.add(trusted.clone()).unwrap();
        let provider = Arc::new(default_provider());
        let by_chain = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider);
        let by_chain = by_chain.build().unwrap();
        let verifier = Trusted { trusted: vec![trusted.clone()], by_chain };
        let name = ServerName::try_from(name).unwrap();
        let verified = verifier.verify_server_cert(shown, &[], &name, &[], UnixTime::now());
        verified.map(|_| ()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_certificate_that_signs_itself_is_trusted_as_it_is() {
        let (ours, other) = (self_signed(|_| ()), self_signed(|_| ()));
        verified(&ours, &ours, "localhost").unwrap();
        let refused = verified(&ours, &ours, "example.org").unwrap_err();
        assert!(refused.contains("not valid for name"), "{refused}");
        verified(&ours, &other, "localhost").unwrap_err();
    }

    #[test]
    fn what_may_not_be_read_is_said_with_a_way_out() {
        let denied = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let said = of_file(&pem::Error::Io(denied));
        assert!(said.contains("leave to read it"), "{said}");
        let gone = std::io::Error::from(std::io::ErrorKind::NotFound);
        assert!(!of_file(&pem::Error::Io(gone)).contains("leave"));
    }

    #[test]
    fn within_its_time() {
        let old = self_signed(|params| {
            params.not_before = date_time_ymd(2020, 1, 1);
            params.not_after = date_time_ymd(2021, 1, 1);
        });
        let refused = verified(&old, &old, "localhost").unwrap_err();
        assert!(refused.contains("expired"), "{refused}");
    }
}
