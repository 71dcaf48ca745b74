//! Uploads in parts.

use afterbay_blob_meta::{
    Checksum, Command, ListRequest, NamesError, ObjectEntry, Part as StoredPart, Upload, now_ms,
};
use http::header::HOST;
use http::uri::Scheme;
use s3s::dto::*;
use s3s::{S3Request, S3Response, S3Result, s3_error};

use super::copy::CopyRange;
use super::list::{Encoding, max_keys, prefixes, text};
use super::put::{announced, check_key, empty};
use crate::checksums::{self, Algorithm};
use crate::conditions::{self, ReadConditions};
use crate::convert::{
    ChecksumFields, SentHeaders, algorithm, attributes, checksum_type, etag, modified, owner_of,
    signed, timestamp,
};
use crate::errors;
use crate::ingest::{Announced, ingest};
use crate::service::Service;

/// Parts that an object may have.
const PARTS_MAX: usize = 10_000;

/// How often a complete looks at the parts again that other requests change.
const TRIES: usize = 4;

impl Service {
    pub(super) async fn create_multipart_upload(
        &self,
        request: S3Request<CreateMultipartUploadInput>,
    ) -> S3Result<S3Response<CreateMultipartUploadOutput>> {
        let caller = self.caller(&request)?;
        let input = request.input;
        check_key(&input.key)?;
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
        let asked = input.checksum_algorithm.as_ref().map(algorithm).transpose()?;
        let composite = is_composite(asked, input.checksum_type.as_ref())?;
        let kept = asked.unwrap_or(Algorithm::DEFAULT);
        let begun_ms = now_ms();
        // In the order of their beginnings, and never again.
        let upload = format!("{begun_ms:012x}{}", uuid::Uuid::new_v4().simple());
        let entry = Upload {
            begun_ms,
            owner: caller.user.clone(),
            attributes: Some(attributes),
            checksum_algorithm: kept.name().to_owned(),
            checksum_composite: composite,
        };
        let create = Command::CreateUpload {
            bucket: input.bucket.clone(),
            key: input.key.clone(),
            upload: upload.clone(),
            entry,
        };
        self.names().apply(create).await.map_err(errors::names)?;
        let aborted = self.abort_date(&input.bucket, &input.key, begun_ms).unzip();
        Ok(S3Response::new(CreateMultipartUploadOutput {
            abort_date: aborted.0,
            abort_rule_id: aborted.1,
            bucket: Some(input.bucket),
            key: Some(input.key),
            upload_id: Some(upload),
            checksum_algorithm: asked.map(|a| ChecksumAlgorithm::from_static(a.name())),
            checksum_type: asked.map(|_| checksum_type(composite)),
            ..Default::default()
        }))
    }

    pub(super) async fn upload_part(
        &self,
        request: S3Request<UploadPartInput>,
    ) -> S3Result<S3Response<UploadPartOutput>> {
        let trailers = request.trailing_headers.clone();
        let S3Request { input, headers, .. } = request;
        let number = part_number(input.part_number)?;
        let bucket = self.bucket(&input.bucket)?;
        let upload = self.open_upload(&input.bucket, &input.key, &input.upload_id).await?;
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
        announced.algorithms.extend(Algorithm::parse(&upload.checksum_algorithm));
        announced.add_default();
        self.check_length(announced.length)?;
        let length = announced.length;
        let body = input.body.unwrap_or_else(empty);
        let (body, digests) = ingest(body, announced, trailers);
        let (blob, stored_length) = self.store(&bucket, body, length).await?;
        let computed = digests.take()?;
        let part = StoredPart {
            blob: afterbay_blob_meta::blob_to_bytes(blob.id()).to_vec(),
            length: stored_length,
            etag: computed.etag(),
            modified_ms: now_ms(),
            checksums: computed.stored(),
        };
        let checksums = ChecksumFields::of(&part.checksums);
        let e_tag = Some(etag(&part.etag));
        let put = Command::PutPart {
            bucket: input.bucket,
            key: input.key,
            upload: input.upload_id,
            number,
            part,
        };
        self.names().apply(put).await.map_err(errors::names)?;
        blob.named();
        Ok(S3Response::new(UploadPartOutput {
            e_tag,
            checksum_crc32: checksums.crc32,
            checksum_crc32c: checksums.crc32c,
            checksum_crc64nvme: checksums.crc64nvme,
            checksum_sha1: checksums.sha1,
            checksum_sha256: checksums.sha256,
            ..Default::default()
        }))
    }

