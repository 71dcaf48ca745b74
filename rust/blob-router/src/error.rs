//! What can go wrong for a client, with the place and the way out.

use std::sync::Arc;

use afterbay_blob_format::{BlobId, PartitionId};

/// The result of an operation of the blob service.
pub type Result<T> = std::result::Result<T, Error>;

/// Why the stream that a blob was to be put from broke.
pub type SourceError = Box<dyn std::error::Error + Send + Sync>;

/// Why an operation was not carried out.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such blob.
    #[error("blob {0}: not found")]
    NotFound(BlobId),
    /// The blob's partition is on no disk of this server: nobody here knows whether there is such a blob. Another server may have
    /// it.
    #[error("blob {id}: {reason}")]
    NotHere {
        /// The blob.
        id: BlobId,
        /// Why, and the way out. Anybody may read it: it has no paths.
        reason: String,
    },
    /// The blob was on a disk that somebody gave up: it is gone, and was not deleted.
    #[error("blob {0}: not found: it was on a disk that was given up")]
    Lost(BlobId),
    /// The blob was deleted. It may be undeleted as long as it is not compacted away.
    #[error("blob {0}: deleted")]
    Deleted(BlobId),
    /// The blob's time to live is over.
    #[error("blob {0}: expired")]
    Expired(BlobId),
    /// There is nothing to undelete.
    #[error("blob {0}: not deleted")]
    NotDeleted(BlobId),
    /// The id is taken by a blob with other content. Of chunk stores; the router tries another id.
    #[error("blob {0}: the id is taken by a blob with other content")]
    Collision(BlobId),
    /// The blob is longer than this service keeps, or than the request allows.
    #[error("a blob of more than {length_max} bytes is not accepted; put it as several ones")]
    TooLarge {
        /// Bytes that it may have.
        length_max: u64,
    },
    /// The range begins behind the end of the blob.
    #[error("blob {id}: the range is not satisfiable, the length of the blob is {length}")]
    Range {
        /// The blob.
        id: BlobId,
        /// Its length.
        length: u64,
    },
    /// The stream had another length than was said.
    #[error("the content has {found} bytes or more where {expected} were announced")]
    Length {
        /// What was announced.
        expected: u64,
        /// What came.
        found: u64,
    },
    /// A request that no store would carry out.
    #[error("{0}")]
    Invalid(String),
    /// A partition takes no new blobs. Of chunk stores; the router tries another one.
    #[error("partition {partition}: {reason}")]
    ReadOnly {
        /// The partition.
        partition: PartitionId,
        /// Why.
        reason: String,
    },
    /// There is no room for new blobs. What is stored can be read and deleted.
    #[error("{place}: out of space: {reason}")]
    OutOfSpace {
        /// The disk, or all of them.
        place: String,
        /// What to do.
        reason: String,
    },
    /// The bytes on the disk are not those that were written. They are not served.
    #[error("{place}: {reason}")]
    Damaged {
        /// The file, and where in it.
        place: String,
        /// What is wrong there, and the way out.
        reason: String,
    },
    /// A part that is needed does not answer, or not now.
    #[error("{place}: {reason}")]
    Unavailable {
        /// The node, disk or partition, and what it says: for who operates it.
        place: String,
        /// Why, and the way out. Anybody may read it: it has no paths.
        reason: String,
    },
    /// The stream that the blob was to be put from broke. Nothing is stored.
    #[error("the content could not be read: {0}")]
    Source(Arc<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// What clients may read who are not to know how the disks are called.
    pub fn for_anybody(&self) -> String {
        match self {
            Error::OutOfSpace { reason, .. } | Error::Unavailable { reason, .. } => reason.clone(),
            Error::Damaged { .. } => "the disk returned other bytes than were written".to_owned(),
            other => other.to_string(),
        }
    }

    /// Whether the same put may succeed in another partition.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.is_refusal() || matches!(self, Error::Unavailable { .. } | Error::NotHere { .. })
    }

    /// Whether a put was refused before anything of it was written. After any other error it may be on the disk, and come
    /// to light later.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Error::ReadOnly { .. } | Error::OutOfSpace { .. } | Error::Collision(_))
    }
}

impl From<SourceError> for Error {
    fn from(cause: SourceError) -> Self {
        Error::Source(cause.into())
    }
}
