//! What requests of S3 consist of and this crate parses itself, for `fuzz/`.

use s3s::validation::NameValidation;

use crate::checksums::{Algorithm, encode, etag_of_parts, hex};
use crate::convert::{from_http_date, http_date, tags, without_chunked};
use crate::names::BucketNames;
use crate::ops::{copy_range, parse_token};
use crate::wire::{check_expires, check_one_signature, plain_etag, with_id};

/// Parses `text` as each of them. Says which of them it is; panics if what must hold of it does not.
pub fn pieces(text: &str) -> String {
    let mut is = String::from("ok");
    if let Ok(range) = copy_range(text) {
        assert!(range.start < range.end);
        let again = copy_range(&format!("bytes={}-{}", range.start, range.end - 1));
        assert_eq!(again.ok(), Some(range));
        is += " range";
    }
    if let Ok(tags) = tags(text) {
        assert!(tags.len() <= 10);
        assert!(tags.iter().all(|(key, value)| {
            (1..=128).contains(&key.chars().count()) && value.chars().count() <= 256
        }));
        is += " tags";
    }
    if let Ok(key) = parse_token(text) {
        assert_eq!(parse_token(&encode(key.as_bytes())).ok(), Some(key));
        is += " token";
    }
    if let Some(tag) = etag_of_parts([text].into_iter()) {
        assert!(tag.ends_with("-1") && tag.len() == 34);
        is += " etag";
    }
    if let Some(time) = from_http_date(text) {
        assert_eq!(http_date(&time).and_then(|date| from_http_date(&date)), Some(time));
        is += " date";
    }
    if check_expires(text).is_ok() {
        is += " expires";
    }
    if check_one_signature(text, true).is_err() {
        assert!(text.contains("Signature"));
        is += " signed";
    }
    if BucketNames.validate_bucket_name(text) {
        assert!((1..=63).contains(&text.len()));
        is += " bucket";
    }
    for algorithm in Algorithm::ALL {
        if algorithm.accepts(text) {
            is += algorithm.name();
        }
    }
    is + &answers(text)
}

/// What is changed in answers, whatever they are.
fn answers(text: &str) -> String {
    let id = hex(&[7]);
    let with_id = with_id(text, &id);
    assert!(with_id.as_ref().is_none_or(|xml| xml.contains(&id)));
    let plain = plain_etag(text);
    assert!(plain.as_ref().is_none_or(|xml| xml.len() <= text.len()));
    assert!(!without_chunked(text).eq_ignore_ascii_case("aws-chunked"));
    format!(" {} {}", with_id.is_some(), plain.is_some())
}
