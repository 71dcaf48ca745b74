//! TLS of the client: who the server must be.
//!
//! The file of roots may have the server's own certificate, as `openssl req -x509` makes it: signed by itself, and marked as one that may
//! sign others. webpki refuses to see such a one at the end of a chain. But who names it in the file trusts it as it is.

use std::sync::Arc;

use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::client::verify_server_name;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{
    self, CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore,
    SignatureScheme,
};

use crate::error::{ClientError, Result};
use crate::options::{ClientOptions, TlsRoots};

/// Settings of a connection.
pub(crate) fn config(roots: &TlsRoots) -> Result<Arc<ClientConfig>> {
    let wrong = |reason: &dyn std::fmt::Display| {
        ClientError::Options(format!("{}: {reason}", roots.roots.display()))
    };
    let trusted = CertificateDer::pem_file_iter(&roots.roots)
        .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
        .map_err(|e| wrong(&e))?;
    if trusted.is_empty() {
        return Err(wrong(&"has no certificate (PEM, 'BEGIN CERTIFICATE')"));
    }
    let mut store = RootCertStore::empty();
    for certificate in &trusted {
        store.add(certificate.clone()).map_err(|e| wrong(&e))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let by_chain = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider.clone())
        .build()
        .map_err(|e| wrong(&e))?;
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|e| wrong(&e))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Trusted { trusted, by_chain }))
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// The name that the server's certificate must have.
pub(crate) fn server_name(
    options: &ClientOptions,
    roots: &TlsRoots,
) -> Result<ServerName<'static>> {
    let of_address =
        || options.address.rsplit_once(':').map_or(&*options.address, |(host, _)| host);
    let name = roots.server_name.as_deref().unwrap_or_else(of_address);
    let name = name.trim_start_matches('[').trim_end_matches(']').to_owned();
    ServerName::try_from(name).map_err(|e| ClientError::Options(format!("name of the server: {e}")))
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
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
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
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.by_chain.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
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
    ) -> std::result::Result<(), String> {
        let mut store = RootCertStore::empty();
        store.add(trusted.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
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
    fn within_its_time() {
        let old = self_signed(|params| {
            params.not_before = date_time_ymd(2020, 1, 1);
            params.not_after = date_time_ymd(2021, 1, 1);
        });
        let refused = verified(&old, &old, "localhost").unwrap_err();
        assert!(refused.contains("expired"), "{refused}");
    }
}
