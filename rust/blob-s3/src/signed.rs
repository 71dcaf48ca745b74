//! What signatures leave open, and s3s with them.
//!
//! - A signature of version 4 covers the headers that it names. Another one of Amazon's could make something else of the request:
//!   `x-amz-copy-source` makes a copy of a put, with the rights of whoever signed it. So all of them have to be signed, as with S3.
//! - One of version 2 in a header has a date, which must be near: else a request that somebody has seen could be sent again for ever.

use std::borrow::Cow;

use afterbay_blob_meta::now_ms;
use http::HeaderMap;
use http::header::{AUTHORIZATION, DATE, HeaderName};
use s3s::{S3Error, s3_error};

use crate::convert::{from_http_date, seconds};

const V4: &str = "AWS4-HMAC-SHA256";

/// These are in what is signed by themselves, if they are in the request.
const ALWAYS_SIGNED: [&str; 2] = ["x-amz-content-sha256", "x-amz-date"];

/// How far the date of a request may be from now.
const SKEW_MAX_MS: u64 = 15 * 60 * 1000;

/// Refuses what the signature of a request, if it has one, does not cover.
pub(crate) fn check(headers: &HeaderMap, query: &str) -> Result<(), S3Error> {
    // What is no text has no names either.
    let authorization = headers.get(AUTHORIZATION).map(|value| value.to_str().unwrap_or_default());
    if authorization.is_some_and(|text| text.starts_with("AWS ")) {
        return check_date(headers);
    }
    let in_header = authorization.map(|text| signed_by_header(text).unwrap_or_default());
    let in_query = parameter(query, "X-Amz-SignedHeaders");
    for signed in [in_header.map(Cow::Borrowed), in_query].into_iter().flatten() {
        check_names(headers, &signed)?;
    }
    Ok(())
}

/// The value of a parameter of a query, if it is there.
pub(crate) fn parameter<'a>(query: &'a str, name: &str) -> Option<Cow<'a, str>> {
    form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value)
}

/// The names in a header of version 4. `None` if it is none, or could be read in two ways: s3s, which verifies the signature, passes
/// over algorithms that it does not know, and over names that it does not find as they are written.
fn signed_by_header(authorization: &str) -> Option<&str> {
    let fields = authorization.strip_prefix(V4)?;
    let (blanks, _) = fields.split_once("Credential=")?;
    let is_blank = !blanks.is_empty() && blanks.trim().is_empty();
    let mut around = fields.split("SignedHeaders=").skip(1);
    let names = around.next().filter(|_| is_blank && around.next().is_none())?;
    names.split(',').next()
}

fn check_names(headers: &HeaderMap, signed: &str) -> Result<(), S3Error> {
    let is_open = |name: &&HeaderName| {
        name.as_str().starts_with("x-amz-")
            && !ALWAYS_SIGNED.contains(&name.as_str())
            && !signed.split(';').any(|signed| signed == name.as_str())
    };
    match headers.keys().find(is_open) {
        None => Ok(()),
        Some(name) => Err(s3_error!(
            AccessDenied,
            "There were headers present in the request which were not signed: {name}"
        )),
    }
}

fn check_date(headers: &HeaderMap) -> Result<(), S3Error> {
    let sent = headers.get("x-amz-date").or_else(|| headers.get(DATE));
    let Some(sent_ms) = sent.and_then(|value| date_ms(value.to_str().ok()?)) else {
        return Err(s3_error!(
            AccessDenied,
            "AWS authentication requires a valid Date or x-amz-date header"
        ));
    };
    if sent_ms.abs_diff(now_ms()) > SKEW_MAX_MS {
        return Err(s3_error!(
            RequestTimeTooSkewed,
            "The difference between the request time and the current time is too large."
        ));
    }
    Ok(())
}

/// A date as in headers of HTTP, or of mails: rclone's has `UTC`, s3cmd's and that of `date -R` an offset.
fn date_ms(text: &str) -> Option<u64> {
    let (time, zone) = text.trim().rsplit_once(' ')?;
    let ms = seconds(&from_http_date(&format!("{time} GMT"))?) * 1000;
    let offset_ms = match zone {
        "GMT" | "UTC" | "UT" | "Z" => 0,
        _ => offset_min(zone)? * 60_000,
    };
    ms.checked_add_signed(-offset_ms)
}

