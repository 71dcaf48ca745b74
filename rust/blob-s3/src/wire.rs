//! What s3s leaves to its user: ids of requests, the limits of presigned URLs and heads, bodies that stop, are too long or are not read,
//! forms, and one answer that it writes in another way than S3.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use hyper::body::{Body as _, Incoming};
use s3s::service::S3Service;
use s3s::{Body, HttpError, HttpResponse, S3Error, S3Result, s3_error};

use crate::body::{Arrived, Arriving};
use crate::chunked::{Chunks, ShortChunks};
use crate::cors::Crossing;
use crate::measure::{self, Measured, Notes};
use crate::options::S3Options;
use crate::patience::Pace;
use crate::promised::{self, Promised};
use crate::ranges;
use crate::signed;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-amz-request-id");
const HOST_ID: HeaderName = HeaderName::from_static("x-amz-id-2");

/// So many bytes more than [`S3Options::header_bytes_max`] are read of a head: who sent them is told in XML what is wrong.
pub(crate) const HEAD_ROOM_BYTES: usize = 16 << 10;

/// The operation of what a browser asks before a request to another site.
const PREFLIGHT: &str = "Preflight";

/// Seconds that a presigned URL may be valid.
const EXPIRES_MAX_S: i64 = 7 * 24 * 3600;

/// Answers a request. The id is in the log, in a header, and in the XML of errors.
pub(crate) async fn answer(
    service: &S3Service,
    mut request: Request<Incoming>,
    crossing: Crossing,
    pace: &Arc<Pace>,
    options: &S3Options,
) -> Result<Response<Measured>, HttpError> {
    let notes = Notes::new(pace.clone());
    let measured = measure::Request::begin(notes.clone(), pace.begin());
    request.extensions_mut().insert(notes.clone());
    let id = uuid::Uuid::new_v4().simple().to_string()[..16].to_uppercase();
    let query = request.uri().query().unwrap_or_default().to_owned();
    let attributes = request.method() == Method::GET && has(&query, "attributes");
    if crossing.preflight.is_some() {
        notes.operation(PREFLIGHT);
    }
    let asked = ask(service, request, &query, crossing.preflight, notes.clone(), options);
    let mut response = asked.await?;
    response.headers_mut().extend(crossing.headers);
    if notes.is_crowded() {
        close(&mut response);
    }
    let status = response.status();
    let failed = is_failure(&response);
    let code = if failed { error_code(&response) } else { String::new() };
    let response = match (failed, attributes) {
        (true, _) => rewrite(response, |xml| with_id(xml, &id)),
        (false, true) => rewrite(response, plain_etag),
        (false, false) => response,
    };
    let response = with_headers(rewrite(response, escaped), &id);
    Ok(response.map(|body| measured.answered(&id, status, &code, body)))
}

async fn ask(
    service: &S3Service,
    mut request: Request<Incoming>,
    query: &str,
    preflight: Option<S3Result<()>>,
    notes: Notes,
    options: &S3Options,
) -> Result<HttpResponse, HttpError> {
    let early = match preflight {
        // It has no signature, and none of what else is checked.
        Some(answer) => Some(check_head(&request, options.header_bytes_max).and(answer)),
        None => check(&mut request, query, options).err().map(Err),
    };
    let (parts, body) = request.into_parts();
    let chunks = Chunks::of(&parts.headers);
    if body.is_end_stream() {
        // The last chunk is missing, if there are to be any.
        let chunks = chunks.filter(|_| parts.method == Method::PUT);
        let unfinished = || chunks.map(|_| s3_error!(IncompleteBody, "the body has no chunk"));
        return match early.or_else(|| unfinished().map(Err)) {
            Some(answer) => answered(answer),
            None => service.call(Request::from_parts(parts, Body::empty())).await,
        };
    }
    let on_request = parts.headers.contains_key(EXPECT);
    let (body, arrived) = Arriving::new(body, options.stall_timeout);
    let mut response = match early {
        Some(answer) => answered(answer)?,
        None => {
            let (body, broken) = match chunks {
                Some(chunks) => (Body::http_body(ShortChunks::new(body, chunks)), None),
                None => {
                    let (body, broken) = Promised::new(body, &parts.headers, notes);
                    (Body::http_body(body), Some(broken))
                }
            };
            let request = Request::from_parts(parts, body);
            let response = service.call(request).await?;
            match broken.as_ref().and_then(|broken| broken.get()) {
                Some(error) => refusal(error.answer())?,
                None => judge(response, &arrived, options)?,
            }
        }
    };
    if !arrived.finish(on_request).await {
        close(&mut response);
    }
    Ok(response)
}

/// Says that the connection ends.
fn close(response: &mut HttpResponse) {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
}

fn check(request: &mut Request<Incoming>, query: &str, options: &S3Options) -> Result<(), S3Error> {
    let header = request.headers().contains_key(http::header::AUTHORIZATION);
    check_head(request, options.header_bytes_max)?;
    check_form(request)?;
    check_expires(query)?;
    check_one_signature(query, header)?;
    signed::check(request.headers(), query)?;
    promised::check(request.headers())?;
    ranges::tidy(request.headers_mut(), query);
    signed::take_headers(request.headers_mut(), query)
}

