//! Deleting objects, one or up to a thousand.

use afterbay_blob_meta::{Body, Command, Condition, NamesError, Outcome, now_ms};
use s3s::dto::*;
use s3s::{S3Request, S3Response, S3Result, s3_error};

use super::get::check_version;
use crate::conditions;
use crate::errors;
use crate::service::Service;

/// Keys of one request.
const KEYS_MAX: usize = 1000;

impl Service {
    pub(super) async fn delete_object(
        &self,
        request: S3Request<DeleteObjectInput>,
    ) -> S3Result<S3Response<DeleteObjectOutput>> {
        let input = request.input;
        check_version(input.version_id.as_deref())?;
        let condition = conditions::delete(
            input.if_match,
            input.if_match_size,
            input.if_match_last_modified_time,
        );
        let each = self.delete_keys(input.bucket, vec![(input.key, condition)]).await?;
        for deleted in each {
            deleted.map_err(errors::names)?;
        }
        Ok(S3Response::new(DeleteObjectOutput::default()))
    }

    pub(super) async fn delete_objects(
        &self,
        request: S3Request<DeleteObjectsInput>,
    ) -> S3Result<S3Response<DeleteObjectsOutput>> {
        let input = request.input;
        let objects = input.delete.objects;
        if objects.len() > KEYS_MAX || objects.is_empty() {
            return Err(s3_error!(MalformedXML, "{} keys are not 1 to {KEYS_MAX}", objects.len()));
        }
        let (mut keys, mut shown, mut errors) = (Vec::new(), Vec::new(), Vec::new());
        for object in objects {
            if let Err(error) = check_version(object.version_id.as_deref()) {
                errors.push(told(object.key, object.version_id, &error));
                continue;
            }
            let tag = object.e_tag.map(ETagCondition::ETag);
            let condition = conditions::delete(tag, object.size, object.last_modified_time);
            keys.push((object.key.clone(), condition));
            shown.push((object.key, object.version_id));
        }
        let mut deleted = Vec::new();
        let each = self.delete_keys(input.bucket, keys).await?;
        for ((key, version_id), done) in shown.into_iter().zip(each) {
            match done {
                Ok(_) => {
                    let key = Some(key);
                    deleted.push(DeletedObject { key, version_id, ..Default::default() });
                }
                Err(error) => errors.push(told(key, version_id, &errors::names(error))),
            }
        }
        let quiet = input.delete.quiet.unwrap_or(false);
        Ok(S3Response::new(DeleteObjectsOutput {
            deleted: (!quiet).then_some(deleted),
            errors: Some(errors).filter(|errors| !errors.is_empty()),
            ..Default::default()
        }))
    }

    async fn delete_keys(
        &self,
        bucket: String,
        keys: Vec<(String, Condition)>,
    ) -> S3Result<Vec<std::result::Result<Option<Body>, NamesError>>> {
        let delete = Command::DeleteObjects { bucket, keys, now_ms: now_ms() };
        match self.names().apply(delete).await.map_err(errors::names)? {
            Outcome::Each(each) => Ok(each),
            _ => Err(s3_error!(InternalError, "a delete was answered by something else")),
        }
    }
}

fn told(key: String, version_id: Option<String>, error: &s3s::S3Error) -> Error {
    Error {
        code: Some(error.code().as_str().to_owned()),
        key: Some(key),
        message: error.message().map(str::to_owned),
        version_id,
    }
}
