//! The store's errors as clients hear of them: with the disk, and the way out.

use afterbay_blob_router::Error;
use afterbay_blob_store as store;

/// `place` is the disk.
pub(crate) fn of_store(place: &str, error: store::Error) -> Error {
    let text = error.to_string();
    match error {
        store::Error::NotFound(id) => Error::NotFound(id),
        store::Error::Deleted(id) => Error::Deleted(id),
        store::Error::Expired(id) => Error::Expired(id),
        store::Error::NotDeleted(id) => Error::NotDeleted(id),
        store::Error::Collision(id) => Error::Collision(id),
        store::Error::TooLarge { most, .. } => Error::TooLarge { length_max: most },
        store::Error::Properties { .. } | store::Error::OtherPartition { .. } => {
            Error::Invalid(text)
        }
        store::Error::ReadOnly { partition, .. } => {
            Error::ReadOnly { partition, reason: "read-only, since it is nearly full".to_owned() }
        }
        store::Error::Full(partition) => {
            Error::ReadOnly { partition, reason: "full; nothing can be written to it".to_owned() }
        }
        store::Error::DiskFull { .. } => {
            let reason = "the disk is full; make room on it, or add another one".to_owned();
            Error::OutOfSpace { place: place.to_owned(), reason }
        }
        error if error.is_damage() => Error::Damaged { place: place.to_owned(), reason: text },
        _ => Error::Unavailable {
            place: format!("{place}: {text}"),
            reason: "the disk or its partition cannot be used at the moment".to_owned(),
        },
    }
}
