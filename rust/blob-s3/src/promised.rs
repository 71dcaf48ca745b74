//! The bodies that s3s reads as a whole, because they are XML: compared with what their requests promise. The bodies of objects are
//! compared where they are stored (`ingest`).

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, HeaderName};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use s3s::{S3Error, s3_error};

use crate::checksums::{Algorithm, Computed, Digests, decode, encode, hex};
use crate::ingest::BodyError;
use crate::measure::Notes;

const CONTENT_MD5: HeaderName = HeaderName::from_static("content-md5");

/// Refuses a `Content-MD5` that can be that of no body.
pub(crate) fn check(headers: &HeaderMap) -> Result<(), S3Error> {
    let is_md5 = |text: &str| decode(text).is_some_and(|bytes| bytes.len() == 16);
    match headers.get(CONTENT_MD5) {
        Some(value) if !value.to_str().is_ok_and(is_md5) => {
            Err(s3_error!(InvalidDigest, "Content-MD5 is not 16 bytes in base 64"))
        }
        _ => Ok(()),
    }
}

/// What a request says about its body.
#[derive(Debug)]
struct Promises {
    length: Option<u64>,
    md5: Option<String>,
    /// In hexadecimal digits.
    sha256: Option<String>,
    checksums: Vec<(Algorithm, String)>,
}

impl Promises {
    fn of(headers: &HeaderMap) -> Self {
        let text = |name: &str| Some(headers.get(name)?.to_str().ok()?.to_owned());
        let checksums = Algorithm::ALL.into_iter().filter_map(|a| Some((a, text(a.header())?)));
        Promises {
            length: text(CONTENT_LENGTH.as_str()).and_then(|length| length.parse().ok()),
            md5: text(CONTENT_MD5.as_str()),
            sha256: text("x-amz-content-sha256").filter(|sha256| sha256.len() == 64),
            checksums: checksums.collect(),
        }
    }

    fn digests(&self) -> Digests {
        let mut algorithms: Vec<_> = self.checksums.iter().map(|(a, _)| *a).collect();
        if self.sha256.is_some() && !algorithms.contains(&Algorithm::Sha256) {
            algorithms.push(Algorithm::Sha256);
        }
        Digests::new(&algorithms)
    }

    fn check(&self, found: &Computed) -> Result<(), BodyError> {
        let value = |algorithm| found.checksums.iter().find(|(a, _)| *a == algorithm);
        let sha256 = value(Algorithm::Sha256).and_then(|(_, sha256)| decode(sha256));
        if self.sha256.is_some() && self.sha256 != sha256.map(|sha256| hex(&sha256)) {
            return Err(BodyError::Sha256);
        }
        if self.md5.as_ref().is_some_and(|md5| *md5 != encode(&found.md5)) {
            return Err(BodyError::Md5);
        }
        let is_other = |promised: &&(Algorithm, String)| value(promised.0) != Some(*promised);
        let other = self.checksums.iter().find(is_other);
        other.map_or(Ok(()), |(algorithm, _)| Err(BodyError::Checksum(algorithm.name())))
    }
}

/// Why a body is not what was promised, once that is known.
pub(crate) type Broken = Arc<OnceLock<BodyError>>;

/// A body that fails if it is not what was promised, unless it is that of an object.
pub(crate) struct Promised<B> {
    body: B,
    promises: Promises,
    notes: Notes,
    /// Of what has come; `None` before anything has, and when they were compared.
    digests: Option<Digests>,
    came: u64,
    broken: Broken,
}

impl<B> Promised<B> {
    /// `notes` are those of the request: they tell its operation before the body is read.
    pub(crate) fn new(body: B, headers: &HeaderMap, notes: Notes) -> (Self, Broken) {
        let (promises, broken) = (Promises::of(headers), Broken::default());
        let promised = Promised {
            body,
            digests: Some(promises.digests()),
            promises,
            notes,
            came: 0,
            broken: broken.clone(),
        };
        (promised, broken)
    }

