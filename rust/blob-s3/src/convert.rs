//! Between what is stored and what s3s reads and writes.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use afterbay_blob_meta::{AccessKey, Attributes, Checksum};
use s3s::dto::{
    ChecksumAlgorithm, ChecksumType, ETag, Metadata, Owner, Timestamp, TimestampFormat,
};
use s3s::{S3Result, s3_error};

use crate::checksums::{self, Algorithm};

/// Names of the stored headers.
pub(crate) mod header {
    pub(crate) const CACHE_CONTROL: &str = "cache-control";
    pub(crate) const DISPOSITION: &str = "content-disposition";
    pub(crate) const ENCODING: &str = "content-encoding";
    pub(crate) const LANGUAGE: &str = "content-language";
    pub(crate) const TYPE: &str = "content-type";
    pub(crate) const EXPIRES: &str = "expires";
    pub(crate) const REDIRECT: &str = "x-amz-website-redirect-location";
    pub(crate) const STORAGE_CLASS: &str = "x-amz-storage-class";
}

/// Bytes of the user's metadata, names and values.
const METADATA_BYTES_MAX: usize = 2048;

pub(crate) fn timestamp(ms: u64) -> Timestamp {
    Timestamp::from(UNIX_EPOCH + Duration::from_millis(ms))
}

/// Of objects: S3 tells seconds, and conditions on times are in seconds.
pub(crate) fn modified(ms: u64) -> Timestamp {
    timestamp(ms / 1000 * 1000)
}

pub(crate) fn seconds(time: &Timestamp) -> u64 {
    let mut text = Vec::new();
    let formatted = time.format(TimestampFormat::EpochSeconds, &mut text).is_ok();
    let text = String::from_utf8(text).unwrap_or_default();
    let whole = text.split('.').next().filter(|_| formatted);
    whole.and_then(|s| s.parse().ok()).unwrap_or(0)
}

pub(crate) fn http_date(time: &Timestamp) -> Option<String> {
    let mut text = Vec::new();
    time.format(TimestampFormat::HttpDate, &mut text).ok()?;
    String::from_utf8(text).ok()
}

pub(crate) fn from_http_date(text: &str) -> Option<Timestamp> {
    Timestamp::parse(TimestampFormat::HttpDate, text).ok()
}

pub(crate) fn etag(tag: &str) -> ETag {
    ETag::Strong(tag.to_owned())
}

pub(crate) fn signed(length: u64) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

pub(crate) fn owner(key: &AccessKey) -> Owner {
    let name = if key.display_name.is_empty() { &key.user } else { &key.display_name };
    Owner { display_name: Some(name.clone()), id: Some(key.user.clone()) }
}

/// The owner of an object or bucket, as far as it is known: display names belong to keys.
pub(crate) fn owner_of(user: &str, caller: &AccessKey) -> Owner {
    if user == caller.user {
        return owner(caller);
    }
    Owner { display_name: Some(user.to_owned()), id: Some(user.to_owned()) }
}

/// Headers of a request that are stored.
#[derive(Debug, Default)]
pub(crate) struct SentHeaders {
    pub(crate) cache_control: Option<String>,
    pub(crate) disposition: Option<String>,
    pub(crate) encoding: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) content_type: Option<String>,
    pub(crate) expires: Option<Timestamp>,
    pub(crate) redirect: Option<String>,
    pub(crate) storage_class: Option<String>,
    pub(crate) acl: Option<String>,
}

impl SentHeaders {
    pub(crate) fn stored(self) -> BTreeMap<String, String> {
        let encoding = self.encoding.map(|e| without_chunked(&e)).filter(|e| !e.is_empty());
        // The class of everything, which is not told.
        let class = self.storage_class.filter(|class| class != "STANDARD");
        [
            (header::CACHE_CONTROL, self.cache_control),
            (header::DISPOSITION, self.disposition),
            (header::ENCODING, encoding),
            (header::LANGUAGE, self.language),
            (header::TYPE, self.content_type),
            (header::EXPIRES, self.expires.as_ref().and_then(http_date)),
            (header::REDIRECT, self.redirect),
            (header::STORAGE_CLASS, class),
            (crate::acl::NAME, self.acl),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
    }
}

/// `aws-chunked` is how the body was sent, not what it is.
pub(crate) fn without_chunked(encoding: &str) -> String {
    let kept =
        encoding.split(',').map(str::trim).filter(|e| !e.eq_ignore_ascii_case("aws-chunked"));
    kept.collect::<Vec<_>>().join(", ")
}

pub(crate) fn attributes(
    headers: SentHeaders,
    metadata: Option<Metadata>,
    tagging: Option<&str>,
) -> S3Result<Attributes> {
    let metadata: BTreeMap<String, String> = metadata.unwrap_or_default().into_iter().collect();
    if metadata.iter().map(|(k, v)| k.len() + v.len()).sum::<usize>() > METADATA_BYTES_MAX {
        return Err(s3_error!(
            MetadataTooLarge,
            "metadata has more than {METADATA_BYTES_MAX} bytes"
        ));
    }
    let tags = tagging.map(tags).transpose()?.unwrap_or_default();
    Ok(Attributes { headers: headers.stored(), metadata, tags })
}

/// The tags of the header `x-amz-tagging`, which are written as a query.
pub(crate) fn tags(query: &str) -> S3Result<BTreeMap<String, String>> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        Ok((percent_decoded(key)?, percent_decoded(value)?))
    });
    check_tags(pairs.collect::<S3Result<Vec<_>>>()?)
}

