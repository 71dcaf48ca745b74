//! TLS 1.3 between programs that know each other by their certificates: by the SHA-256 of each, and no authority vouches for it.
//! Neither its names count nor its times: it is trusted as long as it is named.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use ring::digest::{SHA256, digest};
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::default_provider;
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::version::TLS13;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, OtherError,
    ServerConfig, SignatureScheme,
};

use crate::{TlsError, certificates};

/// The SHA-256 of a certificate as DER.
pub type CertificateDigest = [u8; 32];

/// By what a certificate is known.
pub fn digest_of(certificate: &CertificateDer<'_>) -> CertificateDigest {
    let mut found = CertificateDigest::default();
    found.copy_from_slice(digest(&SHA256, certificate).as_ref());
    found
}

/// A certificate of one's own, with its key: what is shown to others. Cheap to clone.
#[derive(Clone)]
pub struct Identity {
    resolver: Arc<SingleCertAndKey>,
    server: Arc<ServerConfig>,
    digest: CertificateDigest,
}

impl fmt::Debug for Identity {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("digest", &self.digest).finish_non_exhaustive()
    }
}

impl Identity {
    /// Reads both, PEM files.
    ///
    /// # Errors
    /// A file cannot be read, or they do not belong together.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let of_chain = TlsError::of(certificate);
        let chain = certificates(certificate)?;
        let digest = chain.first().map(digest_of).unwrap_or_default();
        let of_key = TlsError::of(key);
        let private = PrivateKeyDer::from_pem_file(key).map_err(|error| of_key(&error))?;
        let provider = Arc::new(default_provider());
        let own = CertifiedKey::from_der(chain, private, &provider)
            .map_err(|error| of_chain(&format!("{error} ({})", key.display())))?;
        let resolver = Arc::new(SingleCertAndKey::from(own));
        let server = server(provider, resolver.clone()).map_err(|error| of_chain(&error))?;
        Ok(Identity { resolver, server: Arc::new(server), digest })
    }

    /// By what it is known.
    pub fn digest(&self) -> CertificateDigest {
        self.digest
    }

    /// Of who accepts connections. Who connects is asked for its certificate, and may show any, or none: which one it was is for the
    /// caller to look at ([`digest_of`] of `peer_certificates`). That it has the key of what it shows is proved.
    pub fn server_config(&self) -> Arc<ServerConfig> {
        self.server.clone()
    }
}

fn server(
    provider: Arc<CryptoProvider>,
    resolver: Arc<SingleCertAndKey>,
) -> Result<ServerConfig, rustls::Error> {
    let any = Arc::new(Any(provider.signature_verification_algorithms));
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])?
        .with_client_cert_verifier(any)
        .with_cert_resolver(resolver);
    // Nothing is resumed: each connection shows its certificate.
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// Of who connects to a program that has one of the `named` certificates, and shows `own`, or none. Its handshake with another
/// program fails with an error from which [`other_certificate`] reads what was shown.
///
/// # Errors
/// The library has no TLS 1.3.
pub fn pinned_client_config(
    own: Option<&Identity>,
    named: Vec<CertificateDigest>,
) -> Result<Arc<ClientConfig>, rustls::Error> {
    let provider = Arc::new(default_provider());
    let algorithms = provider.signature_verification_algorithms;
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Named { named, algorithms }));
    let mut config = match own {
        Some(own) => config.with_client_cert_resolver(own.resolver.clone()),
        None => config.with_no_client_auth(),
    };
    config.resumption = Resumption::disabled();
    config.enable_sni = false;
    Ok(Arc::new(config))
}

/// The certificate of the other side, if that is why a handshake failed.
pub fn other_certificate(error: &io::Error) -> Option<CertificateDigest> {
    let error = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    let rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(cause))) = error
    else {
        return None;
    };
    cause.downcast_ref::<OtherCertificate>().map(|other| other.0)
}

/// A certificate that is none of those that are named.
#[derive(Debug, thiserror::Error)]
#[error("it is another certificate than the one that is named")]
struct OtherCertificate(CertificateDigest);