    /// Not everything that a request promises is about XML.
    fn leave_objects(&mut self) {
        match self.notes.told_operation() {
            Some("PutObject" | "UploadPart") => self.digests = None,
            // Its checksums are those of the object that becomes of the parts.
            Some("CompleteMultipartUpload") => self.promises.checksums.clear(),
            _ => {}
        }
    }

    /// At the last byte already: whoever knows the length does not ask for the end.
    fn came(&mut self, bytes: &Bytes) -> Result<(), BodyError> {
        let Some(digests) = &mut self.digests else { return Ok(()) };
        digests.update(bytes);
        self.came += bytes.len() as u64;
        if self.promises.length == Some(self.came) { self.end() } else { Ok(()) }
    }

    fn end(&mut self) -> Result<(), BodyError> {
        let Some(digests) = self.digests.take() else { return Ok(()) };
        let checked = self.promises.check(&digests.finish());
        checked.inspect_err(|error| {
            // Found once.
            let _ = self.broken.set(error.clone());
        })
    }
}

impl<B> HttpBody for Promised<B>
where
    B: HttpBody<Data = Bytes, Error = s3s::StdError> + Unpin,
{
    type Data = Bytes;
    type Error = s3s::StdError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, s3s::StdError>>> {
        let this = &mut *self;
        this.leave_objects();
        let frame = ready!(Pin::new(&mut this.body).poll_frame(context));
        match &frame {
            Some(Ok(frame)) => frame.data_ref().map_or(Ok(()), |bytes| this.came(bytes))?,
            Some(Err(_)) => {}
            None => this.end()?,
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt, Full};

    use super::*;

    const BODY: &[u8] = b"hello";
    const MD5: &str = "XUFAKrxLKna5cZ2REBfFkg==";
    const SHA256: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

    async fn read(operation: &str, of: &[(&'static str, &str)]) -> Option<String> {
        let name = |name| HeaderName::from_static(name);
        let headers = of.iter().map(|(n, value)| (name(n), value.parse().unwrap())).collect();
        let notes = Notes::default();
        notes.operation(operation);
        let body = Full::new(Bytes::from_static(BODY)).map_err(s3s::StdError::from);
        let (body, broken) = Promised::new(body, &headers, notes);
        let read = body.collect().await;
        assert_eq!(read.is_err(), broken.get().is_some());
        broken.get().map(|error| error.answer().code().as_str().to_owned())
    }

    #[tokio::test]
    async fn xml_is_what_was_promised() {
        let right = [
            ("content-md5", MD5),
            ("x-amz-checksum-crc32", "NhCmhg=="),
            ("x-amz-content-sha256", SHA256),
        ];
        assert_eq!(read("DeleteObjects", &right).await, None);
        assert_eq!(
            read("DeleteObjects", &[("x-amz-content-sha256", "UNSIGNED-PAYLOAD")]).await,
            None
        );
        let other = SHA256.replace("2c", "2d");
        for (name, wrong, code) in [
            ("content-md5", "AAAAAAAAAAAAAAAAAAAAAA==", "BadDigest"),
            ("x-amz-checksum-crc32", "AAAAAA==", "BadDigest"),
            ("x-amz-checksum-sha256", "?", "BadDigest"),
            ("x-amz-content-sha256", &other, "XAmzContentSHA256Mismatch"),
        ] {
            for length in [&[][..], &[("content-length", "5")]] {
                let sent = [&[(name, wrong)], length].concat();
                assert_eq!(read("PutBucketTagging", &sent).await.as_deref(), Some(code), "{name}");
                assert_eq!(read("PutObject", &sent).await, None, "compared where it is stored");
                let of_parts = Some(code).filter(|_| !name.starts_with("x-amz-checksum"));
                assert_eq!(read("CompleteMultipartUpload", &sent).await.as_deref(), of_parts);
            }
        }
    }

    #[test]
    fn an_md5_that_is_none() {
        let checked =
            |md5: &str| check(&HeaderMap::from_iter([(CONTENT_MD5, md5.parse().unwrap())])).is_ok();
        assert!(check(&HeaderMap::new()).is_ok() && checked(MD5));
        for wrong in ["", "x", "AAAA"] {
            assert!(!checked(wrong), "{wrong}");
        }
    }
}