fn percent_decoded(text: &str) -> S3Result<String> {
    let invalid =
        || s3_error!(InvalidArgument, "the header x-amz-tagging is not encoded as a query");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => {
                let (digits, behind) = rest.split_at_checked(2).ok_or_else(invalid)?;
                // A sign would be taken for one.
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return Err(invalid());
                }
                let digits = std::str::from_utf8(digits).map_err(|_| invalid())?;
                bytes.push(u8::from_str_radix(digits, 16).map_err(|_| invalid())?);
                rest = behind;
            }
            other => bytes.push(*other),
        }
    }
    String::from_utf8(bytes).map_err(|_| invalid())
}

/// The limits of S3: ten tags, keys of 128 characters, values of 256, no key twice.
pub(crate) fn check_tags(pairs: Vec<(String, String)>) -> S3Result<BTreeMap<String, String>> {
    let count = pairs.len();
    if count > 10 {
        return Err(s3_error!(InvalidTag, "Object tags cannot be greater than 10"));
    }
    for (key, value) in &pairs {
        if key.is_empty() || key.chars().count() > 128 {
            return Err(s3_error!(InvalidTag, "The TagKey you have provided is invalid"));
        }
        if value.chars().count() > 256 {
            return Err(s3_error!(InvalidTag, "The TagValue you have provided is invalid"));
        }
    }
    let tags: BTreeMap<_, _> = pairs.into_iter().collect();
    if tags.len() < count {
        return Err(s3_error!(InvalidTag, "Cannot provide multiple Tags with the same key"));
    }
    Ok(tags)
}

/// The five values of S3's answers.
#[derive(Debug, Default, Clone)]
pub(crate) struct ChecksumFields {
    pub(crate) crc32: Option<String>,
    pub(crate) crc32c: Option<String>,
    pub(crate) crc64nvme: Option<String>,
    pub(crate) sha1: Option<String>,
    pub(crate) sha256: Option<String>,
    pub(crate) kind: Option<ChecksumType>,
}

impl ChecksumFields {
    pub(crate) fn of(stored: &[Checksum]) -> Self {
        let value = |algorithm| checksums::value(stored, algorithm);
        ChecksumFields {
            crc32: value(Algorithm::Crc32),
            crc32c: value(Algorithm::Crc32c),
            crc64nvme: value(Algorithm::Crc64Nvme),
            sha1: value(Algorithm::Sha1),
            sha256: value(Algorithm::Sha256),
            kind: stored.first().map(|c| checksum_type(c.composite)),
        }
    }

    /// Those that are there.
    pub(crate) fn values(self) -> Vec<(Algorithm, String)> {
        [
            (Algorithm::Crc32, self.crc32),
            (Algorithm::Crc32c, self.crc32c),
            (Algorithm::Crc64Nvme, self.crc64nvme),
            (Algorithm::Sha1, self.sha1),
            (Algorithm::Sha256, self.sha256),
        ]
        .into_iter()
        .filter_map(|(algorithm, value)| Some((algorithm, value?)))
        .collect()
    }
}

pub(crate) fn checksum_type(composite: bool) -> ChecksumType {
    let name = if composite { ChecksumType::COMPOSITE } else { ChecksumType::FULL_OBJECT };
    ChecksumType::from_static(name)
}

/// The algorithm a client names; an error if there is none of this name.
pub(crate) fn algorithm(name: &ChecksumAlgorithm) -> S3Result<Algorithm> {
    Algorithm::parse(name.as_str()).ok_or_else(|| {
        s3_error!(InvalidRequest, "Checksum algorithm provided is unsupported: {}", name.as_str())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn chunked_is_no_encoding_of_the_object() {
        assert_eq!(without_chunked("aws-chunked"), "");
        assert_eq!(without_chunked("gzip, aws-chunked"), "gzip");
        assert_eq!(without_chunked("AWS-chunked,gzip"), "gzip");
    }

    #[test]
    fn tags_of_a_header() {
        let parsed = tags("a=1&b%20c=%C3%A4+x&d").unwrap();
        assert_eq!(parsed.get("b c").map(String::as_str), Some("ä x"));
        assert_eq!(parsed.get("d").map(String::as_str), Some(""));
        for wrong in ["a=%", "a=%zz", "a=%+f", "a=1&a=2", &"k=v&".repeat(11)] {
            assert!(tags(wrong).is_err(), "{wrong}");
        }
        assert!(tags(&format!("{}=v", "k".repeat(129))).is_err());
        assert!(tags(&format!("k={}", "v".repeat(257))).is_err());
    }

    proptest! {
        #[test]
        fn any_tags_of_a_header_come_back(
            wanted in proptest::collection::btree_map(".{1,20}", ".{0,20}", 0..10)
        ) {
            let encoded = |text: &str| {
                text.bytes().fold(String::new(), |out, byte| format!("{out}%{byte:02X}"))
            };
            let pairs: Vec<_> =
                wanted.iter().map(|(k, v)| format!("{}={}", encoded(k), encoded(v))).collect();
            prop_assert_eq!(tags(&pairs.join("&")).ok(), Some(wanted));
        }
    }

    #[test]
    fn times() {
        let time = timestamp(1_700_000_000_999);
        assert_eq!(seconds(&time), 1_700_000_000);
        assert_eq!(http_date(&time).unwrap(), "Tue, 14 Nov 2023 22:13:20 GMT");
        assert_eq!(
            from_http_date("Tue, 14 Nov 2023 22:13:20 GMT").map(|t| seconds(&t)),
            Some(1_700_000_000)
        );
    }
}
