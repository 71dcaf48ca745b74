//! What an outbox cannot do.

use std::path::PathBuf;

use thiserror::Error;

/// Why nothing was written or read.
#[derive(Debug, Error)]
pub enum OutboxError {
    /// The disk does not do it.
    #[error("{}: {source}", path.display())]
    Io {
        /// Of which file.
        path: PathBuf,
        /// What it says.
        source: std::io::Error,
    },
    /// A write or a sync failed before.
    #[error("{}: a write failed before, and nobody knows what the disk has; start again", .0.display())]
    Broken(PathBuf),
    /// Another process has it.
    #[error("{}: another process has this outbox", .0.display())]
    Locked(PathBuf),
    /// There is no more room.
    #[error("{bytes} bytes wait to be sent, and {bytes_max} are allowed")]
    Full {
        /// How many there are.
        bytes: u64,
        /// How many there may be.
        bytes_max: u64,
    },
    /// One entry has more than a file may have.
    #[error("an entry of {bytes} bytes: {bytes_max} are allowed")]
    Large {
        /// How many it has.
        bytes: usize,
        /// How many it may have.
        bytes_max: usize,
    },
    /// A file is not what was written.
    #[error("{}: damaged at byte {at}; what is behind is lost: move the folder away, and start a new epoch", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// From where.
        at: u64,
    },
    /// Files are missing.
    #[error("{}: it begins with entry {found}, and {expected} was expected: files are missing; move the folder away, and start a new epoch", path.display())]
    Missing {
        /// The file behind what is missing.
        path: PathBuf,
        /// Where it begins.
        found: u64,
        /// Where it should.
        expected: u64,
    },
}

/// What comes of an operation.
pub(crate) type Result<T> = std::result::Result<T, OutboxError>;
