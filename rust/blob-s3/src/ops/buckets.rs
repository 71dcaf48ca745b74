//! Buckets: create, delete, head, list, location.

use afterbay_blob_meta::{AccessKey, Bucket as Stored, Command, NamesError, Rights, now_ms};
use s3s::dto::*;
use s3s::{S3Request, S3Response, S3Result, s3_error};

use crate::acl;
use crate::convert::{owner, timestamp};
use crate::errors;
use crate::service::Service;

/// Buckets that are listed at once at most.
const PAGE_MAX: usize = 10_000;

impl Service {
    pub(super) async fn create_bucket(
        &self,
        request: S3Request<CreateBucketInput>,
    ) -> S3Result<S3Response<CreateBucketOutput>> {
        let caller = self.caller(&request)?;
        let input = request.input;
        self.check_new_bucket(&input)?;
        let canned = input.acl.as_ref().map(BucketCannedACL::as_str);
        let acl = acl::stored(&self.options, canned)?;
        let documents = acl.map(|acl| (acl::NAME.to_owned(), acl.into_bytes()));
        let documents = documents.into_iter().collect();
        let bucket = Stored {
            documents,
            owner: caller.user.clone(),
            created_ms: now_ms(),
            ..Default::default()
        };
        let create = Command::CreateBucket { name: input.bucket.clone(), bucket };
        match self.names().apply(create).await {
            Ok(_) => {}
            // As S3 does in us-east-1: what is there already and is ours is no error.
            Err(NamesError::BucketExists { owner, .. }) if owner == caller.user => {}
            Err(error) => return Err(errors::names(error)),
        }
        let location = Some(format!("/{}", input.bucket));
        Ok(S3Response::new(CreateBucketOutput { location }))
    }

    fn check_new_bucket(&self, input: &CreateBucketInput) -> S3Result<()> {
        let configuration = input.create_bucket_configuration.as_ref();
        if let Some(location) = configuration.and_then(|c| c.location_constraint.as_ref())
            && !location.as_str().is_empty()
            && location.as_str() != self.options.region
        {
            return Err(s3_error!(
                InvalidLocationConstraint,
                "this endpoint is in the region {}",
                self.options.region
            ));
        }
        if input.object_lock_enabled_for_bucket == Some(true) {
            return Err(errors::not_implemented("object lock"));
        }
        Ok(())
    }

    pub(super) async fn delete_bucket(
        &self,
        request: S3Request<DeleteBucketInput>,
    ) -> S3Result<S3Response<DeleteBucketOutput>> {
        let delete = Command::DeleteBucket { name: request.input.bucket, now_ms: now_ms() };
        self.names().apply(delete).await.map_err(errors::names)?;
        Ok(S3Response::new(DeleteBucketOutput::default()))
    }

    pub(super) async fn head_bucket(
        &self,
        request: S3Request<HeadBucketInput>,
    ) -> S3Result<S3Response<HeadBucketOutput>> {
        self.bucket(&request.input.bucket)?;
        let bucket_region = Some(self.options.region.clone());
        Ok(S3Response::new(HeadBucketOutput { bucket_region, ..Default::default() }))
    }

    pub(super) async fn get_bucket_location(
        &self,
        request: S3Request<GetBucketLocationInput>,
    ) -> S3Result<S3Response<GetBucketLocationOutput>> {
        self.bucket(&request.input.bucket)?;
        // The first region has no name here.
        let region = Some(&self.options.region).filter(|region| *region != "us-east-1");
        let location_constraint = region.map(|r| BucketLocationConstraint::from(r.clone()));
        Ok(S3Response::new(GetBucketLocationOutput { location_constraint }))
    }

    pub(super) async fn list_buckets(
        &self,
        request: S3Request<ListBucketsInput>,
    ) -> S3Result<S3Response<ListBucketsOutput>> {
        let caller = self.caller(&request)?;
        let input = request.input;
        let max = match input.max_buckets {
            None => PAGE_MAX,
            Some(max) => {
                usize::try_from(max).ok().filter(|max| (1..=PAGE_MAX).contains(max)).ok_or_else(
                    || s3_error!(InvalidArgument, "max-buckets is not between 1 and {PAGE_MAX}"),
                )?
            }
        };
        let after = input.continuation_token.unwrap_or_default();
        let prefix = input.prefix.clone().unwrap_or_default();
        let mut seen = self
            .visible(&caller)
            .filter(|(name, _)| name.starts_with(&prefix) && (after.is_empty() || *name > after));
        let page: Vec<_> = seen.by_ref().take(max).collect();
        let more = seen.next().is_some();
        let continuation_token = page.last().filter(|_| more).map(|(name, _)| name.clone());
        let buckets = page.into_iter().map(|(name, created_ms)| Bucket {
            name: Some(name),
            creation_date: Some(timestamp(created_ms)),
            ..Default::default()
        });
        Ok(S3Response::new(ListBucketsOutput {
            buckets: Some(buckets.collect()),
            continuation_token,
            owner: Some(owner(&caller)),
            prefix: input.prefix,
        }))
    }

    /// What a key may read, and when it was created.
    fn visible(&self, caller: &AccessKey) -> impl Iterator<Item = (String, u64)> {
        let buckets = self.names().buckets().into_iter();
        buckets
            .filter(|(name, bucket)| caller.rights_in(name, &bucket.owner).allow(Rights::READ))
            .map(|(name, bucket)| (name, bucket.created_ms))
    }
}