    pub(super) async fn upload_part_copy(
        &self,
        request: S3Request<UploadPartCopyInput>,
    ) -> S3Result<S3Response<UploadPartCopyOutput>> {
        let conditions = ReadConditions {
            if_match: request.input.copy_source_if_match.clone(),
            if_none_match: request.input.copy_source_if_none_match.clone(),
            if_modified_since: request.input.copy_source_if_modified_since.clone(),
            if_unmodified_since: request.input.copy_source_if_unmodified_since.clone(),
        };
        let source = self.source(&request, &request.input.copy_source, conditions)?;
        let input = request.input;
        let number = part_number(input.part_number)?;
        let bucket = self.bucket(&input.bucket)?;
        let upload = self.open_upload(&input.bucket, &input.key, &input.upload_id).await?;
        let range = input.copy_source_range.as_deref().map(copy_range).transpose()?;
        let wanted = CopyRange { source: &source, range };
        let (_, (), range, content) = self.open(&source.bucket, &source.key, &wanted).await?;
        let length = Some(range.end - range.start);
        let algorithms = Algorithm::parse(&upload.checksum_algorithm).into_iter().collect();
        let announced = Announced { length, algorithms, ..Default::default() };
        let (body, digests) = ingest(content, announced, None);
        let (blob, stored_length) = self.store(&bucket, body, length).await?;
        let computed = digests.take()?;
        let part = StoredPart {
            blob: afterbay_blob_meta::blob_to_bytes(blob.id()).to_vec(),
            length: stored_length,
            etag: computed.etag(),
            modified_ms: now_ms(),
            checksums: computed.stored(),
        };
        let checksums = ChecksumFields::of(&part.checksums);
        let result = CopyPartResult {
            checksum_crc32: checksums.crc32,
            checksum_crc32c: checksums.crc32c,
            checksum_crc64nvme: checksums.crc64nvme,
            checksum_sha1: checksums.sha1,
            checksum_sha256: checksums.sha256,
            e_tag: Some(etag(&part.etag)),
            last_modified: Some(modified(part.modified_ms)),
        };
        let put = Command::PutPart {
            bucket: input.bucket,
            key: input.key,
            upload: input.upload_id,
            number,
            part,
        };
        self.names().apply(put).await.map_err(errors::names)?;
        blob.named();
        let copy_part_result = Some(result);
        Ok(S3Response::new(UploadPartCopyOutput { copy_part_result, ..Default::default() }))
    }

    pub(super) async fn complete_multipart_upload(
        &self,
        request: S3Request<CompleteMultipartUploadInput>,
    ) -> S3Result<S3Response<CompleteMultipartUploadOutput>> {
        let location = location(&request);
        let input = request.input;
        let wanted = input.multipart_upload.and_then(|u| u.parts).unwrap_or_default();
        if wanted.is_empty() || wanted.len() > PARTS_MAX {
            return Err(s3_error!(MalformedXML, "{} parts are not 1 to {PARTS_MAX}", wanted.len()));
        }
        let announced = ChecksumFields {
            crc32: input.checksum_crc32,
            crc32c: input.checksum_crc32c,
            crc64nvme: input.checksum_crc64nvme,
            sha1: input.checksum_sha1,
            sha256: input.checksum_sha256,
            kind: None,
        };
        let condition = conditions::write(input.if_match, input.if_none_match);
        let complete = Completing {
            bucket: &input.bucket,
            key: &input.key,
            upload: &input.upload_id,
            wanted: &wanted,
            length: input.mpu_object_size,
            checksums: announced.values(),
        };
        let entry = self.complete(&complete, condition).await?;
        let checksums = ChecksumFields::of(&entry.checksums);
        Ok(S3Response::new(CompleteMultipartUploadOutput {
            location,
            expiration: self.expiration(&input.bucket, &input.key, &entry),
            bucket: Some(input.bucket),
            key: Some(input.key),
            e_tag: Some(etag(&entry.etag)),
            checksum_crc32: checksums.crc32,
            checksum_crc32c: checksums.crc32c,
            checksum_crc64nvme: checksums.crc64nvme,
            checksum_sha1: checksums.sha1,
            checksum_sha256: checksums.sha256,
            checksum_type: checksums.kind,
            ..Default::default()
        }))
    }

