//! Life cycles of buckets: objects that expire, and uploads in parts that nobody finishes.
//!
//! ```text
//!   PutBucketLifecycleConfiguration ──▶ checked ──▶ document of the bucket ──▶ Rules ──▶ x-amz-expiration of answers
//!                                                                               │
//!                                        pages of names ──▶ LifecycleWorker ◀───┘
//!                                                                │
//!                                                                └──▶ DeleteObjects (only what was seen), AbortUpload
//! ```
//!
//! # Invariants
//! - What a rule asks for and is not done is refused when the rule is set: no rule is kept that has another effect here than in S3.
//! - An object is deleted only if it is the one, with the tags, that a rule held for: what is written meanwhile stays.
//! - An object that has expired is served until it is deleted, as in S3.

mod check;
mod rules;
#[cfg(test)]
mod testing;
mod worker;

pub(crate) use check::checked;
pub(crate) use rules::{Due, Rules};
pub use worker::{LifecycleWorker, Swept};

use crate::documents::{Documents, from_xml};
use crate::errors::not_implemented;

/// The document of a bucket that has its rules, as S3's XML.
pub(crate) const NAME: &str = "lifecycle";

/// Bytes of that document.
pub(crate) const BYTES_MAX: usize = 1 << 20;

/// The rules of all buckets.
pub(crate) fn documents() -> Documents<Rules> {
    Documents::new(NAME, |stored| Some(Rules::of(&from_xml(stored)?)))
}

/// What a rule asks for and is not there.
fn refused(action: &str) -> s3s::S3Error {
    not_implemented(&format!("a lifecycle rule with {action}"))
}
