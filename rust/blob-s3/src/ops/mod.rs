//! The operations of S3 that there are; s3s answers all others by `NotImplemented`.

mod buckets;
mod copy;
mod cors;
mod delete;
mod get;
mod lifecycle;
mod list;
mod multipart;
mod put;
mod settings;
mod tags;

#[cfg(feature = "fuzzing")]
pub(crate) use list::parse_token;
#[cfg(feature = "fuzzing")]
pub(crate) use multipart::copy_range;
use s3s::dto::*;
use s3s::{S3, S3Request, S3Response, S3Result};

use crate::service::Service;

/// Hands each operation of the trait to the method of the same name.
macro_rules! operations {
    ($($name:ident: $input:ident -> $output:ident,)*) => {
        #[cfg(test)]
        pub(crate) const NAMES: &[&str] = &[$(stringify!($name)),*];

        #[async_trait::async_trait]
        impl S3 for Service {
            $(
                async fn $name(&self, request: S3Request<$input>) -> S3Result<S3Response<$output>> {
                    self.$name(request).await
                }
            )*
        }
    };
}

operations! {
    abort_multipart_upload: AbortMultipartUploadInput -> AbortMultipartUploadOutput,
    complete_multipart_upload: CompleteMultipartUploadInput -> CompleteMultipartUploadOutput,
    copy_object: CopyObjectInput -> CopyObjectOutput,
    create_bucket: CreateBucketInput -> CreateBucketOutput,
    create_multipart_upload: CreateMultipartUploadInput -> CreateMultipartUploadOutput,
    delete_bucket: DeleteBucketInput -> DeleteBucketOutput,
    delete_bucket_cors: DeleteBucketCorsInput -> DeleteBucketCorsOutput,
    delete_bucket_lifecycle: DeleteBucketLifecycleInput -> DeleteBucketLifecycleOutput,
    delete_bucket_tagging: DeleteBucketTaggingInput -> DeleteBucketTaggingOutput,
    delete_object: DeleteObjectInput -> DeleteObjectOutput,
    delete_object_tagging: DeleteObjectTaggingInput -> DeleteObjectTaggingOutput,
    delete_objects: DeleteObjectsInput -> DeleteObjectsOutput,
    get_bucket_accelerate_configuration: GetBucketAccelerateConfigurationInput -> GetBucketAccelerateConfigurationOutput,
    get_bucket_acl: GetBucketAclInput -> GetBucketAclOutput,
    get_bucket_cors: GetBucketCorsInput -> GetBucketCorsOutput,
    get_bucket_encryption: GetBucketEncryptionInput -> GetBucketEncryptionOutput,
    get_bucket_lifecycle_configuration: GetBucketLifecycleConfigurationInput -> GetBucketLifecycleConfigurationOutput,
    get_bucket_location: GetBucketLocationInput -> GetBucketLocationOutput,
    get_bucket_logging: GetBucketLoggingInput -> GetBucketLoggingOutput,
    get_bucket_notification_configuration: GetBucketNotificationConfigurationInput -> GetBucketNotificationConfigurationOutput,
    get_bucket_ownership_controls: GetBucketOwnershipControlsInput -> GetBucketOwnershipControlsOutput,
    get_bucket_policy: GetBucketPolicyInput -> GetBucketPolicyOutput,
    get_bucket_policy_status: GetBucketPolicyStatusInput -> GetBucketPolicyStatusOutput,
    get_bucket_replication: GetBucketReplicationInput -> GetBucketReplicationOutput,
    get_bucket_request_payment: GetBucketRequestPaymentInput -> GetBucketRequestPaymentOutput,
    get_bucket_tagging: GetBucketTaggingInput -> GetBucketTaggingOutput,
    get_bucket_versioning: GetBucketVersioningInput -> GetBucketVersioningOutput,
    get_bucket_website: GetBucketWebsiteInput -> GetBucketWebsiteOutput,
    get_object: GetObjectInput -> GetObjectOutput,
    get_object_acl: GetObjectAclInput -> GetObjectAclOutput,
    get_object_attributes: GetObjectAttributesInput -> GetObjectAttributesOutput,
    get_object_lock_configuration: GetObjectLockConfigurationInput -> GetObjectLockConfigurationOutput,
    get_object_tagging: GetObjectTaggingInput -> GetObjectTaggingOutput,
    get_public_access_block: GetPublicAccessBlockInput -> GetPublicAccessBlockOutput,
    head_bucket: HeadBucketInput -> HeadBucketOutput,
    head_object: HeadObjectInput -> HeadObjectOutput,
    list_buckets: ListBucketsInput -> ListBucketsOutput,
    list_multipart_uploads: ListMultipartUploadsInput -> ListMultipartUploadsOutput,
    list_object_versions: ListObjectVersionsInput -> ListObjectVersionsOutput,
    list_objects: ListObjectsInput -> ListObjectsOutput,
    list_objects_v2: ListObjectsV2Input -> ListObjectsV2Output,
    list_parts: ListPartsInput -> ListPartsOutput,
    put_bucket_acl: PutBucketAclInput -> PutBucketAclOutput,
    put_bucket_cors: PutBucketCorsInput -> PutBucketCorsOutput,
    put_bucket_lifecycle_configuration: PutBucketLifecycleConfigurationInput -> PutBucketLifecycleConfigurationOutput,
    put_bucket_tagging: PutBucketTaggingInput -> PutBucketTaggingOutput,
    put_bucket_versioning: PutBucketVersioningInput -> PutBucketVersioningOutput,
    put_object: PutObjectInput -> PutObjectOutput,
    put_object_acl: PutObjectAclInput -> PutObjectAclOutput,
    put_object_tagging: PutObjectTaggingInput -> PutObjectTaggingOutput,
    upload_part: UploadPartInput -> UploadPartOutput,
    upload_part_copy: UploadPartCopyInput -> UploadPartCopyOutput,
}
