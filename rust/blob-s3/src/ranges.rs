//! Headers `Range` that are none, which RFC 9110 (section 14.2) has ignored: the whole object is the answer. s3s refuses them.

use http::header::RANGE;
use http::{HeaderMap, HeaderValue};

use crate::signed;

/// Removes a range that is none, or more than one, and shortens numbers that no object has. One that is signed has to stay as it is.
pub(crate) fn tidy(headers: &mut HeaderMap, query: &str) {
    let Some(sent) = headers.get(RANGE) else { return };
    if signed::is_signed(headers, query, &RANGE) {
        return;
    }
    match sent.to_str().ok().and_then(single) {
        Some(range) if sent.as_bytes() == range.as_bytes() => {}
        Some(range) => {
            if let Ok(range) = HeaderValue::from_str(&range) {
                headers.insert(RANGE, range);
            }
        }
        None => {
            headers.remove(RANGE);
        }
    }
}

/// `bytes=FIRST-LAST`, `bytes=FIRST-` or `bytes=-COUNT`, with numbers that fit.
fn single(text: &str) -> Option<String> {
    let (unit, range) = text.split_once('=')?;
    let (first, last) = range.trim().split_once('-')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let (first, last) = (number(first)?, number(last)?);
    match (first, last) {
        (None, None) => None,
        (Some(first), Some(last)) if last < first => None,
        (None, Some(count)) => Some(format!("bytes=-{count}")),
        (Some(first), None) => Some(format!("bytes={first}-")),
        (Some(first), Some(last)) => Some(format!("bytes={first}-{last}")),
    }
}

/// `Some(None)` if there is none. What is too large for an object's length is as good as the largest one.
fn number(digits: &str) -> Option<Option<u64>> {
    if digits.is_empty() {
        return Some(None);
    }
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    const MAX: u64 = i64::MAX as u64 - 1;
    is_number.then(|| Some(digits.parse().unwrap_or(MAX).min(MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tidied(range: &str) -> Option<String> {
        let mut headers = HeaderMap::from_iter([(RANGE, range.parse().unwrap())]);
        tidy(&mut headers, "");
        headers.get(RANGE).map(|range| range.to_str().unwrap().to_owned())
    }

    #[test]
    fn ranges_stay() {
        for range in ["bytes=0-1", "bytes=5-5", "bytes=7-", "bytes=-3", "bytes=-0", "bytes=100-"] {
            assert_eq!(tidied(range).as_deref(), Some(range));
        }
        assert_eq!(tidied("BYTES= 0-1 ").as_deref(), Some("bytes=0-1"));
    }

    #[test]
    fn what_is_none_is_ignored() {
        for none in [
            "bytes=abc",
            "bytes=,",
            "bytes=0-1,3-4",
            "bytes=5-2",
            "chars=0-1",
            "bytes",
            "bytes=",
            "bytes=-",
            "bytes=--1",
            "bytes=+1-2",
            "bytes=1-2-3",
            "bytes 0-1/5",
        ] {
            assert_eq!(tidied(none), None, "{none}");
        }
    }

    #[test]
    fn numbers_are_shortened() {
        assert_eq!(
            tidied("bytes=0-99999999999999999999999").unwrap(),
            "bytes=0-9223372036854775806"
        );
        assert_eq!(tidied("bytes=99999999999999999999999-").unwrap(), "bytes=9223372036854775806-");
    }

    #[test]
    fn a_signed_one_stays() {
        let query = "X-Amz-SignedHeaders=host%3Brange";
        let mut headers = HeaderMap::from_iter([(RANGE, HeaderValue::from_static("bytes=x"))]);
        tidy(&mut headers, query);
        assert!(headers.contains_key(RANGE));
    }
}
