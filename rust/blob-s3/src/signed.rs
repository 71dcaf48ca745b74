//! What signatures leave open, and s3s with them.
//!
//! - A signature of version 4 covers the headers that it names. Another one of Amazon's could make something else of the request:
//!   `x-amz-copy-source` makes a copy of a put, with the rights of whoever signed it. So all of them have to be signed, as with S3.
//! - A presigned URL may have headers of Amazon's as parameters, which are signed with it: they are taken for headers.
//! - One of version 2 in a header has a date, which must be near: else a request that somebody has seen could be sent again for ever.
//! - s3s verifies the signature of any algorithm's name as one of version 4.

use std::borrow::Cow;

use afterbay_blob_meta::now_ms;
use http::HeaderMap;
use http::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderName, HeaderValue};
use s3s::{S3Error, s3_error};

use crate::convert::{from_http_date, seconds};

const V4: &str = "AWS4-HMAC-SHA256";

/// These are in what is signed by themselves, if they are in the request.
const ALWAYS_SIGNED: [&str; 2] = ["x-amz-content-sha256", "x-amz-date"];

/// The parameters of a presigned request that are its signature.
const OF_SIGNATURE: [&str; 7] = [
    "x-amz-algorithm",
    "x-amz-content-sha256",
    "x-amz-credential",
    "x-amz-date",
    "x-amz-expires",
    "x-amz-signature",
    "x-amz-signedheaders",
];

/// How far the date of a request may be from now.
const SKEW_MAX_MS: u64 = 15 * 60 * 1000;

/// Refuses what the signature of a request, if it has one, does not cover.
pub(crate) fn check(headers: &HeaderMap, query: &str) -> Result<(), S3Error> {
    // What is no text has no names either.
    let authorization = headers.get(AUTHORIZATION).map(|value| value.to_str().unwrap_or_default());
    if authorization.is_some_and(|text| text.starts_with("AWS ")) {
        return check_date(headers);
    }
    check_algorithm(authorization, query)?;
    let in_header = authorization.map(|text| signed_by_header(text).unwrap_or_default());
    let in_query = parameter(query, "X-Amz-SignedHeaders");
    for signed in [in_header.map(Cow::Borrowed), in_query].into_iter().flatten() {
        check_names(headers, &signed)?;
    }
    // Browsers add it to uploads by presigned URLs, whose signers do not know it.
    match in_header {
        Some(signed) if headers.contains_key(CONTENT_TYPE) && !has_name(signed, "content-type") => {
            Err(unsigned(&CONTENT_TYPE))
        }
        _ => Ok(()),
    }
}

fn check_algorithm(authorization: Option<&str>, query: &str) -> Result<(), S3Error> {
    let kind = authorization.and_then(|text| text.split_whitespace().next());
    if kind.is_some_and(|kind| kind != V4) {
        return Err(s3_error!(InvalidArgument, "Unsupported Authorization Type"));
    }
    match parameter(query, "X-Amz-Algorithm") {
        Some(name) if name != V4 => {
            Err(s3_error!(AuthorizationQueryParametersError, "X-Amz-Algorithm only supports {V4}"))
        }
        _ => Ok(()),
    }
}

/// Whether a signature of a request covers that header.
pub(crate) fn is_signed(headers: &HeaderMap, query: &str, name: &HeaderName) -> bool {
    let authorization = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let in_header = authorization.and_then(signed_by_header).map(Cow::Borrowed);
    let in_query = parameter(query, "X-Amz-SignedHeaders");
    [in_header, in_query].into_iter().flatten().any(|signed| has_name(&signed, name.as_str()))
}

/// Whether the query has a signature, of either version.
pub(crate) fn is_presigned(query: &str) -> bool {
    let has = |name| parameter(query, name).is_some();
    has("X-Amz-Signature") || (has("Signature") && has("AWSAccessKeyId"))
}

/// Whether a parameter is one of Amazon's: of the signature, or a header.
pub(crate) fn is_amazons(parameter: &str) -> bool {
    parameter.get(..6).is_some_and(|prefix| prefix.eq_ignore_ascii_case("x-amz-"))
}

