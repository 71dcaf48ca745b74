//! What can go wrong for a client.

use std::time::Duration;

use afterbay_blob_proto::{Code, Failure, ProtocolError};

/// The result of a request.
pub type Result<T> = std::result::Result<T, ClientError>;

/// Why a request was not answered as asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// No connection.
    #[error("{address}: cannot connect: {reason}")]
    Connect {
        /// The server.
        address: String,
        /// Why, and the way out.
        reason: String,
    },
    /// The server did not prove that it knows the secret.
    #[error("{address}: the server does not know the secret of key '{key}': it is another server")]
    WrongServer {
        /// The server.
        address: String,
        /// The key.
        key: String,
    },
    /// The connection broke.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The server refused.
    #[error(transparent)]
    Refused(#[from] Failure),
    /// The server does not answer.
    #[error("no answer within {0:?}")]
    Timeout(Duration),
    /// The content could not be read.
    #[error("the content could not be read: {0}")]
    Source(afterbay_blob_router::SourceError),
    /// The server stored something else than was sent.
    #[error("the server stored {found} where {expected} was sent; put it again")]
    Differs {
        /// Length and checksum of what was sent.
        expected: String,
        /// What the server says.
        found: String,
    },
    /// Settings that cannot be.
    #[error("{0}")]
    Options(String),
}

impl ClientError {
    /// What kind of refusal it is, if it is one.
    pub fn code(&self) -> Option<Code> {
        match self {
            ClientError::Refused(failure) => Some(failure.code),
            _ => None,
        }
    }

    pub(crate) fn unexpected(what: &dyn std::fmt::Debug) -> Self {
        ClientError::Protocol(ProtocolError::Malformed {
            what: "response",
            reason: format!("{what:?} does not answer the request"),
        })
    }
}
