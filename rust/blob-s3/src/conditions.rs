//! Conditions of requests: those of reads are decided here, those of writes are handed to the names.

use afterbay_blob_meta::{Condition, Match, ObjectEntry};
use http::header::{ETAG, HeaderName, IF_MATCH, IF_NONE_MATCH, LAST_MODIFIED};
use http::{HeaderMap, HeaderValue};
use s3s::dto::{ETagCondition, Timestamp};
use s3s::{S3Error, S3Result, s3_error};

use crate::convert::{http_date, modified, seconds};

/// The conditions of a GET or HEAD, or on the source of a copy.
#[derive(Debug, Default)]
pub(crate) struct ReadConditions {
    pub(crate) if_match: Option<ETagCondition>,
    pub(crate) if_none_match: Option<ETagCondition>,
    pub(crate) if_modified_since: Option<Timestamp>,
    pub(crate) if_unmodified_since: Option<Timestamp>,
}

impl ReadConditions {
    /// As RFC 9110 orders them. What is not modified is 304 for a read; a copy fails with 412.
    pub(crate) fn check(&self, entry: &ObjectEntry, copy: bool) -> S3Result<()> {
        let failed =
            |which: &str| Err(s3_error!(PreconditionFailed, "the condition {which} does not hold"));
        let unmodified = |which: &str| {
            if copy { failed(which) } else { Err(not_modified(entry)) }
        };
        let modified_s = entry.modified_ms / 1000;
        match (&self.if_match, &self.if_unmodified_since) {
            (Some(tag), _) if !matches(tag, entry) => return failed("If-Match"),
            (None, Some(since)) if modified_s > seconds(since) => {
                return failed("If-Unmodified-Since");
            }
            _ => {}
        }
        match (&self.if_none_match, &self.if_modified_since) {
            (Some(tag), _) if matches(tag, entry) => unmodified("If-None-Match"),
            (None, Some(since)) if modified_s <= seconds(since) => unmodified("If-Modified-Since"),
            _ => Ok(()),
        }
    }
}

/// Caches refresh what they have by these headers.
fn not_modified(entry: &ObjectEntry) -> S3Error {
    let mut error = s3_error!(NotModified);
    let mut headers = HeaderMap::new();
    let modified = http_date(&modified(entry.modified_ms)).unwrap_or_default();
    let tag = format!("\"{}\"", entry.etag);
    for (name, value) in [(ETAG, tag), (LAST_MODIFIED, modified)] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    error.set_headers(headers);
    error
}

fn matches(condition: &ETagCondition, entry: &ObjectEntry) -> bool {
    condition.as_etag().is_none_or(|tag| tag.value() == entry.etag)
}

/// The condition of a write.
pub(crate) fn write(
    if_match: Option<ETagCondition>,
    if_none_match: Option<ETagCondition>,
) -> Condition {
    let convert = |condition: ETagCondition| match condition.into_etag() {
        Some(tag) => Match::Etags(vec![tag.into_value()]),
        None => Match::Any,
    };
    Condition {
        if_match: if_match.map(convert),
        if_none_match: if_none_match.map(convert),
        ..Default::default()
    }
}

/// The condition of a copy on its target, which s3s leaves in the headers.
pub(crate) fn of_headers(headers: &HeaderMap) -> S3Result<Condition> {
    let condition = |name: HeaderName| {
        let value = headers.get(&name).map(|v| ETagCondition::parse_http_header(v.as_bytes()));
        value.transpose().map_err(|_| s3_error!(InvalidArgument, "{name} is no entity tag"))
    };
    Ok(write(condition(IF_MATCH)?, condition(IF_NONE_MATCH)?))
}

/// The condition of a delete.
pub(crate) fn delete(
    if_match: Option<ETagCondition>,
    length: Option<i64>,
    modified: Option<Timestamp>,
) -> Condition {
    Condition {
        if_length: length.map(|n| u64::try_from(n).unwrap_or(u64::MAX)),
        if_modified_s: modified.map(|t| seconds(&t)),
        ..write(if_match, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::timestamp;

    fn check(conditions: ReadConditions) -> u16 {
        let entry = ObjectEntry { etag: "a".into(), modified_ms: 10_500, ..Default::default() };
        conditions
            .check(&entry, false)
            .err()
            .map_or(200, |e| e.status_code().map_or(0, |status| status.as_u16()))
    }

    fn tag(text: &str) -> Option<ETagCondition> {
        ETagCondition::parse_http_header(text.as_bytes()).ok()
    }

    #[test]
    fn reads() {
        let at = |s: u64| Some(timestamp(s * 1000));
        let none = ReadConditions::default;
        assert_eq!(check(none()), 200);
        assert_eq!(check(ReadConditions { if_match: tag("\"a\""), ..none() }), 200);
        assert_eq!(check(ReadConditions { if_match: tag("\"b\""), ..none() }), 412);
        assert_eq!(check(ReadConditions { if_none_match: tag("\"a\""), ..none() }), 304);
        assert_eq!(check(ReadConditions { if_none_match: tag("\"b\""), ..none() }), 200);
        assert_eq!(check(ReadConditions { if_modified_since: at(10), ..none() }), 304);
        assert_eq!(check(ReadConditions { if_modified_since: at(9), ..none() }), 200);
        assert_eq!(check(ReadConditions { if_unmodified_since: at(9), ..none() }), 412);
        assert_eq!(check(ReadConditions { if_unmodified_since: at(10), ..none() }), 200);
        // The tag outranks the time.
        let both = ReadConditions { if_match: tag("\"a\""), if_unmodified_since: at(9), ..none() };
        assert_eq!(check(both), 200);
        let both =
            ReadConditions { if_none_match: tag("\"b\""), if_modified_since: at(10), ..none() };
        assert_eq!(check(both), 200);
    }
}
