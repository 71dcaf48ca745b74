//! Tags of objects and of buckets.

use afterbay_blob_meta::{Attributes, BucketChange, Command, NamesError};
use s3s::dto::*;
use s3s::{S3Request, S3Response, S3Result, s3_error};

use super::get::check_version;
use crate::convert::check_tags;
use crate::errors;
use crate::service::Service;

/// The document of a bucket that has its tags: `KEY NUL VALUE NUL` and so on.
const BUCKET_TAGS: &str = "tags";

/// Tags that a bucket may have.
const BUCKET_TAGS_MAX: usize = 50;

impl Service {
    pub(super) async fn get_object_tagging(
        &self,
        request: S3Request<GetObjectTaggingInput>,
    ) -> S3Result<S3Response<GetObjectTaggingOutput>> {
        let input = request.input;
        check_version(input.version_id.as_deref())?;
        let entry = self.entry(&input.bucket, &input.key).await?;
        let tag_set = entry.attributes().tags.into_iter().map(tag).collect();
        Ok(S3Response::new(GetObjectTaggingOutput { tag_set, version_id: None }))
    }

    pub(super) async fn put_object_tagging(
        &self,
        request: S3Request<PutObjectTaggingInput>,
    ) -> S3Result<S3Response<PutObjectTaggingOutput>> {
        let input = request.input;
        check_version(input.version_id.as_deref())?;
        let tags = check_tags(pairs(input.tagging))?;
        self.set_attributes(&input.bucket, &input.key, |attributes| attributes.tags = tags.clone())
            .await?;
        Ok(S3Response::new(PutObjectTaggingOutput::default()))
    }

    pub(super) async fn delete_object_tagging(
        &self,
        request: S3Request<DeleteObjectTaggingInput>,
    ) -> S3Result<S3Response<DeleteObjectTaggingOutput>> {
        let input = request.input;
        check_version(input.version_id.as_deref())?;
        self.set_attributes(&input.bucket, &input.key, |attributes| attributes.tags.clear())
            .await?;
        Ok(S3Response::new(DeleteObjectTaggingOutput::default()))
    }

    /// The time of the last change stays: the object is the same.
    pub(super) async fn set_attributes(
        &self,
        bucket: &str,
        key: &str,
        change: impl Fn(&mut Attributes) + Send + Sync,
    ) -> S3Result<()> {
        loop {
            let seen = self.entry(bucket, key).await?;
            let mut attributes = seen.attributes();
            change(&mut attributes);
            let set = Command::SetAttributes {
                bucket: bucket.to_owned(),
                key: key.to_owned(),
                modified_ms: seen.modified_ms,
                seen,
                attributes,
            };
            match self.names().apply(set).await {
                Ok(_) => return Ok(()),
                Err(NamesError::Changed { .. }) => {}
                Err(error) => return Err(errors::names(error)),
            }
        }
    }

    pub(super) async fn get_bucket_tagging(
        &self,
        request: S3Request<GetBucketTaggingInput>,
    ) -> S3Result<S3Response<GetBucketTaggingOutput>> {
        let bucket = self.bucket(&request.input.bucket)?;
        let stored = bucket.documents.get(BUCKET_TAGS);
        let stored = stored.ok_or_else(|| s3_error!(NoSuchTagSet, "the bucket has no tags"))?;
        let text = String::from_utf8_lossy(stored);
        let mut fields = text.split('\0');
        let mut tag_set = Vec::new();
        while let (Some(key), Some(value)) = (fields.next(), fields.next()) {
            tag_set.push(tag((key.to_owned(), value.to_owned())));
        }
        Ok(S3Response::new(GetBucketTaggingOutput { tag_set }))
    }

    pub(super) async fn put_bucket_tagging(
        &self,
        request: S3Request<PutBucketTaggingInput>,
    ) -> S3Result<S3Response<PutBucketTaggingOutput>> {
        let input = request.input;
        let pairs = pairs(input.tagging);
        let invalid = pairs.iter().any(|(key, value)| {
            key.is_empty()
                || key.len() > 512
                || value.len() > 1024
                || key.contains('\0')
                || value.contains('\0')
        });
        if invalid || pairs.len() > BUCKET_TAGS_MAX {
            return Err(s3_error!(
                InvalidTag,
                "a bucket has at most {BUCKET_TAGS_MAX} tags with keys"
            ));
        }
        let text: String = pairs.iter().map(|(key, value)| format!("{key}\0{value}\0")).collect();
        self.set_document(input.bucket, BUCKET_TAGS, Some(text.into_bytes())).await?;
        Ok(S3Response::new(PutBucketTaggingOutput::default()))
    }

    pub(super) async fn delete_bucket_tagging(
        &self,
        request: S3Request<DeleteBucketTaggingInput>,
    ) -> S3Result<S3Response<DeleteBucketTaggingOutput>> {
        self.set_document(request.input.bucket, BUCKET_TAGS, None).await?;
        Ok(S3Response::new(DeleteBucketTaggingOutput::default()))
    }

    pub(super) async fn set_document(
        &self,
        bucket: String,
        name: &str,
        value: Option<Vec<u8>>,
    ) -> S3Result<()> {
        let change = BucketChange::Document { name: name.to_owned(), value };
        let set = Command::SetBucket { name: bucket, change };
        self.names().apply(set).await.map_err(errors::names)?;
        Ok(())
    }
}

fn tag((key, value): (String, String)) -> Tag {
    Tag { key: Some(key), value: Some(value) }
}

fn pairs(tagging: Tagging) -> Vec<(String, String)> {
    let tags = tagging.tag_set.into_iter();
    tags.map(|tag| (tag.key.unwrap_or_default(), tag.value.unwrap_or_default())).collect()
}