/// Accepts the certificates that are named.
#[derive(Debug)]
struct Named {
    named: Vec<CertificateDigest>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Named {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let found = digest_of(end_entity);
        if self.named.contains(&found) {
            return Ok(ServerCertVerified::assertion());
        }
        let other = OtherError(Arc::new(OtherCertificate(found)));
        Err(CertificateError::Other(other).into())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Lets in who has the key of the certificate that it shows, and who shows none.
#[derive(Debug)]
struct Any(WebPkiSupportedAlgorithms);

impl ClientCertVerifier for Any {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use std::fs;

    use rcgen::{CertificateParams, KeyPair, date_time_ymd};
    use rustls::{ClientConnection, ServerConnection};

    use super::*;

    struct Made {
        certificate: String,
        key: String,
    }

    /// Long expired, which does not count.
    fn made() -> Made {
        let mut params = CertificateParams::new(vec!["n1".to_owned()]).unwrap();
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Made { certificate: certificate.pem(), key: key.serialize_pem() }
    }

    fn read(certificate: &str, key: &str) -> Result<Identity, String> {
        let folder = tempfile::tempdir().unwrap();
        let (of_certificate, of_key) =
            (folder.path().join("cert.pem"), folder.path().join("key.pem"));
        fs::write(&of_certificate, certificate).unwrap();
        fs::write(&of_key, key).unwrap();
        Identity::read(&of_certificate, &of_key).map_err(|error| error.to_string())
    }

    fn identity() -> Identity {
        let made = made();
        read(&made.certificate, &made.key).unwrap()
    }

    /// Both sides of a handshake in memory; what the server was shown, or why one of them has ended it.
    fn meet(
        own: Option<&Identity>,
        named: &[&Identity],
        server: &Identity,
    ) -> Result<Option<CertificateDigest>, rustls::Error> {
        let named = named.iter().map(|identity| identity.digest()).collect();
        let config = pinned_client_config(own, named).unwrap();
        let name = ServerName::try_from("node").unwrap();
        let mut client = ClientConnection::new(config, name).unwrap();
        let mut server = ServerConnection::new(server.server_config()).unwrap();
        while client.is_handshaking() || server.is_handshaking() {
            let mut bytes = Vec::new();
            client.write_tls(&mut bytes).unwrap();
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                server.read_tls(&mut rest).unwrap();
                server.process_new_packets()?;
            }
            bytes.clear();
            server.write_tls(&mut bytes).unwrap();
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                client.read_tls(&mut rest).unwrap();
                client.process_new_packets()?;
            }
        }
        Ok(server.peer_certificates().and_then(|shown| shown.first()).map(digest_of))
    }

    #[test]
    fn who_is_named_is_trusted_and_nobody_else() {
        let (n1, n2, n3) = (identity(), identity(), identity());
        assert_eq!(meet(Some(&n1), &[&n2], &n2), Ok(Some(n1.digest())));
        assert_eq!(meet(Some(&n1), &[&n3, &n2], &n2), Ok(Some(n1.digest())), "one of two");
        assert_eq!(meet(None, &[&n2], &n2), Ok(None), "who only asks shows nothing");
        for named in [&[&n1, &n3][..], &[]] {
            let refused = io::Error::other(meet(Some(&n1), named, &n2).unwrap_err());
            assert_eq!(other_certificate(&refused), Some(n2.digest()), "{refused}");
        }
        assert_eq!(other_certificate(&io::Error::other("something else")), None);
    }

    /// Shows the certificate of another one, whose key it does not have.
    #[test]
    fn a_certificate_without_its_key_is_worth_nothing() {
        let (n1, n2) = (made(), made());
        let chain: Vec<CertificateDer<'_>> =
            vec![CertificateDer::from_pem_slice(n1.certificate.as_bytes()).unwrap()];
        let digest = digest_of(&chain[0]);
        let private = PrivateKeyDer::from_pem_slice(n2.key.as_bytes()).unwrap();
        let provider = Arc::new(default_provider());
        let key = provider.key_provider.load_private_key(private).unwrap();
        let resolver = Arc::new(SingleCertAndKey::from(CertifiedKey::new(chain, key)));
        let server = Arc::new(server(provider, resolver.clone()).unwrap());
        let liar = Identity { resolver, server, digest };
        let honest = read(&n1.certificate, &n1.key).unwrap();
        assert_eq!(honest.digest(), liar.digest());
        assert_eq!(meet(Some(&honest), &[&honest], &honest), Ok(Some(digest)));
        meet(Some(&liar), &[&honest], &honest).unwrap_err();
        meet(Some(&honest), &[&honest], &liar).unwrap_err();
    }

    #[test]
    fn files_that_do_not_belong_together_are_refused() {
        let (one, other) = (made(), made());
        for (certificate, key, says) in [
            (&one.certificate[..], &other.key[..], "key.pem"),
            (&one.certificate, "", "key.pem"),
            ("", &one.key, "BEGIN CERTIFICATE"),
        ] {
            let refused = read(certificate, key).unwrap_err();
            assert!(refused.starts_with("TLS: ") && refused.contains(says), "{refused}");
        }
        let shown = format!("{:?}", read(&one.certificate, &one.key).unwrap());
        assert!(shown.contains("digest") && !shown.contains("key"), "{shown}");
    }
}
