//! Lists of objects, in the three ways of S3.

use afterbay_blob_meta::{AccessKey, ListRequest, ObjectEntry, Page, Row};
use s3s::dto::*;
use s3s::{S3Request, S3Response, S3Result, s3_error};

use crate::checksums::{decode, encode};
use crate::convert::{checksum_type, etag, header, modified, owner_of, signed};
use crate::errors;
use crate::service::Service;

/// Names of one page.
const KEYS_MAX: i32 = 1000;

impl Service {
    pub(super) async fn list_objects(
        &self,
        request: S3Request<ListObjectsInput>,
    ) -> S3Result<S3Response<ListObjectsOutput>> {
        let caller = self.caller(&request)?;
        let input = request.input;
        let max = max_keys(input.max_keys)?;
        let list = ListRequest {
            prefix: text(&input.prefix),
            delimiter: text(&input.delimiter),
            after: text(&input.marker),
            max: max as usize,
            ..Default::default()
        };
        let page = self.list(&input.bucket, list).await?;
        let encoding = Encoding::of(input.encoding_type.as_ref())?;
        // Without a delimiter clients go on behind the last key, as S3 says.
        let next = page.truncated && input.delimiter.as_ref().is_some_and(|d| !d.is_empty());
        let contents = objects(&page, encoding, Some(&caller));
        Ok(S3Response::new(ListObjectsOutput {
            name: Some(input.bucket),
            prefix: Some(encoding.shown(input.prefix.unwrap_or_default())),
            marker: Some(encoding.shown(input.marker.unwrap_or_default())),
            max_keys: Some(max),
            is_truncated: Some(page.truncated),
            next_marker: next.then(|| encoding.shown(page.next.clone())),
            common_prefixes: prefixes(&page, encoding),
            contents: Some(contents),
            delimiter: input.delimiter.filter(|d| !d.is_empty()).map(|d| encoding.shown(d)),
            encoding_type: input.encoding_type,
            ..Default::default()
        }))
    }

    pub(super) async fn list_objects_v2(
        &self,
        request: S3Request<ListObjectsV2Input>,
    ) -> S3Result<S3Response<ListObjectsV2Output>> {
        let caller = self.caller(&request)?;
        let input = request.input;
        let max = max_keys(input.max_keys)?;
        // A token says where the last page ended, and outranks the start.
        let token = input.continuation_token.as_deref().filter(|token| !token.is_empty());
        let after = token.map(parse_token).transpose()?;
        let list = ListRequest {
            prefix: text(&input.prefix),
            delimiter: text(&input.delimiter),
            after: after.unwrap_or_else(|| text(&input.start_after)),
            max: max as usize,
            ..Default::default()
        };
        let page = self.list(&input.bucket, list).await?;
        let encoding = Encoding::of(input.encoding_type.as_ref())?;
        let owner = input.fetch_owner.unwrap_or(false).then_some(&*caller);
        let count = page.rows.len() + page.prefixes.len();
        let contents = objects(&page, encoding, owner);
        Ok(S3Response::new(ListObjectsV2Output {
            name: Some(input.bucket),
            prefix: Some(encoding.shown(input.prefix.unwrap_or_default())),
            max_keys: Some(max),
            key_count: i32::try_from(count).ok(),
            continuation_token: input.continuation_token,
            is_truncated: Some(page.truncated),
            next_continuation_token: page.truncated.then(|| encode(page.next.as_bytes())),
            common_prefixes: prefixes(&page, encoding),
            contents: Some(contents),
            delimiter: input.delimiter.filter(|d| !d.is_empty()).map(|d| encoding.shown(d)),
            start_after: input.start_after.map(|s| encoding.shown(s)),
            encoding_type: input.encoding_type,
            ..Default::default()
        }))
    }

    /// Each object is its own version `null`, the latest one.
    pub(super) async fn list_object_versions(
        &self,
        request: S3Request<ListObjectVersionsInput>,
    ) -> S3Result<S3Response<ListObjectVersionsOutput>> {
        let caller = self.caller(&request)?;
        let input = request.input;
        let max = max_keys(input.max_keys)?;
        let list = ListRequest {
            prefix: text(&input.prefix),
            delimiter: text(&input.delimiter),
            after: text(&input.key_marker),
            max: max as usize,
            ..Default::default()
        };
        let page = self.list(&input.bucket, list).await?;
        let encoding = Encoding::of(input.encoding_type.as_ref())?;
        let versions = page.rows.iter().map(|row| ObjectVersion {
            e_tag: Some(etag(&row.value.etag)),
            is_latest: Some(true),
            key: Some(encoding.shown(row.key.clone())),
            last_modified: Some(modified(row.value.modified_ms)),
            owner: Some(owner_of(&row.value.owner, &caller)),
            size: Some(signed(row.value.length)),
            storage_class: Some(ObjectVersionStorageClass::from(class(row))),
            version_id: Some("null".to_owned()),
            ..Default::default()
        });
        let versions = Some(versions.collect());
        Ok(S3Response::new(ListObjectVersionsOutput {
            versions,
            name: Some(input.bucket),
            prefix: Some(encoding.shown(input.prefix.unwrap_or_default())),
            key_marker: Some(encoding.shown(input.key_marker.unwrap_or_default())),
            version_id_marker: input.version_id_marker,
            max_keys: Some(max),
            is_truncated: Some(page.truncated),
            next_key_marker: page.truncated.then(|| encoding.shown(page.next.clone())),
            next_version_id_marker: page.truncated.then(|| "null".to_owned()),
            common_prefixes: prefixes(&page, encoding),
            delimiter: input.delimiter.filter(|d| !d.is_empty()).map(|d| encoding.shown(d)),
            encoding_type: input.encoding_type,
            ..Default::default()
        }))
    }

