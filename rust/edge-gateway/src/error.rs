//! Why a gateway does not run.

use std::path::PathBuf;
use std::sync::Arc;

use thiserror::Error;

/// Why a gateway does not run.
#[derive(Debug, Clone, Error)]
pub enum GatewayError {
    /// Of an output in files, or of keys.
    #[error("{}: {reason}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A sync failed.
    #[error(
        "{}: a sync failed ({reason}), and nobody knows what the disk has: this gateway writes nothing any more; start it again, and it goes on from what is there",
        path.display()
    )]
    Sync {
        /// Of which file.
        path: PathBuf,
        /// What the disk says.
        reason: String,
    },
    /// Of another output.
    #[error("{0}")]
    Output(String),
    /// The output takes no rows of this stream. Others go on.
    #[error("stream {stream}: {reason}")]
    Stream {
        /// Which one.
        stream: String,
        /// What is wrong, and what to do.
        reason: String,
    },
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
        reason: Arc<std::io::Error>,
    },
}

impl GatewayError {
    /// Whether only another process can go on.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Sync { .. })
    }
}

/// What comes of it.
pub(crate) type Result<T> = std::result::Result<T, GatewayError>;
