//! Copies within the store. Bodies are stored again: a blob has one name.

use afterbay_blob_meta::{Attributes, Command, Condition, NamesError, ObjectEntry, Rights, now_ms};
use s3s::dto::*;
use s3s::{S3Request, S3Response, S3Result, s3_error};

use super::get::check_version;
use super::put::check_key;
use crate::acl;
use crate::checksums::Algorithm;
use crate::conditions::{self, ReadConditions};
use crate::convert::{ChecksumFields, SentHeaders, algorithm, attributes, etag, modified};
use crate::errors;
use crate::ingest::{Announced, ingest};
use crate::service::Service;
use crate::stored_body::Choose;

/// Of the bucket of the source.
const EXPECTED_SOURCE_OWNER: &str = "x-amz-source-expected-bucket-owner";

/// An object that is copied from.
pub(super) struct Source {
    pub(super) bucket: String,
    pub(super) key: String,
    pub(super) conditions: ReadConditions,
}

/// Where a copy goes.
struct Target {
    bucket: String,
    key: String,
    condition: Condition,
    owner: String,
}

/// What of the source is copied; `None`: all.
pub(super) struct CopyRange<'a> {
    pub(super) source: &'a Source,
    pub(super) range: Option<std::ops::Range<u64>>,
}

#[async_trait::async_trait]
impl Choose for CopyRange<'_> {
    type Chosen = ();

    async fn choose(
        &self,
        service: &Service,
        entry: &ObjectEntry,
    ) -> S3Result<((), std::ops::Range<u64>)> {
        self.source.conditions.check(entry, true)?;
        let range = self.range.clone().unwrap_or(0..entry.length);
        if range.end > entry.length {
            return Err(s3_error!(InvalidRange, "the length of the source is {}", entry.length));
        }
        let max = service.options.put_bytes_max;
        if range.end - range.start > max {
            return Err(s3_error!(InvalidRequest, "more than {max} bytes are copied in parts"));
        }
        Ok(((), range))
    }
}

impl Service {
    /// The source of a copy, once its reader has been found to have the right.
    pub(super) fn source<T>(
        &self,
        request: &S3Request<T>,
        source: &CopySource,
        conditions: ReadConditions,
    ) -> S3Result<Source> {
        let CopySource::Bucket { bucket, key, version_id } = source else {
            return Err(errors::not_implemented("copying from an access point"));
        };
        check_version(version_id.as_deref())?;
        self.require(&*self.caller(request)?, bucket, Rights::READ)?;
        self.require_owner(bucket, request.headers.get(EXPECTED_SOURCE_OWNER))?;
        self.bucket(bucket)?;
        Ok(Source { bucket: bucket.to_string(), key: key.to_string(), conditions })
    }

    pub(super) async fn copy_object(
        &self,
        request: S3Request<CopyObjectInput>,
    ) -> S3Result<S3Response<CopyObjectOutput>> {
        check_key(&request.input.key)?;
        let conditions = ReadConditions {
            if_match: request.input.copy_source_if_match.clone(),
            if_none_match: request.input.copy_source_if_none_match.clone(),
            if_modified_since: request.input.copy_source_if_modified_since.clone(),
            if_unmodified_since: request.input.copy_source_if_unmodified_since.clone(),
        };
        let source = self.source(&request, &request.input.copy_source, conditions)?;
        let caller = self.caller(&request)?;
        let condition = conditions::of_headers(&request.headers)?;
        let input = request.input;
        self.bucket(&input.bucket)?;
        self.check_early(&input.bucket, &input.key, &condition).await?;
        let in_place = source.bucket == input.bucket && source.key == input.key;
        let acl = self.canned(input.acl.as_ref())?;
        let change = Change::of(&input, acl)?;
        if in_place && change.changes_nothing() {
            return Err(s3_error!(
                InvalidRequest,
                "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes."
            ));
        }
        let wanted = input.checksum_algorithm.as_ref().map(algorithm).transpose()?;
        let entry = if in_place && wanted.is_none() {
            self.change_in_place(&source, &change, &condition).await?
        } else {
            let target = Target {
                bucket: input.bucket.clone(),
                key: input.key.clone(),
                condition,
                owner: caller.user.clone(),
            };
            self.copy(&source, target, &change, wanted).await?
        };
        let checksums = ChecksumFields::of(&entry.checksums);
        let result = CopyObjectResult {
            checksum_crc32: checksums.crc32,
            checksum_crc32c: checksums.crc32c,
            checksum_crc64nvme: checksums.crc64nvme,
            checksum_sha1: checksums.sha1,
            checksum_sha256: checksums.sha256,
            checksum_type: checksums.kind,
            e_tag: Some(etag(&entry.etag)),
            last_modified: Some(modified(entry.modified_ms)),
        };
        let copy_object_result = Some(result);
        let expiration = self.expiration(&input.bucket, &input.key, &entry);
        let output = CopyObjectOutput { copy_object_result, expiration, ..Default::default() };
        Ok(S3Response::new(output))
    }