/// Says of a request that failed because of its body what was wrong with that.
fn judge(
    response: HttpResponse,
    arrived: &Arrived<Incoming>,
    options: &S3Options,
) -> Result<HttpResponse, HttpError> {
    if is_failure(&response) && arrived.is_late() {
        return refusal(s3_error!(
            RequestTimeout,
            "nothing came of the body for {:?}",
            options.stall_timeout
        ));
    }
    if is_unread(&response) {
        let max = options.xml_bytes_max;
        if arrived.bytes() > max as u64 {
            return refusal(s3_error!(
                MaxMessageLengthExceeded,
                "the XML has more than {max} bytes"
            ));
        }
        return refusal(s3_error!(IncompleteBody, "the body could not be read"));
    }
    Ok(response)
}

/// XML that is too long, broke off, or came in chunks with wrong signatures, is an internal error to s3s, and the only one without a
/// message.
fn is_unread(response: &HttpResponse) -> bool {
    let body = response.body().bytes().unwrap_or_default();
    let has_message = body.windows(9).any(|window| window == b"<Message>");
    response.status() == StatusCode::INTERNAL_SERVER_ERROR && !has_message
}

/// An answer without a body, or a refusal.
fn answered(answer: S3Result<()>) -> Result<HttpResponse, HttpError> {
    answer.map_or_else(refusal, |()| Ok(HttpResponse::new(Body::empty())))
}

fn refusal(error: S3Error) -> Result<HttpResponse, HttpError> {
    error.to_http_response().map_err(|e| HttpError::new(Box::new(e)))
}

fn is_failure(response: &HttpResponse) -> bool {
    response.status().is_client_error() || response.status().is_server_error()
}

/// The code in the XML of an error; empty if it has no body.
fn error_code(response: &HttpResponse) -> String {
    let body = response.body().bytes().unwrap_or_default();
    let xml = std::str::from_utf8(&body).unwrap_or_default();
    let code = xml.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    code.map(|(code, _)| code.to_owned()).unwrap_or_default()
}

fn has(query: &str, name: &str) -> bool {
    signed::parameter(query, name).is_some()
}

pub(crate) fn check_expires(query: &str) -> Result<(), S3Error> {
    let Some(expires) = signed::parameter(query, "X-Amz-Expires") else { return Ok(()) };
    match expires.parse::<i64>() {
        Ok(seconds) if (1..=EXPIRES_MAX_S).contains(&seconds) => Ok(()),
        _ => Err(s3_error!(
            AccessDenied,
            "X-Amz-Expires is not between 1 and {EXPIRES_MAX_S} seconds"
        )),
    }
}

/// A head that is much longer is not read to its end: hyper answers it by 431 ([`HEAD_ROOM_BYTES`]).
fn check_head<B>(request: &Request<B>, max: usize) -> Result<(), S3Error> {
    let separators = ": \r\n".len();
    let header =
        |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len() + separators;
    if request.headers().iter().map(header).sum::<usize>() > max {
        return Err(s3_error!(
            RequestHeaderSectionTooLarge,
            "the headers have more than {max} bytes"
        ));
    }
    Ok(())
}

/// An upload by a form of HTML. s3s keeps all of it in memory before anybody is asked whether the client may do that.
fn check_form<B>(request: &Request<B>) -> Result<(), S3Error> {
    let kind = request.headers().get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    let form = b"multipart/form-data";
    let is_form = kind.trim_ascii_start().get(..form.len());
    if request.method() == Method::POST && is_form.is_some_and(|k| k.eq_ignore_ascii_case(form)) {
        return Err(s3_error!(NotImplemented, "uploads by forms are not implemented"));
    }
    Ok(())
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

/// Characters of keys that XML would not bring back as they are, written by their numbers.
pub(crate) fn escaped(xml: &str) -> Option<String> {
    let changes = |byte: u8| byte < b' ' && byte != b'\n' && byte != b'\t';
    if !xml.bytes().any(changes) {
        return None;
    }
    let mut escaped = String::with_capacity(xml.len() + 64);
    for character in xml.chars() {
        match u8::try_from(character) {
            Ok(byte) if changes(byte) => escaped.push_str(&format!("&#x{byte:X};")),
            _ => escaped.push(character),
        }
    }
    Some(escaped)
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
    fn control_characters_come_back() {
        assert_eq!(escaped("<Key>a\u{1}\rb\n\tä</Key>").unwrap(), "<Key>a&#x1;&#xD;b\n\tä</Key>");
        assert_eq!(escaped("<Key>ä\n</Key>"), None);
    }

    #[test]
    fn one_signature() {
        assert!(check_one_signature("X-Amz-Signature=1", false).is_ok());
        assert!(check_one_signature("a=b", true).is_ok());
        assert!(check_one_signature("a=b&X-Amz-Signature=1", true).is_err());
        assert!(check_one_signature("Signature=1", true).is_err());
    }

    #[test]
    fn forms_are_refused() {
        let of = |method: Method, kind: &str| {
            let request = Request::builder().method(method).header(CONTENT_TYPE, kind);
            check_form(&request.body(()).unwrap()).is_ok()
        };
        for form in
            ["multipart/form-data; boundary=x", "Multipart/Form-Data", " multipart/form-data"]
        {
            assert!(!of(Method::POST, form), "{form}");
            assert!(of(Method::PUT, form), "{form}: an object of that type");
        }
        // Of an object that is uploaded in parts.
        assert!(of(Method::POST, "multipart/mixed") && of(Method::POST, ""));
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