/// Takes the headers out of a presigned URL, which SDKs write there. Comes after [`check`]: a signature of version 4 is that of the whole
/// query, and one of version 2 that of all headers of Amazon's, wherever they were.
pub(crate) fn take_headers(headers: &mut HeaderMap, query: &str) -> Result<(), S3Error> {
    if !is_presigned(query) {
        return Ok(());
    }
    for (parameter, value) in form_urlencoded::parse(query.as_bytes()) {
        let name = parameter.to_ascii_lowercase();
        if !is_amazons(&name) || OF_SIGNATURE.contains(&&*name) {
            continue;
        }
        let invalid = || s3_error!(InvalidArgument, "the parameter {parameter} can be no header");
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
        let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| invalid())?;
        if headers.insert(name, value.clone()).is_some_and(|sent| sent != value) {
            return Err(s3_error!(InvalidArgument, "{parameter} has two values in the request"));
        }
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
            && !has_name(signed, name.as_str())
    };
    headers.keys().find(is_open).map_or(Ok(()), |name| Err(unsigned(name)))
}

fn has_name(signed: &str, name: &str) -> bool {
    signed.split(';').any(|signed| signed == name)
}

fn unsigned(name: &HeaderName) -> S3Error {
    s3_error!(
        AccessDenied,
        "There were headers present in the request which were not signed: {name}"
    )
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
            refused(&[SIGNED, date, ("x-amz-acl", "private"), ("content-encoding", "x")], ""),
            None
        );
        assert_eq!(refused(&[SIGNED, date, ("content-type", "x")], "").unwrap(), "AccessDenied");
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
            assert!(refused(&sent, "").is_some(), "{wrong}");
        }
        let mut no_text = headers(&[("x-amz-copy-source", "b/secret")]);
        no_text.insert(AUTHORIZATION, HeaderValue::from_bytes(b"AWS4\xff").unwrap());
        assert!(check(&no_text, "").is_err());
        for blank in ["", "AWS4-HMAC-SHA256 Credential=HAHAHA"] {
            assert_eq!(refused(&[("authorization", blank)], ""), None, "s3s says what is wrong");
        }
    }

    #[test]
    fn algorithms_that_are_not_there_are_refused() {
        let signed = SIGNED.1.strip_prefix(V4).unwrap();
        for other in ["AWS2-HMAC-SHA1", "AWS4-HMAC-SHA1", "AWS4-ECDSA-P256-SHA256", "Bearer"] {
            let sent = format!("{other}{signed}");
            assert_eq!(refused(&[("authorization", &sent)], "").unwrap(), "InvalidArgument");
            let query = format!("X-Amz-Algorithm={other}&X-Amz-SignedHeaders=host");
            assert_eq!(refused(&[], &query).unwrap(), "AuthorizationQueryParametersError");
        }
        assert_eq!(refused(&[], &format!("X-Amz-Algorithm={V4}&X-Amz-SignedHeaders=host")), None);
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
    fn headers_of_presigned_urls_are_taken() {
        let taken = |query: &str, of: &[(&'static str, &str)]| {
            let mut headers = headers(of);
            take_headers(&mut headers, query).map(|()| headers).map_err(|e| e.code().clone())
        };
        let query =
            "X-Amz-Signature=0&X-Amz-Date=1&x-amz-meta-x=y%20z&X-Amz-Tagging=a%3Db&x-id=PutObject";
        let wanted = headers(&[("x-amz-meta-x", "y z"), ("x-amz-tagging", "a=b")]);
        assert_eq!(taken(query, &[]).unwrap(), wanted);
        assert_eq!(taken(query, &[("x-amz-tagging", "a=b")]).unwrap(), wanted);
        let query_2 = "AWSAccessKeyId=a&Signature=0&x-amz-meta-x=y%20z&x-amz-tagging=a%3Db";
        assert_eq!(taken(query_2, &[]).unwrap(), wanted);
        assert_eq!(taken("x-amz-meta-x=y", &[]).unwrap(), HeaderMap::new(), "nobody signed it");
        for wrong in ["x-amz-acl=a&x-amz-acl=b", "x-amz-meta-%20=x", "x-amz-meta-x=%0A"] {
            assert!(taken(&format!("X-Amz-Signature=0&{wrong}"), &[]).is_err(), "{wrong}");
        }
        assert!(taken(query, &[("x-amz-tagging", "c=d")]).is_err(), "which one is meant?");
    }

    #[test]
    fn which_headers_are_signed() {
        let query = "X-Amz-SignedHeaders=host%3Brange";
        assert!(is_signed(&HeaderMap::new(), query, &http::header::RANGE));
        assert!(!is_signed(&headers(&[SIGNED]), "", &http::header::RANGE));
        assert!(is_signed(&headers(&[SIGNED]), "", &http::header::HOST));
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
