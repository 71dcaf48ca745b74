//! Reading objects: GET, HEAD, attributes.

use std::ops::Range as Bytes;

use afterbay_blob_meta::{Body, ObjectEntry, Part};
use http::StatusCode;
use http::header::HeaderName;
use s3s::dto::*;
use s3s::{S3Request, S3Response, S3Result, s3_error};

use crate::conditions::ReadConditions;
use crate::convert::{ChecksumFields, etag, from_http_date, header, modified, signed};
use crate::errors;
use crate::service::Service;
use crate::stored_body::{Choose, outgoing, part_range};

const TAG_COUNT: HeaderName = HeaderName::from_static("x-amz-tagging-count");

/// What of an object is wanted.
struct Wanted<'a> {
    conditions: ReadConditions,
    range: Option<&'a Range>,
    part_number: Option<i32>,
}

#[async_trait::async_trait]
impl Choose for Wanted<'_> {
    type Chosen = Chosen;

    /// Checks the conditions, and finds out which bytes are wanted.
    async fn choose(
        &self,
        service: &Service,
        entry: &ObjectEntry,
    ) -> S3Result<(Chosen, Bytes<u64>)> {
        self.conditions.check(entry, false)?;
        match (self.part_number, self.range) {
            (Some(_), Some(_)) => {
                Err(s3_error!(InvalidRequest, "a range and a part cannot both be asked for"))
            }
            (Some(number), None) => service.choose_part(entry, number).await,
            (None, Some(range)) => {
                let chosen = Chosen { partial: true, parts_count: None, part: None };
                Ok((chosen, check_range(range, entry.length)?))
            }
            (None, None) => {
                let chosen = Chosen { partial: false, parts_count: None, part: None };
                Ok((chosen, 0..entry.length))
            }
        }
    }
}

/// What the answer says of it.
struct Chosen {
    partial: bool,
    parts_count: Option<i32>,
    /// Of the part that was asked for.
    part: Option<Part>,
}

impl Service {
    pub(super) async fn get_object(
        &self,
        request: S3Request<GetObjectInput>,
    ) -> S3Result<S3Response<GetObjectOutput>> {
        let input = request.input;
        check_version(input.version_id.as_deref())?;
        let wanted = Wanted {
            conditions: ReadConditions {
                if_match: input.if_match,
                if_none_match: input.if_none_match,
                if_modified_since: input.if_modified_since,
                if_unmodified_since: input.if_unmodified_since,
            },
            range: input.range.as_ref(),
            part_number: input.part_number,
        };
        let (entry, chosen, range, content) = self.open(&input.bucket, &input.key, &wanted).await?;
        let attributes = entry.attributes();
        let mut headers = attributes.headers;
        let mut take = |name, replaced: Option<String>| replaced.or(headers.remove(name));
        let checksums = shown_checksums(&entry, &chosen, input.checksum_mode.as_ref());
        let length = range.end - range.start;
        let output = GetObjectOutput {
            accept_ranges: Some("bytes".to_owned()),
            body: Some(outgoing(content, length)),
            cache_control: take(header::CACHE_CONTROL, input.response_cache_control),
            content_disposition: take(header::DISPOSITION, input.response_content_disposition),
            content_encoding: take(header::ENCODING, input.response_content_encoding),
            content_language: take(header::LANGUAGE, input.response_content_language),
            content_type: take(header::TYPE, input.response_content_type)
                .or(Some("binary/octet-stream".to_owned())),
            expires: input
                .response_expires
                .or_else(|| from_http_date(&headers.remove(header::EXPIRES)?)),
            website_redirect_location: headers.remove(header::REDIRECT),
            storage_class: headers.remove(header::STORAGE_CLASS).map(StorageClass::from),
            content_length: Some(signed(length)),
            content_range: content_range(&entry, &chosen, &range),
            e_tag: Some(etag(&entry.etag)),
            expiration: self.expiration(&input.bucket, &input.key, &entry),
            last_modified: Some(modified(entry.modified_ms)),
            metadata: Some(attributes.metadata.into_iter().collect()),
            parts_count: chosen.parts_count,
            tag_count: Some(attributes.tags.len() as i32).filter(|count| *count > 0),
            checksum_crc32: checksums.crc32,
            checksum_crc32c: checksums.crc32c,
            checksum_crc64nvme: checksums.crc64nvme,
            checksum_sha1: checksums.sha1,
            checksum_sha256: checksums.sha256,
            checksum_type: checksums.kind,
            ..Default::default()
        };
        Ok(with_status(output, chosen.partial))
    }