    /// The body stays where it is.
    async fn change_in_place(
        &self,
        source: &Source,
        change: &Change,
        condition: &Condition,
    ) -> S3Result<ObjectEntry> {
        loop {
            let seen = self.entry(&source.bucket, &source.key).await?;
            source.conditions.check(&seen, true)?;
            condition.check(&source.key, Some(&seen)).map_err(errors::names)?;
            let attributes = change.apply(&seen);
            let modified_ms = now_ms();
            let set = Command::SetAttributes {
                bucket: source.bucket.clone(),
                key: source.key.clone(),
                seen: seen.clone(),
                attributes: attributes.clone(),
                modified_ms,
            };
            match self.names().apply(set).await {
                Ok(_) => {
                    return Ok(ObjectEntry { attributes: Some(attributes), modified_ms, ..seen });
                }
                // Somebody else was faster: with what is there now.
                Err(NamesError::Changed { .. }) => {}
                Err(error) => return Err(errors::names(error)),
            }
        }
    }

    async fn copy(
        &self,
        source: &Source,
        target: Target,
        change: &Change,
        wanted: Option<Algorithm>,
    ) -> S3Result<ObjectEntry> {
        let bucket = self.bucket(&target.bucket)?;
        let whole = CopyRange { source, range: None };
        let (from, (), range, content) = self.open(&source.bucket, &source.key, &whole).await?;
        let kept = from.checksums.iter().find(|c| !c.composite);
        let kept = kept.and_then(|c| Algorithm::parse(&c.algorithm));
        let composed = from.checksums.iter().find(|c| c.composite);
        let composed = composed.and_then(|c| Algorithm::parse(&c.algorithm));
        let announced = Announced {
            length: Some(range.end),
            algorithms: vec![wanted.or(kept).or(composed).unwrap_or(Algorithm::DEFAULT)],
            ..Default::default()
        };
        let (body, digests) = ingest(content, announced, None);
        let (blob, length) = self.store(&bucket, body, Some(range.end)).await?;
        let computed = digests.take()?;
        let entry = ObjectEntry {
            blob: afterbay_blob_meta::blob_to_bytes(blob.id()).to_vec(),
            length,
            etag: computed.etag(),
            modified_ms: now_ms(),
            attributes: Some(change.apply(&from)),
            checksums: computed.stored(),
            owner: target.owner,
            ..Default::default()
        };
        self.name(target.bucket, target.key, entry.clone(), target.condition, blob).await?;
        Ok(entry)
    }
}

/// What the copy has that the source has not.
struct Change {
    /// `None`: the source's.
    attributes: Option<Attributes>,
    /// `None`: the source's.
    tags: Option<Attributes>,
    storage_class: Option<String>,
    redirect: Option<String>,
    /// Never the source's.
    acl: Option<String>,
}

impl Change {
    fn of(input: &CopyObjectInput, acl: Option<String>) -> S3Result<Self> {
        let replaces = |directive: Option<&str>, what: &str| match directive {
            None | Some("COPY") => Ok(false),
            Some("REPLACE") => Ok(true),
            Some(other) => {
                Err(s3_error!(InvalidArgument, "{what}: '{other}' is neither COPY nor REPLACE"))
            }
        };
        let directive = input.metadata_directive.as_ref().map(MetadataDirective::as_str);
        let sent = SentHeaders {
            cache_control: input.cache_control.clone(),
            disposition: input.content_disposition.clone(),
            encoding: input.content_encoding.clone(),
            language: input.content_language.clone(),
            content_type: input.content_type.clone(),
            expires: input.expires.clone(),
            redirect: input.website_redirect_location.clone(),
            storage_class: input.storage_class.as_ref().map(|class| class.as_str().to_owned()),
            acl: None,
        };
        let replaced = replaces(directive, "x-amz-metadata-directive")?;
        let new = replaced.then(|| attributes(sent, input.metadata.clone(), None)).transpose()?;
        let directive = input.tagging_directive.as_ref().map(TaggingDirective::as_str);
        let retagged = replaces(directive, "x-amz-tagging-directive")?;
        let tagging = Some(input.tagging.as_deref().unwrap_or_default());
        let tags =
            retagged.then(|| attributes(SentHeaders::default(), None, tagging)).transpose()?;
        Ok(Change {
            attributes: new,
            tags,
            storage_class: input.storage_class.as_ref().map(|class| class.as_str().to_owned()),
            redirect: input.website_redirect_location.clone(),
            acl,
        })
    }

    fn changes_nothing(&self) -> bool {
        self.attributes.is_none()
            && self.tags.is_none()
            && self.storage_class.is_none()
            && self.redirect.is_none()
    }

    fn apply(&self, source: &ObjectEntry) -> Attributes {
        use crate::convert::header;
        let old = source.attributes();
        let tags = self.tags.clone().map_or(old.tags.clone(), |new| new.tags);
        let mut attributes = self.attributes.clone().unwrap_or(old);
        attributes.tags = tags;
        attributes.headers.remove(acl::NAME);
        attributes.headers.extend(self.acl.clone().map(|acl| (acl::NAME.to_owned(), acl)));
        // These two are of the request, whatever happens to the metadata.
        for (name, value) in
            [(header::STORAGE_CLASS, &self.storage_class), (header::REDIRECT, &self.redirect)]
        {
            match value.as_deref() {
                Some("STANDARD") => attributes.headers.remove(name),
                Some(value) => attributes.headers.insert(name.to_owned(), value.to_owned()),
                None => None,
            };
        }
        attributes
    }
}
