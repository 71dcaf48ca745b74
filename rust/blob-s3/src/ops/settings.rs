//! ACLs, and settings of buckets that clients ask for and that are always the same here: no versions, no policy. What would
//! change them is refused by name.

use s3s::dto::*;
use s3s::{S3Request, S3Response, S3Result, s3_error};

use crate::acl;
use crate::convert::owner_of;
use crate::errors;
use crate::service::Service;

/// Answers that there is no such setting.
macro_rules! none {
    ($($name:ident: $input:ident -> $output:ident, $code:ident, $message:literal;)*) => {
        impl Service {
            $(
                pub(super) async fn $name(
                    &self,
                    request: S3Request<$input>,
                ) -> S3Result<S3Response<$output>> {
                    self.bucket(&request.input.bucket)?;
                    Err(s3_error!($code, $message))
                }
            )*
        }
    };
}

none! {
    get_bucket_encryption: GetBucketEncryptionInput -> GetBucketEncryptionOutput,
        ServerSideEncryptionConfigurationNotFoundError, "The server side encryption configuration was not found";
    get_bucket_policy: GetBucketPolicyInput -> GetBucketPolicyOutput,
        NoSuchBucketPolicy, "The bucket policy does not exist";
    get_bucket_website: GetBucketWebsiteInput -> GetBucketWebsiteOutput,
        NoSuchWebsiteConfiguration, "The specified bucket does not have a website configuration";
    get_object_lock_configuration: GetObjectLockConfigurationInput -> GetObjectLockConfigurationOutput,
        ObjectLockConfigurationNotFoundError, "Object Lock configuration does not exist for this bucket";
    get_bucket_ownership_controls: GetBucketOwnershipControlsInput -> GetBucketOwnershipControlsOutput,
        OwnershipControlsNotFoundError, "The bucket ownership controls were not found";
    get_bucket_policy_status: GetBucketPolicyStatusInput -> GetBucketPolicyStatusOutput,
        NoSuchBucketPolicy, "The bucket policy does not exist";
    get_bucket_replication: GetBucketReplicationInput -> GetBucketReplicationOutput,
        ReplicationConfigurationNotFoundError, "The replication configuration was not found";
}

/// Answers that nothing is set.
macro_rules! empty {
    ($($name:ident: $input:ident -> $output:ident;)*) => {
        impl Service {
            $(
                pub(super) async fn $name(
                    &self,
                    request: S3Request<$input>,
                ) -> S3Result<S3Response<$output>> {
                    self.bucket(&request.input.bucket)?;
                    Ok(S3Response::new($output::default()))
                }
            )*
        }
    };
}

empty! {
    get_bucket_accelerate_configuration:
        GetBucketAccelerateConfigurationInput -> GetBucketAccelerateConfigurationOutput;
    get_bucket_logging: GetBucketLoggingInput -> GetBucketLoggingOutput;
    get_bucket_notification_configuration:
        GetBucketNotificationConfigurationInput -> GetBucketNotificationConfigurationOutput;
    get_bucket_versioning: GetBucketVersioningInput -> GetBucketVersioningOutput;
}

impl Service {
    pub(super) async fn get_public_access_block(
        &self,
        request: S3Request<GetPublicAccessBlockInput>,
    ) -> S3Result<S3Response<GetPublicAccessBlockOutput>> {
        self.bucket(&request.input.bucket)?;
        Err(errors::with_status(
            "NoSuchPublicAccessBlockConfiguration",
            http::StatusCode::NOT_FOUND,
            "The public access block configuration was not found".to_owned(),
        ))
    }

    pub(super) async fn put_bucket_versioning(
        &self,
        request: S3Request<PutBucketVersioningInput>,
    ) -> S3Result<S3Response<PutBucketVersioningOutput>> {
        self.bucket(&request.input.bucket)?;
        let status = request.input.versioning_configuration.status;
        if status.is_some_and(|s| s.as_str() == BucketVersioningStatus::ENABLED) {
            return Err(errors::not_implemented("versioning"));
        }
        Ok(S3Response::new(PutBucketVersioningOutput::default()))
    }

    pub(super) async fn get_bucket_request_payment(
        &self,
        request: S3Request<GetBucketRequestPaymentInput>,
    ) -> S3Result<S3Response<GetBucketRequestPaymentOutput>> {
        self.bucket(&request.input.bucket)?;
        let payer = Some(Payer::from_static(Payer::BUCKET_OWNER));
        Ok(S3Response::new(GetBucketRequestPaymentOutput { payer }))
    }

    pub(super) async fn get_bucket_acl(
        &self,
        request: S3Request<GetBucketAclInput>,
    ) -> S3Result<S3Response<GetBucketAclOutput>> {
        let caller = self.caller(&request)?;
        let bucket = self.bucket(&request.input.bucket)?;
        let owner = owner_of(&bucket.owner, &caller);
        let grants = Some(acl::grants(&acl::of_bucket(&bucket), &owner));
        Ok(S3Response::new(GetBucketAclOutput { grants, owner: Some(owner) }))
    }

    pub(super) async fn put_bucket_acl(
        &self,
        request: S3Request<PutBucketAclInput>,
    ) -> S3Result<S3Response<PutBucketAclOutput>> {
        let input = request.input;
        self.bucket(&input.bucket)?;
        let Some(canned) = input.acl.as_ref().filter(|_| input.access_control_policy.is_none())
        else {
            return Err(errors::not_implemented("an ACL of grants"));
        };
        let stored = acl::stored(&self.options, Some(canned.as_str()))?;
        self.set_document(input.bucket, acl::NAME, stored.map(String::into_bytes)).await?;
        Ok(S3Response::new(PutBucketAclOutput::default()))
    }

    pub(super) async fn get_object_acl(
        &self,
        request: S3Request<GetObjectAclInput>,
    ) -> S3Result<S3Response<GetObjectAclOutput>> {
        let caller = self.caller(&request)?;
        let entry = self.entry(&request.input.bucket, &request.input.key).await?;
        let owner = owner_of(&entry.owner, &caller);
        let grants = Some(acl::grants(&acl::of_object(&entry), &owner));
        Ok(S3Response::new(GetObjectAclOutput { grants, owner: Some(owner), ..Default::default() }))
    }

    pub(super) async fn put_object_acl(
        &self,
        request: S3Request<PutObjectAclInput>,
    ) -> S3Result<S3Response<PutObjectAclOutput>> {
        let input = request.input;
        let Some(canned) = input.acl.as_ref().filter(|_| input.access_control_policy.is_none())
        else {
            return Err(errors::not_implemented("an ACL of grants"));
        };
        let stored = acl::stored(&self.options, Some(canned.as_str()))?;
        self.set_attributes(&input.bucket, &input.key, |attributes| {
            match stored.clone() {
                Some(acl) => attributes.headers.insert(acl::NAME.to_owned(), acl),
                None => attributes.headers.remove(acl::NAME),
            };
        })
        .await?;
        Ok(S3Response::new(PutObjectAclOutput::default()))
    }
}