/// Minutes of `+hhmm` or `-hhmm`.
fn offset_min(zone: &str) -> Option<i64> {
    let (sign, digits) = match zone.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let is_time = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let time: i64 = digits.parse().ok().filter(|_| is_time)?;
    Some(sign * (time / 100 * 60 + time % 100))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;
    use crate::convert::{http_date, timestamp};

    fn headers(of: &[(&'static str, &str)]) -> HeaderMap {
        of.iter()
            .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()))
            .collect()
    }

    fn refused(of: &[(&'static str, &str)], query: &str) -> Option<String> {
        check(&headers(of), query).err().map(|error| error.code().as_str().to_owned())
    }

    const SIGNED: (&str, &str) = (
        "authorization",
        "AWS4-HMAC-SHA256 Credential=a/b/c/s3/aws4_request, SignedHeaders=host;x-amz-acl;x-amz-date, Signature=0",
    );

    #[test]
    fn headers_of_amazons_have_to_be_signed() {
        let date = ("x-amz-date", "20260101T000000Z");
        assert_eq!(
            refused(&[SIGNED, date, ("x-amz-acl", "private"), ("content-type", "x")], ""),
            None
        );
        let copy = ("x-amz-copy-source", "b/secret");
        assert_eq!(refused(&[SIGNED, date, copy], "").unwrap(), "AccessDenied");
        let none = ("authorization", "AWS4-HMAC-SHA256 Credential=a, Signature=0");
        assert_eq!(refused(&[none, copy], "").unwrap(), "AccessDenied");
        assert_eq!(refused(&[copy], ""), None, "what has no signature has rights of its own");
    }

    /// s3s finds the same signature right behind all of these, and none of the names that are added.
    #[test]
    fn names_are_read_as_s3s_reads_them() {
        let right = "Credential=a/b, SignedHeaders=host;x-amz-acl, Signature=0";
        for wrong in [
            format!("X {right}"),
            format!("AWS4-SignedHeaders=x-amz-copy-source, {right}"),
            format!("AWS4-HMAC-SHA256SignedHeaders=x-amz-copy-source, {right}"),
            format!("AWS4-HMAC-SHA256 SignedHeaders=x-amz-copy-source, {right}"),
            format!("AWS4-HMAC-SHA256{right}"),
            "AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=X-Amz-Copy-Source;host, Signature=0".into(),
            "AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders= x-amz-copy-source;host, Signature=0".into(),
            "AWS4-HMAC-SHA256 Credential=SignedHeaders=x-amz-copy-source, SignedHeaders=host, Signature=0".into(),
        ] {
            let sent = [("authorization", wrong.as_str()), ("x-amz-copy-source", "b/secret")];
            assert_eq!(refused(&sent, "").as_deref(), Some("AccessDenied"), "{wrong}");
        }
        let mut no_text = headers(&[("x-amz-copy-source", "b/secret")]);
        no_text.insert(AUTHORIZATION, HeaderValue::from_bytes(b"AWS4\xff").unwrap());
        assert!(check(&no_text, "").is_err());
        for blank in ["", "Bearer x", "AWS4-HMAC-SHA256 Credential=HAHAHA"] {
            assert_eq!(refused(&[("authorization", blank)], ""), None, "s3s says what is wrong");
        }
    }

    #[test]
    fn those_of_presigned_urls_too() {
        let copy = [("x-amz-copy-source", "b/secret")];
        let query = "X-Amz-SignedHeaders=host&X-Amz-Signature=0";
        assert_eq!(refused(&copy, query).unwrap(), "AccessDenied");
        // However it is written.
        let query = "%58-Amz-Signature=0&%58-Amz%2DSignedHeaders=host";
        assert_eq!(refused(&copy, query).unwrap(), "AccessDenied");
        assert_eq!(refused(&copy, "X-Amz-SignedHeaders=host%3bx-amz-copy-source"), None);
        assert_eq!(refused(&[("x-amz-content-sha256", "0")], "X-Amz-SignedHeaders=host"), None);
    }

    #[test]
    fn a_request_of_version_2_is_not_good_for_ever() {
        let authorization = ("authorization", "AWS key:signature");
        let at = |ms: u64| http_date(&timestamp(ms)).unwrap();
        let now = at(now_ms());
        assert_eq!(refused(&[authorization, ("date", &now)], ""), None);
        for zone in ["UTC", "+0000"] {
            let now = now.replace("GMT", zone);
            assert_eq!(refused(&[authorization, ("x-amz-date", &now)], ""), None, "{now}");
        }
        for (zone, hours) in [("+0130", 1.5), ("-0800", -8.0)] {
            let there = now_ms().checked_add_signed((hours * 3_600_000.0) as i64).unwrap();
            let there = at(there).replace("GMT", zone);
            assert_eq!(refused(&[authorization, ("date", &there)], ""), None, "{there}");
        }
        for wrong in [at(now_ms() - 1_000_000), at(now_ms() + 1_000_000)] {
            assert_eq!(
                refused(&[authorization, ("date", &wrong)], "").unwrap(),
                "RequestTimeTooSkewed"
            );
        }
        for none in [&[authorization][..], &[authorization, ("date", "yesterday")]] {
            assert_eq!(refused(none, "").unwrap(), "AccessDenied");
        }
    }
}