    async fn complete(
        &self,
        asked: &Completing<'_>,
        condition: afterbay_blob_meta::Condition,
    ) -> S3Result<ObjectEntry> {
        for _ in 0..TRIES {
            let upload = self.names().upload(asked.bucket, asked.key, asked.upload).await;
            let Some(upload) = upload.map_err(errors::names)? else {
                return self.completed_before(asked).await;
            };
            let parts = self.all_parts(asked.upload).await.map_err(errors::names)?;
            let chosen = asked.choose(&parts, self.options.part_bytes_min)?;
            let entry = asked.entry(&upload, &chosen)?;
            let seen = chosen.iter().map(|(number, part)| Ok((*number, part.blob_id()?)));
            let complete = Command::CompleteUpload {
                bucket: asked.bucket.to_owned(),
                key: asked.key.to_owned(),
                upload: asked.upload.to_owned(),
                seen: seen.collect::<Result<_, NamesError>>().map_err(errors::names)?,
                entry: entry.clone(),
                condition: condition.clone(),
            };
            match self.names().apply(complete).await {
                Ok(_) => return Ok(entry),
                // A part was sent again, or it was completed or aborted.
                Err(NamesError::Changed { .. } | NamesError::NoSuchUpload { .. }) => {}
                Err(error) => return Err(errors::names(error)),
            }
        }
        Err(errors::conflict("parts of the upload are being sent again"))
    }

    /// A client that did not hear the answer asks again.
    async fn completed_before(&self, asked: &Completing<'_>) -> S3Result<ObjectEntry> {
        let there = self.names().object(asked.bucket, asked.key).await.map_err(errors::names)?;
        there.filter(|entry| entry.upload == asked.upload).ok_or_else(no_upload)
    }

    pub(super) async fn abort_multipart_upload(
        &self,
        request: S3Request<AbortMultipartUploadInput>,
    ) -> S3Result<S3Response<AbortMultipartUploadOutput>> {
        let AbortMultipartUploadInput { bucket, key, upload_id, .. } = request.input;
        let abort = Command::AbortUpload { bucket, key, upload: upload_id, now_ms: now_ms() };
        self.names().apply(abort).await.map_err(errors::names)?;
        Ok(S3Response::new(AbortMultipartUploadOutput::default()))
    }

