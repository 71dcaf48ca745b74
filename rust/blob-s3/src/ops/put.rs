//! Writing objects that come at once.

use afterbay_blob_meta::{Command, Condition, ObjectEntry, Reserved, now_ms};
use http::HeaderMap;
use s3s::dto::*;
use s3s::{S3Request, S3Response, S3Result, s3_error};

use crate::acl;
use crate::checksums::{Algorithm, Computed};
use crate::conditions;
use crate::convert::{ChecksumFields, SentHeaders, algorithm, attributes, etag, signed};
use crate::errors;
use crate::ingest::{Announced, ingest};
use crate::service::Service;

impl Service {
    pub(super) async fn put_object(
        &self,
        request: S3Request<PutObjectInput>,
    ) -> S3Result<S3Response<PutObjectOutput>> {
        let caller = self.caller(&request)?;
        let trailers = request.trailing_headers.clone();
        let S3Request { input, headers, .. } = request;
        check_key(&input.key)?;
        let bucket = self.bucket(&input.bucket)?;
        let sent = SentHeaders {
            cache_control: input.cache_control,
            disposition: input.content_disposition,
            encoding: input.content_encoding,
            language: input.content_language,
            content_type: input.content_type,
            expires: input.expires,
            redirect: input.website_redirect_location,
            storage_class: input.storage_class.map(|class| class.as_str().to_owned()),
            acl: self.canned(input.acl.as_ref())?,
        };
        let attributes = attributes(sent, input.metadata, input.tagging.as_deref())?;
        let checksums = ChecksumFields {
            crc32: input.checksum_crc32,
            crc32c: input.checksum_crc32c,
            crc64nvme: input.checksum_crc64nvme,
            sha1: input.checksum_sha1,
            sha256: input.checksum_sha256,
            kind: None,
        };
        let mut announced = announced(
            input.content_length,
            input.content_md5,
            checksums,
            input.checksum_algorithm.as_ref(),
            &headers,
        )?;
        announced.add_default();
        let condition = conditions::write(input.if_match, input.if_none_match);
        self.check_early(&input.bucket, &input.key, &condition).await?;
        self.check_length(announced.length)?;

        let length = announced.length;
        let body = input.body.unwrap_or_else(empty);
        let (body, digests) = ingest(body, announced, trailers);
        let (blob, stored_length) = self.store(&bucket, body, length).await?;
        let computed = digests.take()?;
        let entry = ObjectEntry {
            blob: afterbay_blob_meta::blob_to_bytes(blob.id()).to_vec(),
            length: stored_length,
            etag: computed.etag(),
            modified_ms: now_ms(),
            attributes: Some(attributes),
            checksums: computed.stored(),
            owner: caller.user.clone(),
            ..Default::default()
        };
        let expiration = self.expiration(&input.bucket, &input.key, &entry);
        self.name(input.bucket, input.key, entry, condition, blob).await?;
        let output = PutObjectOutput { expiration, ..answer(&computed, stored_length) };
        Ok(S3Response::new(output))
    }

    /// Gives a name to a stored blob.
    pub(super) async fn name(
        &self,
        bucket: String,
        key: String,
        entry: ObjectEntry,
        condition: Condition,
        blob: Reserved,
    ) -> S3Result<()> {
        let put = Command::PutObject { bucket, key, entry, condition };
        self.names().apply(put).await.map_err(errors::names)?;
        blob.named();
        Ok(())
    }

    /// A condition that does not hold now is told before the body is read. It is decided again when the name is given.
    pub(super) async fn check_early(
        &self,
        bucket: &str,
        key: &str,
        condition: &Condition,
    ) -> S3Result<()> {
        if *condition == Condition::default() {
            return Ok(());
        }
        let entry = self.names().object(bucket, key).await.map_err(errors::names)?;
        condition.check(key, entry.as_ref()).map_err(errors::names)
    }

    /// What is stored for the ACL of an object.
    pub(super) fn canned(&self, acl: Option<&ObjectCannedACL>) -> S3Result<Option<String>> {
        acl::stored(&self.options, acl.map(ObjectCannedACL::as_str))
    }

    pub(super) fn check_length(&self, length: Option<u64>) -> S3Result<()> {
        let max = self.options.put_bytes_max;
        match length {
            Some(length) if length > max => {
                Err(s3_error!(EntityTooLarge, "more than {max} bytes are uploaded in parts"))
            }
            _ => Ok(()),
        }
    }
}

pub(super) fn check_key(key: &str) -> S3Result<()> {
    if key.is_empty() {
        return Err(s3_error!(InvalidArgument, "the key is empty"));
    }
    if key.len() > afterbay_blob_meta::MAX_KEY_BYTES {
        return Err(s3_error!(KeyTooLongError, "the key has more than 1024 bytes"));
    }
    if key.contains('\0') {
        return Err(s3_error!(InvalidArgument, "the key has a character NUL"));
    }
    Ok(())
}

/// What a request says about its body.
pub(super) fn announced(
    length: Option<i64>,
    md5: Option<String>,
    checksums: ChecksumFields,
    wanted: Option<&ChecksumAlgorithm>,
    headers: &HeaderMap,
) -> S3Result<Announced> {
    let trailers = trailers(headers)?;
    let mut algorithms: Vec<Algorithm> = wanted.map(algorithm).transpose()?.into_iter().collect();
    algorithms.extend(&trailers);
    let checksums = checksums.values();
    // SigV4 of a body in chunks says the length of the content here.
    let decoded = headers.get("x-amz-decoded-content-length");
    let decoded = decoded.and_then(|value| value.to_str().ok()?.parse().ok());
    let length = decoded.or(length.and_then(|length| u64::try_from(length).ok()));
    let announced = Announced { length, md5, checksums, algorithms, trailers };
    announced.check()?;
    Ok(announced)
}

/// The checksums that are to come behind the body.
fn trailers(headers: &HeaderMap) -> S3Result<Vec<Algorithm>> {
    let values = headers.get_all("x-amz-trailer").into_iter();
    let values: Vec<&str> = values.map(|value| value.to_str().unwrap_or("?")).collect();
    let names = values.iter().flat_map(|value| value.split(',')).map(str::trim);
    names
        .map(|name| {
            Algorithm::of_header(name).ok_or_else(|| {
                s3_error!(
                    InvalidRequest,
                    "x-amz-trailer names '{name}', which is no known checksum"
                )
            })
        })
        .collect()
}

pub(super) fn empty() -> StreamingBlob {
    StreamingBlob::from(s3s::Body::empty())
}

fn answer(computed: &Computed, length: u64) -> PutObjectOutput {
    let checksums = ChecksumFields::of(&computed.stored());
    PutObjectOutput {
        e_tag: Some(etag(&computed.etag())),
        checksum_crc32: checksums.crc32,
        checksum_crc32c: checksums.crc32c,
        checksum_crc64nvme: checksums.crc64nvme,
        checksum_sha1: checksums.sha1,
        checksum_sha256: checksums.sha256,
        checksum_type: checksums.kind,
        size: Some(signed(length)),
        ..Default::default()
    }
}