    async fn list(&self, bucket: &str, request: ListRequest) -> S3Result<Page<ObjectEntry>> {
        self.names().list_objects(bucket, request).await.map_err(errors::names)
    }
}

pub(super) fn text(value: &Option<String>) -> String {
    value.clone().unwrap_or_default()
}

pub(super) fn max_keys(asked: Option<i32>) -> S3Result<i32> {
    match asked.unwrap_or(KEYS_MAX) {
        negative if negative < 0 => Err(s3_error!(InvalidArgument, "max-keys is negative")),
        max => Ok(max.min(KEYS_MAX)),
    }
}

pub(crate) fn parse_token(token: &str) -> S3Result<String> {
    let invalid = || s3_error!(InvalidArgument, "the continuation token is none that was given");
    String::from_utf8(decode(token).ok_or_else(invalid)?).map_err(|_| invalid())
}

/// How keys are written in the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Plain,
    Url,
}

impl Encoding {
    pub(super) fn of(asked: Option<&EncodingType>) -> S3Result<Self> {
        match asked.map(EncodingType::as_str) {
            None => Ok(Encoding::Plain),
            Some("url") => Ok(Encoding::Url),
            Some(_) => Err(s3_error!(InvalidArgument, "encoding-type can only be url")),
        }
    }

    pub(super) fn shown(self, key: String) -> String {
        if self == Encoding::Plain {
            return key;
        }
        let mut shown = String::with_capacity(key.len());
        for byte in key.bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'*' | b'/' => {
                    shown.push(char::from(byte));
                }
                _ => shown.push_str(&format!("%{byte:02X}")),
            }
        }
        shown
    }
}

fn class(row: &Row<ObjectEntry>) -> String {
    let stored = row.value.attributes.as_ref().and_then(|a| a.headers.get(header::STORAGE_CLASS));
    stored.cloned().unwrap_or_else(|| "STANDARD".to_owned())
}

fn objects(page: &Page<ObjectEntry>, encoding: Encoding, owner: Option<&AccessKey>) -> Vec<Object> {
    let object = |row: &Row<ObjectEntry>| {
        let algorithms = row.value.checksums.iter();
        let algorithms: Vec<_> =
            algorithms.map(|c| ChecksumAlgorithm::from(c.algorithm.clone())).collect();
        Object {
            checksum_algorithm: Some(algorithms).filter(|a| !a.is_empty()),
            checksum_type: row.value.checksums.first().map(|c| checksum_type(c.composite)),
            e_tag: Some(etag(&row.value.etag)),
            key: Some(encoding.shown(row.key.clone())),
            last_modified: Some(modified(row.value.modified_ms)),
            owner: owner.map(|caller| owner_of(&row.value.owner, caller)),
            size: Some(signed(row.value.length)),
            storage_class: Some(ObjectStorageClass::from(class(row))),
            ..Default::default()
        }
    };
    page.rows.iter().map(object).collect()
}

pub(super) fn prefixes<V>(page: &Page<V>, encoding: Encoding) -> Option<Vec<CommonPrefix>> {
    let shown = |prefix: &String| CommonPrefix { prefix: Some(encoding.shown(prefix.clone())) };
    Some(page.prefixes.iter().map(shown).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_urls() {
        assert_eq!(Encoding::Url.shown("a/b c+ä".into()), "a/b%20c%2B%C3%A4");
        assert_eq!(Encoding::Plain.shown("a b".into()), "a b");
    }

    #[test]
    fn tokens() {
        assert_eq!(parse_token(&encode("ä/".as_bytes())).unwrap(), "ä/");
        assert!(parse_token("?").is_err());
    }

    #[test]
    fn limits_of_pages() {
        assert_eq!(max_keys(None).unwrap(), 1000);
        assert_eq!(max_keys(Some(5000)).unwrap(), 1000);
        assert_eq!(max_keys(Some(0)).unwrap(), 0);
        assert!(max_keys(Some(-1)).is_err());
    }
}