    pub(super) async fn list_parts(
        &self,
        request: S3Request<ListPartsInput>,
    ) -> S3Result<S3Response<ListPartsOutput>> {
        let caller = self.caller(&request)?;
        let input = request.input;
        let upload = self.open_upload(&input.bucket, &input.key, &input.upload_id).await?;
        let max = max_keys(input.max_parts)?;
        let marker = input.part_number_marker.unwrap_or(0);
        let after = u16::try_from(marker)
            .map_err(|_| s3_error!(InvalidArgument, "part-number-marker is no part's number"))?;
        let found = self.names().parts(&input.upload_id, after, max as usize + 1).await;
        let mut parts = found.map_err(errors::names)?;
        let more = parts.len() > max as usize;
        parts.truncate(max as usize);
        let last = parts.last().map(|(number, _)| i32::from(*number));
        let owner = owner_of(&upload.owner, &caller);
        let algorithm = Algorithm::parse(&upload.checksum_algorithm);
        let initiator =
            Initiator { display_name: owner.display_name.clone(), id: owner.id.clone() };
        let aborted = self.abort_date(&input.bucket, &input.key, upload.begun_ms).unzip();
        Ok(S3Response::new(ListPartsOutput {
            abort_date: aborted.0,
            abort_rule_id: aborted.1,
            bucket: Some(input.bucket),
            key: Some(input.key),
            upload_id: Some(input.upload_id),
            max_parts: Some(max),
            part_number_marker: Some(marker),
            next_part_number_marker: last.or(Some(marker)),
            is_truncated: Some(more),
            parts: Some(parts.iter().map(shown_part).collect()),
            owner: Some(owner),
            initiator: Some(initiator),
            storage_class: Some(StorageClass::from_static(StorageClass::STANDARD)),
            checksum_algorithm: algorithm.map(|a| ChecksumAlgorithm::from_static(a.name())),
            checksum_type: algorithm.map(|_| checksum_type(upload.checksum_composite)),
            ..Default::default()
        }))
    }

    pub(super) async fn list_multipart_uploads(
        &self,
        request: S3Request<ListMultipartUploadsInput>,
    ) -> S3Result<S3Response<ListMultipartUploadsOutput>> {
        let caller = self.caller(&request)?;
        let input = request.input;
        let max = max_keys(input.max_uploads)?;
        let encoding = Encoding::of(input.encoding_type.as_ref())?;
        let list = ListRequest {
            prefix: text(&input.prefix),
            delimiter: text(&input.delimiter),
            after: text(&input.key_marker),
            after_upload: text(&input.upload_id_marker),
            max: max as usize,
        };
        let page = self.names().list_uploads(&input.bucket, list).await.map_err(errors::names)?;
        let uploads = page.rows.iter().map(|row| {
            let owner = owner_of(&row.value.owner, &caller);
            let algorithm = Algorithm::parse(&row.value.checksum_algorithm);
            MultipartUpload {
                checksum_algorithm: algorithm.map(|a| ChecksumAlgorithm::from_static(a.name())),
                checksum_type: algorithm.map(|_| checksum_type(row.value.checksum_composite)),
                initiated: Some(timestamp(row.value.begun_ms)),
                initiator: Some(Initiator {
                    display_name: owner.display_name.clone(),
                    id: owner.id.clone(),
                }),
                key: Some(encoding.shown(row.key.clone())),
                owner: Some(owner),
                storage_class: Some(StorageClass::from_static(StorageClass::STANDARD)),
                upload_id: Some(row.upload.clone()),
            }
        });
        let uploads = Some(uploads.collect());
        let more = page.truncated;
        Ok(S3Response::new(ListMultipartUploadsOutput {
            uploads,
            bucket: Some(input.bucket),
            prefix: input.prefix.map(|p| encoding.shown(p)),
            key_marker: Some(encoding.shown(input.key_marker.unwrap_or_default())),
            upload_id_marker: input.upload_id_marker,
            next_key_marker: more.then(|| encoding.shown(page.next.clone())),
            next_upload_id_marker: more.then(|| page.next_upload.clone()),
            max_uploads: Some(max),
            is_truncated: Some(more),
            common_prefixes: prefixes(&page, encoding),
            delimiter: input.delimiter.filter(|d| !d.is_empty()).map(|d| encoding.shown(d)),
            encoding_type: input.encoding_type,
            ..Default::default()
        }))
    }

    async fn open_upload(&self, bucket: &str, key: &str, upload: &str) -> S3Result<Upload> {
        let found = self.names().upload(bucket, key, upload).await.map_err(errors::names)?;
        found.ok_or_else(no_upload)
    }
}

/// A request to complete an upload.
struct Completing<'a> {
    bucket: &'a str,
    key: &'a str,
    upload: &'a str,
    wanted: &'a [CompletedPart],
    length: Option<i64>,
    checksums: Vec<(Algorithm, String)>,
}

