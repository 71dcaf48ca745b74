//! Buckets for the native protocol: made with the first name, and their settings.

use std::sync::Arc;

use afterbay_blob_meta::{Bucket, Command, Names, NamesError, now_ms};
use afterbay_blob_proto::{Code, Failure};
use afterbay_blob_router::Durability;

use crate::caller::{Caller, forbidden};
use crate::names::refused;

/// Why a bucket cannot have the class `fast`.
pub(crate) const NAMES_ARE_DURABLE: &str = "a bucket cannot be 'fast': what has a name is 'durable' at least, since the name is synced and must \
    not outlive its content. 'put --no-name --durability fast' stores a blob without a name";

/// The bucket; made if there is none.
pub(crate) async fn get_or_make(
    names: &dyn Names,
    by: &Caller,
    name: &str,
) -> Result<Arc<Bucket>, Failure> {
    if let Some(bucket) = names.bucket(name) {
        return Ok(bucket);
    }
    check_bucket(name)?;
    if !by.may_create_buckets() {
        return Err(forbidden(format!(
            "there is no bucket '{name}', and this key must not make buckets"
        )));
    }
    let owner = by.name().to_owned();
    let bucket = Bucket { owner, created_ms: now_ms(), ..Bucket::default() };
    let create = Command::CreateBucket { name: name.to_owned(), bucket };
    match names.apply(create).await {
        // Somebody else did.
        Ok(_) | Err(NamesError::BucketExists { .. }) => {}
        Err(error) => return Err(refused(error)),
    }
    let gone = || Failure::new(Code::NoSuchName, format!("bucket '{name}' was deleted"));
    names.bucket(name).ok_or_else(gone)
}

/// Deletes a bucket without objects.
pub(crate) async fn delete(names: &dyn Names, name: &str) -> Result<(), Failure> {
    let delete = Command::DeleteBucket { name: name.to_owned(), now_ms: now_ms() };
    match names.apply(delete).await {
        Err(error @ NamesError::BucketNotEmpty { .. }) => {
            let way_out = format!(
                "'delete {name} --recursive' deletes them, and with --bucket the bucket, too"
            );
            Err(Failure::new(Code::Invalid, format!("{error}; {way_out}")))
        }
        done => done.map(|_| ()).map_err(refused),
    }
}

/// An error if a bucket cannot have the class.
pub(crate) fn check_class(class: Option<Durability>) -> Result<(), Failure> {
    match class {
        Some(Durability::Fast) => Err(Failure::new(Code::Invalid, NAMES_ARE_DURABLE)),
        _ => Ok(()),
    }
}

/// The rules of S3, so that its clients can use what was made here.
pub(crate) fn check_bucket(name: &str) -> Result<(), Failure> {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'.';
    let ends = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let bytes = name.as_bytes();
    let allowed = (3..=63).contains(&bytes.len())
        && bytes.iter().all(|b| inner(*b))
        && ends(bytes.first())
        && ends(bytes.last());
    if allowed {
        return Ok(());
    }
    let text = format!(
        "'{name}' is no name of a bucket: 3 to 63 lower-case letters, digits, '-' and '.', with a letter or digit at both ends"
    );
    Err(Failure::new(Code::Invalid, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_buckets() {
        for good in ["abc", "a-b.c", "0123456789", &"a".repeat(63)] {
            assert!(check_bucket(good).is_ok(), "{good}");
        }
        for bad in ["", "ab", "Abc", "a_b", "-ab", "ab-", &"a".repeat(64)] {
            assert!(check_bucket(bad).is_err(), "{bad}");
        }
    }
}
