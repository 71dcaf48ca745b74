//! What breaks a connection.

use std::io;

/// Why a connection cannot go on. Afterwards nobody knows where the next frame begins: it is closed.
#[derive(Debug, thiserror::Error)]
pub enum ProtocolError {
    /// The bytes are not those of the protocol.
    #[error("protocol: {what}: {reason}")]
    Malformed {
        /// What was being read.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The bytes are not those that were sent.
    #[error("protocol: {what}: checksum mismatch")]
    Checksum {
        /// What was being read.
        what: &'static str,
    },
    /// The connection broke.
    #[error("connection: {0}")]
    Io(#[from] io::Error),
    /// The other side closed it.
    #[error("connection: closed by the other side")]
    Closed,
}

impl ProtocolError {
    pub(crate) fn malformed(what: &'static str, reason: impl Into<String>) -> Self {
        ProtocolError::Malformed { what, reason: reason.into() }
    }
}

/// The result of reading from a connection.
pub type Result<T> = std::result::Result<T, ProtocolError>;
