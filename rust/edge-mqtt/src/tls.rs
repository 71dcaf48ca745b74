//! TLS to a broker: who the broker must be, what this client shows, and what comes of it if that fails.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use afterbay_tls::{TlsError, client_config_of, server_name};
use rustls::pki_types::ServerName;
use rustls::version::{TLS12, TLS13};
use rustls::{AlertDescription, CertificateError, ClientConfig};

use crate::client::{Ended, is_closing};
use crate::options::Broker;

/// The files that it needs, and a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The broker's certificate, or that of its authority.
    pub roots: PathBuf,
    /// A certificate of this client and its key, for brokers that want one.
    pub own: Option<(PathBuf, PathBuf)>,
    /// The name in the broker's certificate, if it is not the broker's host.
    pub server_name: Option<String>,
}

/// What is read of them. Brokers of sites are old: TLS 1.2 will do, if it is all that one has.
#[derive(Clone)]
pub struct Tls {
    files: Arc<TlsFiles>,
    /// The option that has the broker's address.
    flag: &'static str,
    pub(crate) config: Arc<ClientConfig>,
    pub(crate) name: ServerName<'static>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tls").field(&self.files).finish()
    }
}

impl Tls {
    /// Reads the files. The flag is the option that has the broker's address, for messages that say what to change.
    ///
    /// # Errors
    /// One cannot be read, or has not what it is for.
    pub fn open(files: TlsFiles, broker: &Broker, flag: &'static str) -> Result<Self, TlsError> {
        let own = files.own.as_ref().map(|(certificate, key)| (&**certificate, &**key));
        let config = client_config_of(&files.roots, own, &[&TLS13, &TLS12])?;
        let host = files.server_name.as_deref().unwrap_or(&broker.host);
        let name = server_name(host, Some(host))?;
        Ok(Self { files: Arc::new(files), flag, config, name })
    }

    /// Why a connection has failed; none if the broker has closed it and not said why.
    pub(crate) fn ended(&self, error: &io::Error) -> Option<Ended> {
        use rustls::Error;
        let of_tls = error.get_ref().and_then(|cause| cause.downcast_ref::<Error>());
        let Some(of_tls) = of_tls else {
            let is_closed = error.kind() == io::ErrorKind::UnexpectedEof || is_closing(error);
            return (!is_closed).then(|| Ended::Lost(format!("I/O: {error}")));
        };
        Some(match of_tls {
            Error::InvalidCertificate(why) => self.not_this_broker(why),
            Error::AlertReceived(alert) => self.not_this_client(*alert),
            Error::InvalidMessage(_) => Ended::Refused(format!(
                "what it says is no TLS; give {} the port at which it speaks that, or mqtt:// without it",
                self.flag
            )),
            Error::PeerIncompatible(why) => Ended::Refused(no_version(&format!("{why:?}"))),
            other => Ended::Lost(format!("TLS: {other}")),
        })
    }

    fn not_this_broker(&self, why: &CertificateError) -> Ended {
        use CertificateError as Why;
        let (roots, name) = (self.files.roots.display(), self.name.to_str());
        match why {
            // By a clock that has not been set yet: that passes.
            Why::NotValidYet | Why::NotValidYetContext { .. } => Ended::Lost(format!(
                "its certificate is not valid yet; set the clock here, or give it another one ({why})"
            )),
            Why::Expired | Why::ExpiredContext { .. } => Ended::Refused(format!(
                "its certificate has expired; give it a new one, or set the clock here ({why})"
            )),
            Why::NotValidForName | Why::NotValidForNameContext { .. } => Ended::Refused(format!(
                "its certificate is not for {name:?}; give {} a host that is in it, or --mqtt-server-name ({why})",
                self.flag
            )),
            Why::UnknownIssuer | Why::BadSignature | Why::Other(_) => Ended::Refused(format!(
                "its certificate is not of the authority in {roots}; give --mqtt-ca the certificate of the one that has signed it, or its own if that is signed by itself ({why})"
            )),
            _ => {
                Ended::Refused(format!("its certificate is not taken; give it another one ({why})"))
            }
        }
    }

    fn not_this_client(&self, alert: AlertDescription) -> Ended {
        use AlertDescription as Alert;
        match alert {
            Alert::ProtocolVersion | Alert::InsufficientSecurity => {
                Ended::Refused(no_version(&format!("{alert:?}")))
            }
            Alert::UnrecognisedName => Ended::Refused(format!(
                "it has no certificate for {:?}; give {} another host, or --mqtt-server-name",
                self.name.to_str(),
                self.flag
            )),
            Alert::AccessDenied
            | Alert::BadCertificate
            | Alert::CertificateExpired
            | Alert::CertificateRequired
            | Alert::CertificateRevoked
            | Alert::CertificateUnknown
            | Alert::DecryptError
            | Alert::HandshakeFailure
            | Alert::NoCertificate
            | Alert::UnknownCA
            | Alert::UnsupportedCertificate => Ended::Refused(match &self.files.own {
                None => format!(
                    "it wants a certificate of its clients; give --mqtt-cert and --mqtt-key ({alert:?})"
                ),
                Some((certificate, _)) => format!(
                    "it does not take the certificate {}; give --mqtt-cert one of an authority that it trusts, or let it trust this one ({alert:?})",
                    certificate.display()
                ),
            }),
            other => Ended::Lost(format!("TLS: it has said {other:?}")),
        }
    }
}

fn no_version(why: &str) -> String {
    format!("it speaks neither TLS 1.3 nor 1.2 with ciphers that are known here ({why})")
}
