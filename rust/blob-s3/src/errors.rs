//! What clients hear of errors.

use afterbay_blob_meta::NamesError;
use afterbay_blob_router::Error as BlobError;
use http::StatusCode;
use s3s::{S3Error, S3ErrorCode, s3_error};

use crate::ingest::BodyError;

/// The answer for an error of the names.
pub(crate) fn names(error: NamesError) -> S3Error {
    match error {
        NamesError::NoSuchBucket { .. } => s3_error!(NoSuchBucket, "{error}"),
        NamesError::BucketExists { .. } => {
            s3_error!(BucketAlreadyExists, "the bucket exists and belongs to somebody else")
        }
        NamesError::BucketNotEmpty { .. } => s3_error!(BucketNotEmpty, "{error}"),
        NamesError::NoSuchKey { .. } => s3_error!(NoSuchKey, "{error}"),
        NamesError::NoSuchUpload { .. } => s3_error!(NoSuchUpload, "{error}"),
        NamesError::PreconditionFailed { .. } => s3_error!(PreconditionFailed, "{error}"),
        NamesError::Changed { .. } => conflict(&error.to_string()),
        NamesError::Invalid { .. } => s3_error!(InvalidArgument, "{error}"),
        NamesError::NotReserved { .. } | NamesError::Closed => {
            tracing::warn!(%error, "a name was not written");
            s3_error!(ServiceUnavailable, "the server was restarted meanwhile; try again")
        }
        // Not 503: clients would try again and again.
        NamesError::OutOfSpace(_) => {
            no_room("the disk of the name index is full: names can be read and not changed")
        }
        NamesError::ReadOnly(_) => no_room(
            "names can be read and not changed: their disk is read-only, or failed; the server's log says which",
        ),
        NamesError::Damaged { .. } | NamesError::Storage(_) => {
            tracing::error!(%error, "the name index failed");
            s3_error!(InternalError, "the name index failed; the server's log says why")
        }
    }
}

/// The answer for an error of the blobs.
pub(crate) fn blobs(error: BlobError) -> S3Error {
    match &error {
        BlobError::Source(cause) => source(&**cause),
        BlobError::Length { .. } => s3_error!(IncompleteBody, "{error}"),
        BlobError::TooLarge { .. } => s3_error!(EntityTooLarge, "{error}"),
        BlobError::Range { .. } => s3_error!(InvalidRange, "{error}"),
        BlobError::OutOfSpace { .. } => {
            no_room("there is no room for new objects; existing ones can be read and deleted")
        }
        BlobError::ReadOnly { .. }
        | BlobError::Unavailable { .. }
        | BlobError::NotHere { .. }
        | BlobError::Collision(_) => {
            tracing::warn!(%error, "a blob was not stored or read");
            s3_error!(SlowDown, "{}; the server's log says more", error.for_anybody())
        }
        _ => {
            tracing::error!(%error, "a blob could not be served");
            s3_error!(
                InternalError,
                "the object's data could not be used; the server's log says why"
            )
        }
    }
}

/// Of a body that was to be stored: what the client sent, or what is copied.
fn source(cause: &(dyn std::error::Error + Send + Sync + 'static)) -> S3Error {
    if let Some(body) = cause.downcast_ref::<BodyError>() {
        return body.answer();
    }
    if let Some(copied) = cause.downcast_ref::<BlobError>() {
        return blobs(copied.clone());
    }
    // s3s has such errors for signatures of chunks and broken lengths.
    tracing::info!(%cause, "a body broke off");
    s3_error!(IncompleteBody, "the body could not be read: {cause}")
}

/// Another request was faster; the client may try again.
pub(crate) fn conflict(message: &str) -> S3Error {
    with_status("ConditionalRequestConflict", StatusCode::CONFLICT, message.to_owned())
}

fn no_room(message: &str) -> S3Error {
    with_status("InsufficientStorage", StatusCode::INSUFFICIENT_STORAGE, message.to_owned())
}

/// An error that s3s has no code or no status for.
pub(crate) fn with_status(code: &'static str, status: StatusCode, message: String) -> S3Error {
    let mut error = S3Error::with_message(S3ErrorCode::Custom(code.into()), message);
    error.set_status_code(status);
    error
}

/// The answer to what is not there.
pub(crate) fn not_implemented(what: &str) -> S3Error {
    s3_error!(NotImplemented, "{what} is not implemented")
}