impl Completing<'_> {
    /// The stored parts that are wanted; an error if one is another or too small.
    fn choose<'p>(
        &self,
        stored: &'p [(u16, StoredPart)],
        bytes_min: u64,
    ) -> S3Result<Vec<(u16, &'p StoredPart)>> {
        let mut chosen: Vec<(u16, &StoredPart)> = Vec::with_capacity(self.wanted.len());
        for wanted in self.wanted {
            let number = part_number(wanted.part_number.unwrap_or(0))?;
            if chosen.last().is_some_and(|(last, _)| *last >= number) {
                return Err(s3_error!(
                    InvalidPartOrder,
                    "parts must be in the order of their numbers"
                ));
            }
            let found = stored.binary_search_by_key(&number, |(n, _)| *n).ok();
            let part = found.map(|at| &stored[at].1).filter(|part| is_same(wanted, part));
            let part = part.ok_or_else(|| {
                s3_error!(
                    InvalidPart,
                    "part {number} was not uploaded, or its ETag or checksum is another"
                )
            })?;
            chosen.push((number, part));
        }
        let all_but_last = chosen.split_last().map_or(&[][..], |(_, before)| before);
        if all_but_last.iter().any(|(_, part)| part.length < bytes_min) {
            return Err(s3_error!(
                EntityTooSmall,
                "Your proposed upload is smaller than the minimum allowed object size"
            ));
        }
        Ok(chosen)
    }

    fn entry(&self, upload: &Upload, parts: &[(u16, &StoredPart)]) -> S3Result<ObjectEntry> {
        let only_parts: Vec<&StoredPart> = parts.iter().map(|(_, part)| *part).collect();
        let length = only_parts.iter().map(|part| part.length).sum();
        if self.length.is_some_and(|wanted| wanted != signed(length)) {
            return Err(s3_error!(InvalidRequest, "the parts have {length} bytes together"));
        }
        let tag = checksums::etag_of_parts(only_parts.iter().map(|part| part.etag.as_str()));
        Ok(ObjectEntry {
            length,
            etag: tag.ok_or_else(|| s3_error!(InternalError, "the ETag of a part is damaged"))?,
            modified_ms: now_ms(),
            attributes: upload.attributes.clone(),
            checksums: self.checksum(upload, &only_parts)?,
            owner: upload.owner.clone(),
            ..Default::default()
        })
    }

    fn checksum(&self, upload: &Upload, parts: &[&StoredPart]) -> S3Result<Vec<Checksum>> {
        let algorithm = Algorithm::parse(&upload.checksum_algorithm);
        let known =
            algorithm.and_then(|a| checksums::of_parts(a, upload.checksum_composite, parts));
        for (algorithm, announced) in &self.checksums {
            let known = known.as_ref().filter(|c| c.algorithm == algorithm.name());
            // Some clients leave out the number of parts.
            let same = known.is_some_and(|c| {
                c.value == *announced || c.value.split('-').next() == Some(announced)
            });
            if !same {
                let name = algorithm.name();
                return Err(s3_error!(
                    BadDigest,
                    "the {name} that was announced is not that of the parts"
                ));
            }
        }
        Ok(known.into_iter().collect())
    }
}

fn is_same(wanted: &CompletedPart, part: &StoredPart) -> bool {
    let checksums = ChecksumFields {
        crc32: wanted.checksum_crc32.clone(),
        crc32c: wanted.checksum_crc32c.clone(),
        crc64nvme: wanted.checksum_crc64nvme.clone(),
        sha1: wanted.checksum_sha1.clone(),
        sha256: wanted.checksum_sha256.clone(),
        kind: None,
    };
    let same = |(algorithm, value): (Algorithm, String)| {
        checksums::value(&part.checksums, algorithm).is_none_or(|known| known == value)
    };
    wanted.e_tag.as_ref().is_some_and(|tag| tag.value() == part.etag)
        && checksums.values().into_iter().all(same)
}