    pub(super) async fn head_object(
        &self,
        request: S3Request<HeadObjectInput>,
    ) -> S3Result<S3Response<HeadObjectOutput>> {
        let input = request.input;
        check_version(input.version_id.as_deref())?;
        let wanted = Wanted {
            conditions: ReadConditions {
                if_match: input.if_match,
                if_none_match: input.if_none_match,
                if_modified_since: input.if_modified_since,
                if_unmodified_since: input.if_unmodified_since,
            },
            range: input.range.as_ref(),
            part_number: input.part_number,
        };
        let entry = self.entry(&input.bucket, &input.key).await?;
        let (chosen, range) = wanted.choose(self, &entry).await?;
        let checksums = shown_checksums(&entry, &chosen, input.checksum_mode.as_ref());
        let attributes = entry.attributes();
        let tags = attributes.tags.len();
        let mut headers = attributes.headers;
        let mut take = |name, replaced: Option<String>| replaced.or(headers.remove(name));
        let output = HeadObjectOutput {
            accept_ranges: Some("bytes".to_owned()),
            cache_control: take(header::CACHE_CONTROL, input.response_cache_control),
            content_disposition: take(header::DISPOSITION, input.response_content_disposition),
            content_encoding: take(header::ENCODING, input.response_content_encoding),
            content_language: take(header::LANGUAGE, input.response_content_language),
            content_type: take(header::TYPE, input.response_content_type)
                .or(Some("binary/octet-stream".to_owned())),
            expires: input
                .response_expires
                .or_else(|| from_http_date(&headers.remove(header::EXPIRES)?)),
            website_redirect_location: headers.remove(header::REDIRECT),
            storage_class: headers.remove(header::STORAGE_CLASS).map(StorageClass::from),
            content_length: Some(signed(range.end - range.start)),
            content_range: content_range(&entry, &chosen, &range),
            e_tag: Some(etag(&entry.etag)),
            expiration: self.expiration(&input.bucket, &input.key, &entry),
            last_modified: Some(modified(entry.modified_ms)),
            metadata: Some(attributes.metadata.into_iter().collect()),
            parts_count: chosen.parts_count,
            checksum_crc32: checksums.crc32,
            checksum_crc32c: checksums.crc32c,
            checksum_crc64nvme: checksums.crc64nvme,
            checksum_sha1: checksums.sha1,
            checksum_sha256: checksums.sha256,
            checksum_type: checksums.kind,
            ..Default::default()
        };
        let mut response = with_status(output, chosen.partial);
        if tags > 0 {
            // s3s has no field for it here.
            response.headers.insert(TAG_COUNT, tags.into());
        }
        Ok(response)
    }

    async fn choose_part(
        &self,
        entry: &ObjectEntry,
        number: i32,
    ) -> S3Result<(Chosen, Bytes<u64>)> {
        let missing = || s3_error!(InvalidPart, "the object has no part {number}");
        match entry.body().map_err(errors::names)? {
            // An object that was put at once is its own first part.
            Body::Blob(_) if number == 1 => {
                Ok((Chosen { partial: true, parts_count: None, part: None }, 0..entry.length))
            }
            Body::Blob(_) => Err(missing()),
            Body::Parts(upload) => {
                let parts = self.all_parts(&upload).await.map_err(errors::names)?;
                let found = u16::try_from(number).ok().and_then(|wanted| {
                    let at = parts.binary_search_by_key(&wanted, |(n, _)| *n).ok()?;
                    Some((part_range(&parts, wanted)?, parts[at].1.clone()))
                });
                let (range, part) = found.ok_or_else(missing)?;
                let parts_count = i32::try_from(entry.part_count).ok();
                Ok((Chosen { partial: true, parts_count, part: Some(part) }, range))
            }
        }
    }

