//! Rules by which objects expire and uploads are aborted.

use afterbay_blob_meta::ObjectEntry;
use s3s::dto::*;
use s3s::{S3Request, S3Response, S3Result, s3_error};

use crate::convert::{http_date, timestamp};
use crate::documents::{from_xml, to_xml};
use crate::lifecycle::{self, Due};
use crate::service::Service;

/// 9999-12-31: dates of HTTP have four digits of a year.
const LAST_DATE_MS: u64 = 253_402_214_400_000;

impl Service {
    pub(super) async fn put_bucket_lifecycle_configuration(
        &self,
        request: S3Request<PutBucketLifecycleConfigurationInput>,
    ) -> S3Result<S3Response<PutBucketLifecycleConfigurationOutput>> {
        let input = request.input;
        let checked = lifecycle::checked(input.lifecycle_configuration)?;
        let xml = to_xml(&checked, lifecycle::BYTES_MAX)?;
        self.set_document(input.bucket, lifecycle::NAME, Some(xml)).await?;
        Ok(S3Response::new(PutBucketLifecycleConfigurationOutput::default()))
    }

    pub(super) async fn get_bucket_lifecycle_configuration(
        &self,
        request: S3Request<GetBucketLifecycleConfigurationInput>,
    ) -> S3Result<S3Response<GetBucketLifecycleConfigurationOutput>> {
        let bucket = self.bucket(&request.input.bucket)?;
        let stored = bucket.documents.get(lifecycle::NAME).and_then(|xml| from_xml(xml));
        let Some(BucketLifecycleConfiguration { rules }) = stored else {
            return Err(s3_error!(
                NoSuchLifecycleConfiguration,
                "The lifecycle configuration does not exist"
            ));
        };
        let rules = Some(rules);
        Ok(S3Response::new(GetBucketLifecycleConfigurationOutput { rules, ..Default::default() }))
    }

    pub(super) async fn delete_bucket_lifecycle(
        &self,
        request: S3Request<DeleteBucketLifecycleInput>,
    ) -> S3Result<S3Response<DeleteBucketLifecycleOutput>> {
        self.set_document(request.input.bucket, lifecycle::NAME, None).await?;
        Ok(S3Response::new(DeleteBucketLifecycleOutput::default()))
    }

    /// The header that tells when an object expires, and by which rule; `None` if it does not.
    pub(super) fn expiration(
        &self,
        bucket: &str,
        key: &str,
        entry: &ObjectEntry,
    ) -> Option<String> {
        let rules = self.lifecycles.of(bucket, &self.names().bucket(bucket)?)?;
        let due = rules.expiry(key, entry, self.options.lifecycle_day_ms())?;
        let date = http_date(&date(&due)?)?;
        Some(format!("expiry-date=\"{date}\", rule-id=\"{}\"", url_encoded(due.rule)))
    }

    /// The headers that tell when an upload is aborted, and by which rule.
    pub(super) fn abort_date(
        &self,
        bucket: &str,
        key: &str,
        begun_ms: u64,
    ) -> Option<(Timestamp, String)> {
        let rules = self.lifecycles.of(bucket, &self.names().bucket(bucket)?)?;
        let due = rules.abort(key, begun_ms, self.options.lifecycle_day_ms())?;
        Some((date(&due)?, url_encoded(due.rule)))
    }
}

fn date(due: &Due<'_>) -> Option<Timestamp> {
    (due.at_ms <= LAST_DATE_MS).then(|| timestamp(due.at_ms))
}

fn url_encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_that_can_be_written() {
        let of = |at_ms| date(&Due { at_ms, rule: "" }).and_then(|date| http_date(&date));
        assert_eq!(of(0).as_deref(), Some("Thu, 01 Jan 1970 00:00:00 GMT"));
        assert_eq!(of(LAST_DATE_MS).as_deref(), Some("Fri, 31 Dec 9999 00:00:00 GMT"));
        assert_eq!(of(u64::MAX), None);
    }

    #[test]
    fn ids_in_a_header() {
        assert_eq!(url_encoded("my rule/\"ä\"+"), "my%20rule%2F%22%C3%A4%22%2B");
    }
}