fn shown_part((number, part): &(u16, StoredPart)) -> Part {
    let checksums = ChecksumFields::of(&part.checksums);
    Part {
        checksum_crc32: checksums.crc32,
        checksum_crc32c: checksums.crc32c,
        checksum_crc64nvme: checksums.crc64nvme,
        checksum_sha1: checksums.sha1,
        checksum_sha256: checksums.sha256,
        e_tag: Some(etag(&part.etag)),
        last_modified: Some(modified(part.modified_ms)),
        part_number: Some(i32::from(*number)),
        size: Some(signed(part.length)),
    }
}

/// Whether the object's checksum is composed of those of its parts. CRC64NVME never is, SHAs always are.
fn is_composite(algorithm: Option<Algorithm>, asked: Option<&ChecksumType>) -> S3Result<bool> {
    let asked = asked.map(|kind| kind.as_str() == ChecksumType::COMPOSITE);
    let only = match algorithm {
        None if asked.is_some() => {
            return Err(s3_error!(InvalidRequest, "a checksum type needs a checksum algorithm"));
        }
        None => return Ok(false),
        Some(Algorithm::Crc64Nvme) => Some(false),
        Some(Algorithm::Sha1 | Algorithm::Sha256) => Some(true),
        Some(Algorithm::Crc32 | Algorithm::Crc32c) => None,
    };
    match (only, asked) {
        (Some(only), Some(asked)) if only != asked => Err(s3_error!(
            InvalidRequest,
            "this checksum algorithm does not have this checksum type"
        )),
        (only, asked) => Ok(only.or(asked).unwrap_or(true)),
    }
}

fn part_number(number: i32) -> S3Result<u16> {
    let number = u16::try_from(number).ok().filter(|n| (1..=PARTS_MAX).contains(&usize::from(*n)));
    number.ok_or_else(|| {
        s3_error!(
            InvalidArgument,
            "Part number must be an integer between 1 and {PARTS_MAX}, inclusive"
        )
    })
}

/// `bytes=FIRST-LAST` and nothing else.
pub(crate) fn copy_range(text: &str) -> S3Result<std::ops::Range<u64>> {
    let parse = || {
        let (first, last) = text.strip_prefix("bytes=")?.split_once('-')?;
        let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if !digits(first) || !digits(last) {
            return None;
        }
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last).then_some(first..last.checked_add(1)?)
    };
    parse().ok_or_else(|| {
        s3_error!(
            InvalidArgument,
            "The x-amz-copy-source-range value must be of the form bytes=first-last"
        )
    })
}

/// The URL of the object, as the client would write it.
fn location(request: &S3Request<CompleteMultipartUploadInput>) -> Option<String> {
    let scheme = request.extensions.get::<Scheme>()?;
    let host = request.headers.get(HOST)?.to_str().ok()?;
    // The path as it was asked for: the bucket may be in the name of the host.
    let path = request.uri.path();
    Some(format!("{scheme}://{host}{path}"))
}

fn no_upload() -> s3s::S3Error {
    s3_error!(NoSuchUpload, "there is no such upload: it was completed or aborted, or never begun")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_copies() {
        assert_eq!(copy_range("bytes=0-21").unwrap(), 0..22);
        for wrong in [
            "0-2",
            "bytes=0",
            "bytes=hello-world",
            "bytes=0-bar",
            "bytes=0-",
            "bytes=0-2,3-5",
            "bytes=3-2",
            "bytes=-1",
        ] {
            assert!(copy_range(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn types_of_checksums() {
        let full = ChecksumType::from_static(ChecksumType::FULL_OBJECT);
        assert!(is_composite(Some(Algorithm::Sha256), None).unwrap());
        assert!(is_composite(Some(Algorithm::Sha256), Some(&full)).is_err());
        assert!(!is_composite(Some(Algorithm::Crc64Nvme), None).unwrap());
        assert!(!is_composite(Some(Algorithm::Crc32), Some(&full)).unwrap());
        assert!(is_composite(Some(Algorithm::Crc32), None).unwrap());
        assert!(is_composite(None, Some(&full)).is_err());
    }
}
