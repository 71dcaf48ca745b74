//! Why a gateway does not run.

use std::path::PathBuf;

use thiserror::Error;

/// Why a gateway does not run.
#[derive(Debug, Error)]
pub enum GatewayError {
    /// Of an output in files, or of keys.
    #[error("{}: {reason}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Of another output.
    #[error("{0}")]
    Output(String),
    /// What was committed is not understood.
    #[error(
        "record {key:?} of the output: {reason}; it is of a newer version, or somebody else wrote it"
    )]
    Record {
        /// Which one.
        key: String,
        /// What is wrong.
        reason: String,
    },
    /// The address cannot be used.
    #[error("cannot listen on {address}: {reason}")]
    Listen {
        /// Which one.
        address: String,
        /// Why.
        reason: std::io::Error,
    },
}

/// What comes of it.
pub(crate) type Result<T> = std::result::Result<T, GatewayError>;
