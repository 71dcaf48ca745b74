//! For `fuzz/`: connections without a socket, and what requests of S3 consist of and this crate parses itself.

use std::sync::Arc;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::uri::Scheme;
use http::{HeaderMap, HeaderValue};
use hyper_util::server::graceful::GracefulShutdown;
use s3s::validation::NameValidation;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

use crate::checksums::{Algorithm, encode, etag_of_parts, hex};
use crate::chunked::{Chunks, ShortChunks};
use crate::connection::Connection;
use crate::convert::{from_http_date, http_date, tags, without_chunked};
use crate::names::BucketNames;
use crate::ops::{copy_range, parse_token};
use crate::options::S3Options;
use crate::patience::{Pace, Watched};
use crate::seats::Seats;
use crate::serve::{cors, service};
use crate::service::Backend;
use crate::signed;
use crate::wire::{check_expires, check_one_signature, plain_etag, with_id};

/// Serves one connection to its end, which the client brings about, or time.
pub async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    backend: Backend,
    options: S3Options,
) {
    let options = Arc::new(options);
    // Without a domain, nothing of the options can be wrong.
    let Ok(cors) = cors(&backend, &options) else { return };
    let Ok(service) = service(backend, &options) else { return };
    // Both are ended by their first half.
    let (graceful, (_stop, shutdown)) = (GracefulShutdown::new(), watch::channel(false));
    let (watcher, pace) = (graceful.watcher(), Pace::new(&options, Seats::new(&options).take()));
    let scheme = Scheme::HTTP;
    let connection =
        Connection { service, cors: Arc::new(cors), options, tls: None, scheme, watcher, shutdown };
    // Why it ended, the client has seen.
    let _ = connection.http(Watched::new(stream, pace.clone()), pace).await;
}

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
    if check_signed(text) {
        is += " unsigned header";
    }
    is + &answers(text)
}

/// Whether a header of Amazon's is refused beside that signature, in the header and in the query.
fn check_signed(text: &str) -> bool {
    let mut headers = HeaderMap::new();
    headers.insert("x-amz-copy-source", HeaderValue::from_static("a/b"));
    let in_query = signed::check(&headers, text).is_err();
    let in_header = HeaderValue::from_str(text).is_ok_and(|value| {
        headers.insert(AUTHORIZATION, value);
        signed::check(&headers, "").is_err()
    });
    in_query || in_header
}

/// Takes `bytes` as a body in chunks, that comes in pieces. Signed chunks stay as they are, of others the content does.
pub fn chunks(bytes: &[u8]) -> String {
    let piece = 1 + bytes.first().map_or(0, |first| usize::from(*first));
    let signed = pass(Chunks::Signed, bytes, piece);
    assert!(signed.as_ref().is_none_or(|signed| signed == bytes));
    let unsigned = pass(Chunks::Unsigned, bytes, piece).unwrap_or_default();
    let again = pass(Chunks::Unsigned, &unsigned, usize::MAX).unwrap_or_default();
    assert_eq!(again, unsigned);
    format!("{} {}", signed.is_some(), unsigned.len() > bytes.len())
}

fn pass(chunks: Chunks, bytes: &[u8], piece: usize) -> Option<Vec<u8>> {
    let mut body = ShortChunks::new((), chunks);
    let mut pieces = bytes.chunks(piece).map(Bytes::copy_from_slice);
    pieces.try_for_each(|piece| body.take(piece)).ok()?;
    body.end().ok()?;
    Some(body.taken().concat())
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
