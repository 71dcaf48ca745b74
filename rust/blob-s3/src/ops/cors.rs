//! Rules for requests of browsers for other sites.

use s3s::dto::*;
use s3s::{S3Request, S3Response, S3Result, s3_error};

use crate::cors;
use crate::documents::{from_xml, to_xml};
use crate::service::Service;

impl Service {
    pub(super) async fn put_bucket_cors(
        &self,
        request: S3Request<PutBucketCorsInput>,
    ) -> S3Result<S3Response<PutBucketCorsOutput>> {
        let input = request.input;
        let checked = cors::checked(input.cors_configuration)?;
        let xml = to_xml(&checked, cors::BYTES_MAX)?;
        self.set_document(input.bucket, cors::NAME, Some(xml)).await?;
        Ok(S3Response::new(PutBucketCorsOutput::default()))
    }

    pub(super) async fn get_bucket_cors(
        &self,
        request: S3Request<GetBucketCorsInput>,
    ) -> S3Result<S3Response<GetBucketCorsOutput>> {
        let bucket = self.bucket(&request.input.bucket)?;
        let stored = bucket.documents.get(cors::NAME).and_then(|xml| from_xml(xml));
        let Some(CORSConfiguration { cors_rules }) = stored else {
            return Err(s3_error!(
                NoSuchCORSConfiguration,
                "The CORS configuration does not exist"
            ));
        };
        Ok(S3Response::new(GetBucketCorsOutput { cors_rules: Some(cors_rules) }))
    }

    pub(super) async fn delete_bucket_cors(
        &self,
        request: S3Request<DeleteBucketCorsInput>,
    ) -> S3Result<S3Response<DeleteBucketCorsOutput>> {
        self.set_document(request.input.bucket, cors::NAME, None).await?;
        Ok(S3Response::new(DeleteBucketCorsOutput::default()))
    }
}
