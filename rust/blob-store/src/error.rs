//! What can go wrong, named so that a caller can decide and a person can act.

use std::io;
use std::sync::Arc;

use afterbay_blob_format::{BlobId, FormatError, PartitionId};
use rustix::io::Errno;

use crate::sync_point::SyncPoint;

/// Why an operation was not carried out.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No record of the blob is here. Another replica may have it.
    #[error("blob {0}: not found")]
    NotFound(BlobId),
    /// The blob was deleted. It may be undeleted as long as it is not compacted away.
    #[error("blob {0}: deleted")]
    Deleted(BlobId),
    /// The blob's time to live is over.
    #[error("blob {0}: expired")]
    Expired(BlobId),
    /// Another blob has this id. A new id is the way out.
    #[error("blob {0}: the id is taken by a blob with other content; put it under a new id")]
    Collision(BlobId),
    /// There is nothing to undelete.
    #[error("blob {0}: not deleted")]
    NotDeleted(BlobId),
    /// The request is for another partition than this.
    #[error("blob {id}: not of partition {partition}")]
    OtherPartition {
        /// The blob that was asked for.
        id: BlobId,
        /// The partition that was asked.
        partition: PartitionId,
    },
    /// The blob or its properties are longer than a record may be.
    #[error("blob {id}: {bytes} bytes, a record here has at most {most}; chunk it")]
    TooLarge {
        /// The blob.
        id: BlobId,
        /// Bytes of the record that it would need.
        bytes: u64,
        /// Bytes that a record may have.
        most: u64,
    },
    /// The properties cannot be stored.
    #[error("blob {id}: {source}")]
    Properties {
        /// The blob.
        id: BlobId,
        /// What is wrong with them.
        source: FormatError,
    },
    /// A record of another replica, or of a coordinator, that none would have.
    #[error("blob {id}: a record of another replica has {reason}; nothing was written")]
    Record {
        /// The blob.
        id: BlobId,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The partition is above its threshold and takes no new blobs. Others do; and compaction may open it again.
    #[error(
        "partition {partition}: read-only, {used} of {capacity} bytes are used; put into another one"
    )]
    ReadOnly {
        /// The partition.
        partition: PartitionId,
        /// Bytes in its segments.
        used: u64,
        /// Bytes that they may have.
        capacity: u64,
    },
    /// Even a small record does not fit any more.
    #[error("partition {0}: full; compact it or give it more capacity")]
    Full(PartitionId),
    /// The disk is full. What is stored can be read; puts can go on as soon as there is room.
    #[error("{file}: no space left on the disk; make room and try again")]
    DiskFull {
        /// The file that could not be made.
        file: String,
    },
    /// A write or a sync failed before, so that nobody knows what is on the disk behind the last sync. Reads go on;
    /// writes are refused until the partition is opened again, which looks.
    #[error("partition {partition}: takes no writes since an error; open it again: {cause}")]
    Failed {
        /// The partition.
        partition: PartitionId,
        /// The first error.
        cause: Arc<Error>,
    },
    /// A thread panicked in the middle of a write: nobody knows what it had done. Only as the cause of [`Error::Failed`].
    #[error("a write panicked; the server's standard error says where")]
    Panicked,
    /// The operating system refused.
    #[error("{file}: {action}: {source}")]
    Io {
        /// The file.
        file: String,
        /// What was to be done with it.
        action: &'static str,
        /// Why it was not.
        source: Arc<io::Error>,
    },
    /// The bytes on the disk are not those that were written. They are not served.
    #[error("{file} at byte {offset}: {source}; restore the blob from another replica")]
    Damaged {
        /// The file.
        file: String,
        /// Where in it.
        offset: u64,
        /// What is wrong there.
        source: FormatError,
    },
    /// The disk does not say what is stored there: a bad sector, or a disk that fails. Nothing of it is deleted, since it may
    /// be read another time; what is stored elsewhere can be read.
    #[error(
        "{file} at byte {offset}: cannot be read: {source}; look at the disk, try again, or restore the blob from another \
         replica"
    )]
    Unreadable {
        /// The file.
        file: String,
        /// Where in it, or before what cannot be read.
        offset: u64,
        /// What the operating system said.
        source: Arc<io::Error>,
    },
    /// What was written reads differently. Of `paranoid` puts and compactions, which look.
    #[error("{file} at byte {offset}: the disk does not return what was written")]
    NotWhatWasWritten {
        /// The file.
        file: String,
        /// Where in it.
        offset: u64,
    },
    /// The files are not a replica that this version can open.
    #[error("partition in {place}: {reason}")]
    NotAPartition {
        /// The directory.
        place: String,
        /// What was found, and what to do.
        reason: String,
    },
    /// Options that contradict each other or the format.
    #[error("option {option}: {reason}")]
    Option {
        /// The option.
        option: &'static str,
        /// What is wrong, with the allowed values.
        reason: String,
    },
}

impl Error {
    pub(crate) fn io(file: &str, action: &'static str, source: io::Error) -> Self {
        Error::Io { file: file.to_owned(), action, source: Arc::new(source) }
    }

    /// Of bytes from `offset` on that could not be read.
    pub(crate) fn read(file: &str, offset: u64, source: io::Error) -> Self {
        if source.raw_os_error() == Some(Errno::IO.raw_os_error()) {
            Error::Unreadable { file: file.to_owned(), offset, source: Arc::new(source) }
        } else {
            Error::io(file, "read", source)
        }
    }

    pub(crate) fn sync(file: &str, point: SyncPoint, source: io::Error) -> Self {
        tracing::error!(file, ?point, error = %source, "sync failed");
        Error::io(file, "sync", source)
    }

    pub(crate) fn damaged(file: &str, offset: u64, source: FormatError) -> Self {
        Error::Damaged { file: file.to_owned(), offset, source }
    }

    /// Whether certain bytes are wrong or cannot be read, as opposed to: files cannot be used at all.
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            Error::Damaged { .. } | Error::Unreadable { .. } | Error::NotWhatWasWritten { .. }
        )
    }
}

/// The result of an operation of the store.
pub type Result<T> = std::result::Result<T, Error>;

/// Whether the operating system said that there is no room.
pub(crate) fn is_disk_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
