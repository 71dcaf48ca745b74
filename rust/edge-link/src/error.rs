//! Why a link ends.

use thiserror::Error;

use crate::key::KeyError;
use crate::message::Refusal;

/// Why nothing more is sent or received.
#[derive(Debug, Error)]
pub enum LinkError {
    /// The network, or the other side has gone.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// Nothing came for too long.
    #[error("nothing has come for {0:?}")]
    Silent(std::time::Duration),
    /// Who connects has not said who it is in time, or who is there.
    #[error("the handshake was not over within {0:?}")]
    Slow(std::time::Duration),
    /// The key of a site cannot be read.
    #[error("the key of a site: {0}")]
    Key(#[from] KeyError),
    /// The other side has closed it.
    #[error("the other side has closed the connection")]
    Closed,
    /// Of TLS.
    #[error("TLS: {0}{hint}", hint = hint(.0))]
    Tls(#[from] rustls::Error),
    /// Bytes that mean nothing.
    #[error("{0}")]
    Protocol(String),
    /// The other side does not want it.
    #[error("refused: {text}")]
    Refused {
        /// What kind of refusal it is.
        refusal: Refusal,
        /// What it says, for people.
        text: String,
    },
    /// The gateway does not know the secret of the site's key.
    #[error(
        "the gateway does not know the secret of key {0}: it is another one, or somebody stands between"
    )]
    WrongGateway(String),
}

fn hint(error: &rustls::Error) -> &'static str {
    match error {
        rustls::Error::InvalidMessage(_) => "; the other side does not speak TLS",
        rustls::Error::InvalidCertificate(_) => {
            "; --tls-roots has to name the gateway's certificate or its authority, --tls-server-name a name in it"
        }
        _ => "",
    }
}

/// What comes of an operation.
pub(crate) type Result<T> = std::result::Result<T, LinkError>;
