//! What can go wrong with names.

use std::io;

/// The result of a request to the names.
pub type Result<T> = std::result::Result<T, NamesError>;

/// Why a request was refused. Each names the thing; what the client hears is up to the endpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NamesError {
    /// There is no bucket of this name.
    #[error("there is no bucket '{bucket}'")]
    NoSuchBucket {
        /// Its name.
        bucket: String,
    },
    /// There is one already.
    #[error("bucket '{bucket}' exists and belongs to '{owner}'")]
    BucketExists {
        /// Its name.
        bucket: String,
        /// Who has it.
        owner: String,
    },
    /// It still has objects.
    #[error("bucket '{bucket}' has objects")]
    BucketNotEmpty {
        /// Its name.
        bucket: String,
    },
    /// There is no object of this name.
    #[error("there is no object '{key}'")]
    NoSuchKey {
        /// Its name.
        key: String,
    },
    /// There is no such upload: never begun, complete, or aborted.
    #[error("there is no upload '{upload}'")]
    NoSuchUpload {
        /// Its id.
        upload: String,
    },
    /// The condition of the request does not hold.
    #[error("the condition {condition} does not hold for '{key}'")]
    PreconditionFailed {
        /// The object.
        key: String,
        /// Which one.
        condition: &'static str,
    },
    /// The object, or a part, is not the one that the request was made for: something else was faster. Look again.
    #[error("'{what}' was changed by another request")]
    Changed {
        /// What was.
        what: String,
    },
    /// A blob was to be named that has not been reserved, or not any more. It may be deleted already.
    #[error(
        "blob {blob} is not reserved: its session has ended, or it was named or given up before"
    )]
    NotReserved {
        /// Which.
        blob: String,
    },
    /// A value is outside of what is allowed.
    #[error("{what}: {reason}")]
    Invalid {
        /// Of what.
        what: &'static str,
        /// What is allowed.
        reason: String,
    },
    /// The file says something that cannot be.
    #[error("the name index is damaged: {what}: {reason}")]
    Damaged {
        /// Of what.
        what: &'static str,
        /// Why.
        reason: String,
    },
    /// The disk or the file failed. Nothing of the request was done, or it is not known.
    #[error("the name index: {0}")]
    Storage(String),
    /// The disk has no room. Nothing of the request was done, or it is not known.
    #[error("the disk of the name index is full ({0}): names can be read; make room")]
    OutOfSpace(String),
    /// Names cannot be changed.
    #[error("names can be read and not changed: {0}")]
    ReadOnly(String),
    /// The names are being shut down.
    #[error("the name index is shut down")]
    Closed,
}

impl NamesError {
    pub(crate) fn storage(error: impl Into<redb::Error>) -> Self {
        match error.into() {
            redb::Error::Io(error) => NamesError::io(error),
            other => NamesError::Storage(other.to_string()),
        }
    }

    pub(crate) fn io(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                NamesError::OutOfSpace(error.to_string())
            }
            io::ErrorKind::ReadOnlyFilesystem => NamesError::ReadOnly(error.to_string()),
            _ => NamesError::Storage(error.to_string()),
        }
    }

    /// What later changes are refused by, after this one.
    pub(crate) fn of_changes(self) -> Self {
        match self {
            NamesError::Storage(reason) => {
                let text = format!("{reason}; the disk is tried again by itself");
                NamesError::ReadOnly(text)
            }
            other => other,
        }
    }

    /// Whether the disk takes no writes.
    pub(crate) fn is_no_room(&self) -> bool {
        matches!(self, NamesError::OutOfSpace(_) | NamesError::ReadOnly(_))
    }

    /// Whether the open file is of no use any more.
    pub(crate) fn is_of_the_disk(&self) -> bool {
        self.is_no_room() || matches!(self, NamesError::Storage(_))
    }

    /// Whether the request itself was at fault, and others of the same transaction are not.
    pub(crate) fn is_of_the_request(&self) -> bool {
        !self.is_of_the_disk() && !matches!(self, NamesError::Damaged { .. } | NamesError::Closed)
    }
}
