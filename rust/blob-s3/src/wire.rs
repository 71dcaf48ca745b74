//! What s3s leaves to its user: ids of requests, the limit of presigned URLs, and one answer that it writes in another way
//! than S3.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HeaderName, HeaderValue};
use http::{Method, Request, Response};
use hyper::body::Incoming;
use s3s::service::S3Service;
use s3s::{Body, HttpError, HttpResponse, S3Error, s3_error};

use crate::measure::{self, Measured, Notes};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-amz-request-id");
const HOST_ID: HeaderName = HeaderName::from_static("x-amz-id-2");

/// Seconds that a presigned URL may be valid.
const EXPIRES_MAX_S: i64 = 7 * 24 * 3600;

/// Answers a request. The id is in the log, in a header, and in the XML of errors.
pub(crate) async fn answer(
    service: &S3Service,
    mut request: Request<Incoming>,
) -> Result<Response<Measured>, HttpError> {
    let notes = Notes::default();
    let measured = measure::Request::begin(notes.clone());
    request.extensions_mut().insert(notes);
    let id = uuid::Uuid::new_v4().simple().to_string()[..16].to_uppercase();
    let query = request.uri().query().unwrap_or_default().to_owned();
    let attributes = request.method() == Method::GET && has(&query, "attributes");
    let header = request.headers().contains_key(http::header::AUTHORIZATION);
    let checked = check_preflight(&request)
        .and_then(|()| check_expires(&query))
        .and_then(|()| check_one_signature(&query, header));
    let response = match checked {
        Ok(()) => service.call(request.map(Body::from)).await?,
        Err(error) => error.to_http_response().map_err(|e| HttpError::new(Box::new(e)))?,
    };
    let status = response.status();
    let failed = status.is_client_error() || status.is_server_error();
    let code = if failed { error_code(&response) } else { String::new() };
    let response = match (failed, attributes) {
        (true, _) => rewrite(response, |xml| with_id(xml, &id)),
        (false, true) => rewrite(response, plain_etag),
        (false, false) => response,
    };
    let response = with_headers(response, &id);
    Ok(response.map(|body| measured.answered(&id, status, &code, body)))
}

/// The code in the XML of an error; empty if it has no body.
fn error_code(response: &HttpResponse) -> String {
    let body = response.body().bytes().unwrap_or_default();
    let xml = std::str::from_utf8(&body).unwrap_or_default();
    let code = xml.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    code.map(|(code, _)| code.to_owned()).unwrap_or_default()
}

fn has(query: &str, name: &str) -> bool {
    query.split('&').any(|pair| pair.split('=').next() == Some(name))
}

pub(crate) fn check_expires(query: &str) -> Result<(), S3Error> {
    let expires = query.split('&').find_map(|pair| pair.strip_prefix("X-Amz-Expires="));
    let Some(expires) = expires else { return Ok(()) };
    match expires.parse::<i64>() {
        Ok(seconds) if (1..=EXPIRES_MAX_S).contains(&seconds) => Ok(()),
        _ => Err(s3_error!(
            AccessDenied,
            "X-Amz-Expires is not between 1 and {EXPIRES_MAX_S} seconds"
        )),
    }
}

/// What a browser asks before a request to another site. No bucket has a CORS configuration here.
fn check_preflight<B>(request: &Request<B>) -> Result<(), S3Error> {
    if request.method() != Method::OPTIONS {
        return Ok(());
    }
    if request.headers().contains_key(http::header::ORIGIN) {
        return Err(s3_error!(AccessDenied, "CORSResponse: CORS is not enabled for this bucket."));
    }
    Err(s3_error!(InvalidRequest, "Insufficient information. Origin request header needed."))
}

/// A request that is signed twice could be meant as either.
pub(crate) fn check_one_signature(query: &str, header: bool) -> Result<(), S3Error> {
    if header && (has(query, "X-Amz-Signature") || has(query, "Signature")) {
        return Err(s3_error!(InvalidArgument, "Only one auth mechanism allowed"));
    }
    Ok(())
}

fn with_headers(mut response: HttpResponse, id: &str) -> HttpResponse {
    if let Ok(value) = HeaderValue::from_str(id) {
        response.headers_mut().insert(REQUEST_ID, value.clone());
        response.headers_mut().insert(HOST_ID, value);
    }
    response
}

/// Changes a body that is XML in memory; others stay as they are.
fn rewrite(
    mut response: HttpResponse,
    change: impl FnOnce(&str) -> Option<String>,
) -> HttpResponse {
    let body = response.body().bytes();
    let changed = body.as_ref().and_then(|b| std::str::from_utf8(b).ok()).and_then(change);
    if let Some(changed) = changed {
        response.headers_mut().remove(CONTENT_LENGTH);
        *response.body_mut() = Body::from(Bytes::from(changed));
    }
    response
}

pub(crate) fn with_id(xml: &str, id: &str) -> Option<String> {
    if xml.contains("<RequestId>") {
        return None;
    }
    let (before, behind) = xml.split_at(xml.rfind("</Error>")?);
    Some(format!("{before}<RequestId>{id}</RequestId>{behind}"))
}

/// `GetObjectAttributes` is the one answer of S3 whose ETag has no quotes.
pub(crate) fn plain_etag(xml: &str) -> Option<String> {
    let (begin, end) = (xml.find("<ETag>")?, xml.find("</ETag>")?);
    let tag = xml.get(begin..end)?.replace("&quot;", "").replace('"', "");
    Some(format!("{}{tag}{}", &xml[..begin], &xml[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_get_an_id() {
        let with = with_id("<?xml?><Error><Code>X</Code></Error>", "7").unwrap();
        assert_eq!(with, "<?xml?><Error><Code>X</Code><RequestId>7</RequestId></Error>");
        assert_eq!(with_id(&with, "8"), None);
        assert_eq!(with_id("", "8"), None);
    }

    #[test]
    fn etags_of_attributes() {
        let xml = "<A><ETag>&quot;x-1&quot;</ETag><B>&quot;</B></A>";
        assert_eq!(plain_etag(xml).unwrap(), "<A><ETag>x-1</ETag><B>&quot;</B></A>");
        assert_eq!(plain_etag("<A></A>"), None);
    }

    #[test]
    fn one_signature() {
        assert!(check_one_signature("X-Amz-Signature=1", false).is_ok());
        assert!(check_one_signature("a=b", true).is_ok());
        assert!(check_one_signature("a=b&X-Amz-Signature=1", true).is_err());
        assert!(check_one_signature("Signature=1", true).is_err());
    }

    #[test]
    fn presigned_for_a_week_at_most() {
        assert!(check_expires("a=b").is_ok());
        assert!(check_expires("X-Amz-Expires=604800").is_ok());
        for wrong in ["0", "-7", "604801", "x", ""] {
            assert!(check_expires(&format!("a&X-Amz-Expires={wrong}")).is_err(), "{wrong}");
        }
    }
}
