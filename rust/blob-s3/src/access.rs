//! Which rights each operation needs. Decided before the body is read.

use std::sync::Arc;

use afterbay_blob_meta::{AccessKey, Names, Rights};
use http::HeaderValue;
use s3s::access::{S3Access, S3AccessContext};
use s3s::{S3Result, s3_error};

use crate::service::Service;

/// What an operation needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// Any key; what it is shown depends on its rights.
    Key,
    /// [`AccessKey::may_create_buckets`].
    CreateBuckets,
    /// In the bucket of the request.
    InBucket(Rights),
}

/// Whatever is not named here needs the most.
fn needs(operation: &str) -> Needs {
    match operation {
        "ListBuckets" => Needs::Key,
        "CreateBucket" => Needs::CreateBuckets,
        "AbortMultipartUpload"
        | "CompleteMultipartUpload"
        | "CopyObject"
        | "CreateMultipartUpload"
        | "DeleteObject"
        | "DeleteObjectTagging"
        | "DeleteObjects"
        | "PostObject"
        | "PutObject"
        | "PutObjectAcl"
        | "PutObjectTagging"
        | "UploadPart"
        | "UploadPartCopy" => Needs::InBucket(Rights::WRITE),
        "HeadBucket" | "HeadObject" | "SelectObjectContent" => Needs::InBucket(Rights::READ),
        other if other.starts_with("Get") || other.starts_with("List") => {
            Needs::InBucket(Rights::READ)
        }
        _ => Needs::InBucket(Rights::ADMIN),
    }
}

/// Refuses what the key of a request must not do.
pub(crate) struct Access(pub(crate) Arc<dyn Names>);

#[async_trait::async_trait]
impl S3Access for Access {
    async fn check(&self, context: &mut S3AccessContext<'_>) -> S3Result<()> {
        let credentials = context.credentials();
        let key = credentials.and_then(|c| self.0.access_key(&c.access_key));
        let Some(key) = key else {
            return Err(s3_error!(AccessDenied, "anonymous requests are not allowed"));
        };
        let bucket = context.s3_path().get_bucket_name().unwrap_or_default();
        require_owner(&*self.0, bucket, context.headers().get(EXPECTED_OWNER))?;
        match needs(context.s3_op().name()) {
            Needs::Key => Ok(()),
            Needs::CreateBuckets if key.may_create_buckets => Ok(()),
            Needs::CreateBuckets => {
                Err(s3_error!(AccessDenied, "this key must not create buckets"))
            }
            Needs::InBucket(rights) => {
                require(&*self.0, &key, bucket, rights)
            }
        }
    }
}

/// A client that says whose bucket it means does not write into another one's.
const EXPECTED_OWNER: &str = "x-amz-expected-bucket-owner";

fn require_owner(names: &dyn Names, bucket: &str, expected: Option<&HeaderValue>) -> S3Result<()> {
    match (expected, names.bucket(bucket)) {
        (Some(expected), Some(found)) if expected.as_bytes() != found.owner.as_bytes() => {
            Err(s3_error!(AccessDenied, "'{bucket}' has another owner than expected"))
        }
        _ => Ok(()),
    }
}

fn require(names: &dyn Names, key: &AccessKey, bucket: &str, rights: Rights) -> S3Result<()> {
    // Of a bucket that is not there, nothing is kept from anybody: the operation says so.
    let Some(found) = names.bucket(bucket) else { return Ok(()) };
    if key.rights_in(bucket, &found.owner).allow(rights) {
        Ok(())
    } else {
        Err(s3_error!(AccessDenied, "this key does not have the right to do that in '{bucket}'"))
    }
}

impl Service {
    /// For buckets that are not the one of the path: sources of copies.
    pub(crate) fn require(&self, key: &AccessKey, bucket: &str, rights: Rights) -> S3Result<()> {
        require(self.names(), key, bucket, rights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_by_operation() {
        assert_eq!(needs("GetObject"), Needs::InBucket(Rights::READ));
        assert_eq!(needs("ListObjectsV2"), Needs::InBucket(Rights::READ));
        assert_eq!(needs("PutObject"), Needs::InBucket(Rights::WRITE));
        assert_eq!(needs("DeleteBucket"), Needs::InBucket(Rights::ADMIN));
        assert_eq!(needs("PutBucketPolicy"), Needs::InBucket(Rights::ADMIN));
        assert_eq!(needs("SomethingNew"), Needs::InBucket(Rights::ADMIN));
        assert_eq!(needs("CreateBucket"), Needs::CreateBuckets);
    }
}
