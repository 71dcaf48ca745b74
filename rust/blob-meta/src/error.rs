//! What can go wrong with names.

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
    /// The names are being shut down.
    #[error("the name index is shut down")]
    Closed,
}

impl NamesError {
    pub(crate) fn storage(error: impl Into<redb::Error>) -> Self {
        NamesError::Storage(error.into().to_string())
    }

    /// Whether the request itself was at fault, and others of the same transaction are not.
    pub(crate) fn is_of_the_request(&self) -> bool {
        !matches!(self, NamesError::Storage(_) | NamesError::Damaged { .. } | NamesError::Closed)
    }
}
