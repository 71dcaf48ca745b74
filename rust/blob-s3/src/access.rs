//! Which rights each operation needs. Decided before the body is read.

use std::sync::Arc;

use afterbay_blob_meta::{AccessKey, Names, Rights};
use http::HeaderValue;
use s3s::access::{S3Access, S3AccessContext};
use s3s::{S3Error, S3Result, s3_error};

use crate::acl;
use crate::asks;
use crate::errors;
use crate::measure::Notes;
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
pub(crate) struct Access {
    pub(crate) names: Arc<dyn Names>,
    /// [`crate::S3Options::public_acls`].
    pub(crate) public_acls: bool,
}

#[async_trait::async_trait]
impl S3Access for Access {
    async fn check(&self, context: &mut S3AccessContext<'_>) -> S3Result<()> {
        let credentials = context.credentials();
        let key = credentials.and_then(|c| self.names.access_key(&c.access_key));
        let notes = context.extensions_mut().get::<Notes>().cloned().unwrap_or_default();
        let operation = context.s3_op().name();
        notes.operation(operation);
        if key.is_some() && !notes.known() {
            return Err(s3_error!(
                SlowDown,
                "too many connections: close some, or raise --connections of the server"
            ));
        }
        if key.is_none() && !self.public_acls {
            notes.unauthorized();
            return Err(s3_error!(AccessDenied, "anonymous requests are not allowed"));
        }
        asks::check(operation, context.uri(), context.headers())?;
        let path = context.s3_path();
        let bucket = path.get_bucket_name().unwrap_or_default();
        require_owner(&*self.names, bucket, context.headers().get(EXPECTED_OWNER))?;
        match (needs(operation), key) {
            (Needs::Key, Some(_)) => Ok(()),
            (Needs::CreateBuckets, Some(key)) if key.may_create_buckets => Ok(()),
            (Needs::Key | Needs::CreateBuckets, _) => {
                Err(s3_error!(AccessDenied, "this key must not create buckets"))
            }
            // No bucket of a request, and nothing that is implemented.
            (Needs::InBucket(_), _) if bucket.is_empty() => Ok(()),
            (Needs::InBucket(rights), key) => {
                let granted = match &key {
                    Some(key) => require(&*self.names, key, bucket, rights),
                    None => Err(s3_error!(AccessDenied, "anonymous requests are not allowed here")),
                };
                let Err(refused) = granted else { return Ok(()) };
                if self.names.bucket(bucket).is_none() {
                    return Err(no_bucket(bucket));
                }
                let object = path.as_object().map(|(_, object)| object.to_owned());
                let asked = Asked { operation, bucket, object, signed: key.is_some() };
                if self.is_public(&asked).await? { Ok(()) } else { Err(refused) }
            }
        }
    }
}

/// A request that no right of its key allows.
struct Asked<'a> {
    operation: &'a str,
    bucket: &'a str,
    object: Option<String>,
    signed: bool,
}

impl Access {
    /// Whether the ACL of the bucket, or of the object, allows a request to everybody.
    async fn is_public(&self, asked: &Asked<'_>) -> S3Result<bool> {
        if !self.public_acls {
            return Ok(false);
        }
        let Some(bucket) = self.names.bucket(asked.bucket) else { return Ok(false) };
        let of_bucket = acl::of_bucket(&bucket);
        let listed = acl::may_read(&of_bucket, asked.signed);
        match (asked.operation, &asked.object) {
            ("GetObject" | "HeadObject", Some(key)) => {
                let entry = self.names.object(asked.bucket, key).await.map_err(errors::names)?;
                // Who may list may know what is not there.
                Ok(entry.map_or(listed, |e| acl::may_read(&acl::of_object(&e), asked.signed)))
            }
            (
                "HeadBucket"
                | "ListObjects"
                | "ListObjectsV2"
                | "ListObjectVersions"
                | "ListMultipartUploads",
                _,
            ) => Ok(listed),
            (operation, _) => {
                let writes = needs(operation) == Needs::InBucket(Rights::WRITE);
                let acls = operation == "PutObjectAcl";
                Ok(writes && !acls && acl::may_write(&of_bucket))
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

pub(crate) fn no_bucket(name: &str) -> S3Error {
    s3_error!(NoSuchBucket, "there is no bucket '{name}'")
}

fn require(names: &dyn Names, key: &AccessKey, bucket: &str, rights: Rights) -> S3Result<()> {
    // Of a bucket that is not there, nothing is kept from anybody. It must not be made before the operation looks for it.
    let Some(found) = names.bucket(bucket) else { return Err(no_bucket(bucket)) };
    if key.rights_in(bucket, &found.owner).allow(rights) {
        Ok(())
    } else {
        Err(s3_error!(AccessDenied, "this key does not have the right to do that in '{bucket}'"))
    }
}

impl Service {
    /// For buckets that are not the one of the path, if the client says whose they are.
    pub(crate) fn require_owner(
        &self,
        bucket: &str,
        expected: Option<&HeaderValue>,
    ) -> S3Result<()> {
        require_owner(self.names(), bucket, expected)
    }

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
        for setting in ["Cors", "LifecycleConfiguration"] {
            assert_eq!(needs(&format!("GetBucket{setting}")), Needs::InBucket(Rights::READ));
            assert_eq!(needs(&format!("PutBucket{setting}")), Needs::InBucket(Rights::ADMIN));
        }
        assert_eq!(needs("DeleteBucketCors"), Needs::InBucket(Rights::ADMIN));
        assert_eq!(needs("DeleteBucketLifecycle"), Needs::InBucket(Rights::ADMIN));
        assert_eq!(needs("SomethingNew"), Needs::InBucket(Rights::ADMIN));
        assert_eq!(needs("CreateBucket"), Needs::CreateBuckets);
    }
}