    pub(super) async fn get_object_attributes(
        &self,
        request: S3Request<GetObjectAttributesInput>,
    ) -> S3Result<S3Response<GetObjectAttributesOutput>> {
        let input = request.input;
        check_version(input.version_id.as_deref())?;
        let entry = self.entry(&input.bucket, &input.key).await?;
        // A header may name several.
        let asked: Vec<String> = input
            .object_attributes
            .iter()
            .flat_map(|a| a.as_str().split(',').map(|a| a.trim().to_owned()).collect::<Vec<_>>())
            .collect();
        let wants = |name: &str| asked.iter().any(|a| a == name);
        let checksums = ChecksumFields::of(&entry.checksums);
        let checksum = Checksum {
            checksum_crc32: checksums.crc32,
            checksum_crc32c: checksums.crc32c,
            checksum_crc64nvme: checksums.crc64nvme,
            checksum_sha1: checksums.sha1,
            checksum_sha256: checksums.sha256,
            checksum_type: checksums.kind,
        };
        let object_parts = match wants("ObjectParts") {
            true => {
                self.attributes_parts(&entry, input.max_parts, input.part_number_marker).await?
            }
            false => None,
        };
        let class = entry.attributes().headers.remove(header::STORAGE_CLASS);
        Ok(S3Response::new(GetObjectAttributesOutput {
            checksum: Some(checksum).filter(|_| wants("Checksum") && !entry.checksums.is_empty()),
            e_tag: wants("ETag").then(|| etag(&entry.etag)),
            last_modified: Some(modified(entry.modified_ms)),
            object_parts,
            object_size: wants("ObjectSize").then(|| signed(entry.length)),
            storage_class: wants("StorageClass")
                .then(|| StorageClass::from(class.unwrap_or_else(|| "STANDARD".to_owned()))),
            ..Default::default()
        }))
    }

    async fn attributes_parts(
        &self,
        entry: &ObjectEntry,
        max: Option<i32>,
        marker: Option<i32>,
    ) -> S3Result<Option<GetObjectAttributesParts>> {
        let Body::Parts(upload) = entry.body().map_err(errors::names)? else {
            return Ok(None);
        };
        let max = usize::try_from(max.unwrap_or(1000)).unwrap_or(0).min(1000);
        let after = u16::try_from(marker.unwrap_or(0)).unwrap_or(u16::MAX);
        let mut parts = self.names().parts(&upload, after, max + 1).await.map_err(errors::names)?;
        let more = parts.len() > max;
        parts.truncate(max);
        let last = parts.last().map(|(number, _)| i32::from(*number));
        let shown = parts.iter().map(|(number, part)| {
            let checksums = ChecksumFields::of(&part.checksums);
            ObjectPart {
                checksum_crc32: checksums.crc32,
                checksum_crc32c: checksums.crc32c,
                checksum_crc64nvme: checksums.crc64nvme,
                checksum_sha1: checksums.sha1,
                checksum_sha256: checksums.sha256,
                part_number: Some(i32::from(*number)),
                size: Some(signed(part.length)),
            }
        });
        Ok(Some(GetObjectAttributesParts {
            is_truncated: Some(more),
            max_parts: i32::try_from(max).ok(),
            next_part_number_marker: last.or(marker),
            part_number_marker: Some(marker.unwrap_or(0)),
            parts: Some(shown.collect()),
            total_parts_count: i32::try_from(entry.part_count).ok(),
        }))
    }
}

/// Buckets have no versions: an object is its own version `null`.
pub(super) fn check_version(version: Option<&str>) -> S3Result<()> {
    match version {
        None | Some("" | "null") => Ok(()),
        Some(_) => Err(s3_error!(NoSuchVersion, "buckets have no versions here")),
    }
}

fn check_range(range: &Range, length: u64) -> S3Result<Bytes<u64>> {
    let range = range.check(length).ok().filter(|range| !range.is_empty());
    range.ok_or_else(|| s3_error!(InvalidRange, "the length of the object is {length}"))
}

fn content_range(entry: &ObjectEntry, chosen: &Chosen, range: &Bytes<u64>) -> Option<String> {
    let shown = chosen.partial && !range.is_empty();
    shown.then(|| format!("bytes {}-{}/{}", range.start, range.end - 1, entry.length))
}

/// S3 tells checksums when they are asked for, of the whole object or of a part.
fn shown_checksums(
    entry: &ObjectEntry,
    chosen: &Chosen,
    mode: Option<&ChecksumMode>,
) -> ChecksumFields {
    if mode.is_none_or(|mode| mode.as_str() != ChecksumMode::ENABLED) {
        return ChecksumFields::default();
    }
    match &chosen.part {
        Some(part) => {
            let kind = ChecksumFields::of(&entry.checksums).kind;
            ChecksumFields { kind, ..ChecksumFields::of(&part.checksums) }
        }
        None if chosen.partial => ChecksumFields::default(),
        None => ChecksumFields::of(&entry.checksums),
    }
}

fn with_status<T>(output: T, partial: bool) -> S3Response<T> {
    let mut response = S3Response::new(output);
    if partial {
        response.status = Some(StatusCode::PARTIAL_CONTENT);
    }
    response
}
