//! A body on its way in: counted, digested on another thread, and compared with what the client announced.
//!
//! The comparison is the last item of the stream that the router reads. So a body which is not what was announced breaks
//! the put, and nothing of it is stored.

use std::sync::{Arc, Mutex, PoisonError};

use afterbay_blob_router::{SourceError, SourceStream};
use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt};
use http::StatusCode;
use s3s::{S3Error, S3Result, TrailingHeaders, s3_error};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::checksums::{Algorithm, Computed, Digests, decode, encode};
use crate::errors;

/// A body that is announced to be no longer is digested where it is: that takes less than to wake a thread.
const INLINE_BYTES: u64 = 16 << 10;

/// Pieces that wait for the digesting thread.
const QUEUE: usize = 4;

/// What the client announced.
#[derive(Debug, Default, Clone)]
pub(crate) struct Announced {
    /// Bytes.
    pub(crate) length: Option<u64>,
    /// `Content-MD5`, in base 64.
    pub(crate) md5: Option<String>,
    /// Values of checksums, in base 64.
    pub(crate) checksums: Vec<(Algorithm, String)>,
    /// Checksums that are wanted, whose value is not known or comes behind the body.
    pub(crate) algorithms: Vec<Algorithm>,
    /// Checksums whose values have to come behind the body.
    pub(crate) trailers: Vec<Algorithm>,
}

impl Announced {
    /// An error if a value cannot be right whatever the body is.
    pub(crate) fn check(&self) -> S3Result<()> {
        if let Some(md5) = &self.md5
            && decode(md5).is_none_or(|bytes| bytes.len() != 16)
        {
            return Err(s3_error!(InvalidDigest, "Content-MD5 is not 16 bytes in base 64"));
        }
        for (algorithm, value) in &self.checksums {
            if !algorithm.accepts(value) {
                let header = algorithm.header();
                return Err(s3_error!(BadDigest, "the value of {header} can be that of no body"));
            }
        }
        if self.checksums.len() > 1 {
            return Err(s3_error!(
                InvalidRequest,
                "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed."
            ));
        }
        Ok(())
    }

    /// What comes without a checksum gets the default one.
    pub(crate) fn add_default(&mut self) {
        if self.checksums.is_empty() && self.algorithms.is_empty() {
            self.algorithms.push(Algorithm::DEFAULT);
        }
    }

    fn all_algorithms(&self) -> Vec<Algorithm> {
        let mut all: Vec<_> = self.checksums.iter().map(|(a, _)| *a).collect();
        all.extend(&self.algorithms);
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Why a body was refused.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum BodyError {
    #[error("the Content-MD5 that was announced is not that of the body")]
    Md5,
    #[error("the {0} that was announced is not that of the body")]
    Checksum(&'static str),
    #[error("the trailer {0} was announced and did not come")]
    NoTrailer(&'static str),
    #[error("the x-amz-content-sha256 that was signed is not that of the body")]
    Sha256,
    #[error("the body has fewer bytes than announced")]
    Incomplete,
    #[error("the digests could not be computed")]
    Digests,
}

impl BodyError {
    pub(crate) fn answer(&self) -> S3Error {
        match self {
            BodyError::Md5 => s3_error!(BadDigest, "{self}"),
            BodyError::Checksum(_) => s3_error!(BadDigest, "{self}"),
            BodyError::NoTrailer(_) => s3_error!(IncompleteBody, "{self}"),
            BodyError::Sha256 => {
                let code = "XAmzContentSHA256Mismatch";
                errors::with_status(code, StatusCode::BAD_REQUEST, self.to_string())
            }
            BodyError::Incomplete => s3_error!(IncompleteBody, "{self}"),
            BodyError::Digests => s3_error!(InternalError, "{self}"),
        }
    }
}

/// Where the result is found once the stream has ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct Result(Arc<Mutex<Option<Computed>>>);

impl Result {
    /// An error if the stream has not been read to its end.
    pub(crate) fn take(&self) -> S3Result<Computed> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        taken.ok_or_else(|| BodyError::Digests.answer())
    }
}

/// The stream for the router, and where the digests will be.
pub(crate) fn ingest<S, E>(
    body: S,
    announced: Announced,
    trailers: Option<TrailingHeaders>,
) -> (SourceStream, Result)
where
    S: Stream<Item = std::result::Result<Bytes, E>> + Send + 'static,
    E: Into<SourceError>,
{
    let result = Result::default();
    let digester = Digester::new(&announced);
    let body = body.map(|piece| piece.map_err(Into::into)).boxed();
    let state = State { body, digester, announced, trailers, result: result.clone(), taken: 0 };
    let stream = stream::unfold(Some(state), |state| async move {
        let mut state = state?;
        match state.next().await {
            Ok(Some(piece)) => Some((Ok(piece), Some(state))),
            Ok(None) => match state.finish().await {
                Ok(()) => None,
                Err(error) => Some((Err(error.into()), None)),
            },
            Err(error) => Some((Err(error), None)),
        }
    });
    (stream.boxed(), result)
}

struct State {
    body: BoxStream<'static, std::result::Result<Bytes, SourceError>>,
    digester: Digester,
    announced: Announced,
    trailers: Option<TrailingHeaders>,
    result: Result,
    taken: u64,
}

impl State {
    async fn next(&mut self) -> std::result::Result<Option<Bytes>, SourceError> {
        match self.body.next().await {
            None => Ok(None),
            Some(Err(error)) => Err(error),
            Some(Ok(piece)) => {
                self.taken += piece.len() as u64;
                metrics::counter!("afterbay_blob_s3_received_bytes_total")
                    .increment(piece.len() as u64);
                self.digester.update(&piece).await?;
                Ok(Some(piece))
            }
        }
    }

    async fn finish(self) -> std::result::Result<(), BodyError> {
        if self.announced.length.is_some_and(|length| length > self.taken) {
            return Err(BodyError::Incomplete);
        }
        let computed = self.digester.finish().await?;
        if self.announced.md5.as_ref().is_some_and(|md5| *md5 != encode(&computed.md5)) {
            return Err(BodyError::Md5);
        }
        let came = self.trailers.as_ref().map(of_trailers).unwrap_or_default();
        let is_missing =
            |wanted: &&Algorithm| came.iter().all(|(algorithm, _)| algorithm != *wanted);
        if let Some(missing) = self.announced.trailers.iter().find(is_missing) {
            return Err(BodyError::NoTrailer(missing.header()));
        }
        let expected = self.announced.checksums.into_iter().chain(came);
        for (algorithm, value) in expected {
            let found = computed.checksums.iter().find(|(a, _)| *a == algorithm);
            if found.is_none_or(|(_, found)| *found != value) {
                return Err(BodyError::Checksum(algorithm.name()));
            }
        }
        *self.result.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(computed);
        Ok(())
    }
}

fn of_trailers(trailers: &TrailingHeaders) -> Vec<(Algorithm, String)> {
    let read = |headers: &http::HeaderMap| {
        let checksum = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
            Some((Algorithm::of_header(name.as_str())?, value.to_str().ok()?.trim().to_owned()))
        };
        headers.iter().filter_map(checksum).collect()
    };
    trailers.read(read).unwrap_or_default()
}

enum Digester {
    Inline(Digests),
    Thread { pieces: mpsc::Sender<Bytes>, digests: JoinHandle<Digests> },
}

impl Digester {
    fn new(announced: &Announced) -> Self {
        let mut digests = Digests::new(&announced.all_algorithms());
        if announced.length.is_some_and(|length| length <= INLINE_BYTES) {
            return Digester::Inline(digests);
        }
        let (pieces, mut queue) = mpsc::channel::<Bytes>(QUEUE);
        let digests = tokio::task::spawn_blocking(move || {
            while let Some(piece) = queue.blocking_recv() {
                digests.update(&piece);
            }
            digests
        });
        Digester::Thread { pieces, digests }
    }

    async fn update(&mut self, piece: &Bytes) -> std::result::Result<(), BodyError> {
        match self {
            Digester::Inline(digests) => {
                digests.update(piece);
                Ok(())
            }
            Digester::Thread { pieces, .. } => {
                pieces.send(piece.clone()).await.map_err(|_| BodyError::Digests)
            }
        }
    }

    async fn finish(self) -> std::result::Result<Computed, BodyError> {
        match self {
            Digester::Inline(digests) => Ok(digests.finish()),
            Digester::Thread { pieces, digests } => {
                drop(pieces);
                Ok(digests.await.map_err(|_| BodyError::Digests)?.finish())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(pieces: &[&'static str]) -> impl Stream<Item = std::io::Result<Bytes>> + use<> {
        let pieces: Vec<_> = pieces.iter().map(|p| Ok(Bytes::from_static(p.as_bytes()))).collect();
        stream::iter(pieces)
    }

    async fn run(announced: Announced) -> std::result::Result<(usize, Computed), String> {
        let (mut stream, result) = ingest(body(&["hel", "lo"]), announced, None);
        let mut bytes = 0;
        while let Some(piece) = stream.next().await {
            bytes += piece.map_err(|e| e.to_string())?.len();
        }
        Ok((bytes, result.take().map_err(|e| e.to_string())?))
    }

    #[tokio::test]
    async fn digests_inline_and_on_a_thread_are_the_same() {
        let inline = Announced { length: Some(5), ..Default::default() };
        let (bytes, computed) = run(inline).await.unwrap();
        assert_eq!(bytes, 5);
        assert_eq!(computed.etag(), "5d41402abc4b2a76b9719d911017c592");
        assert_eq!(run(Announced::default()).await.unwrap().1, computed);
    }

    #[tokio::test]
    async fn what_is_not_as_announced_breaks_the_stream() {
        let wrong = [
            Announced { md5: Some(encode(&[0; 16])), ..Default::default() },
            Announced {
                checksums: vec![(Algorithm::Crc32, encode(&[0; 4]))],
                ..Default::default()
            },
            Announced { length: Some(6), ..Default::default() },
            Announced { trailers: vec![Algorithm::Crc32], ..Default::default() },
        ];
        for announced in wrong {
            assert!(run(announced.clone()).await.is_err(), "{announced:?}");
        }
        let right = Announced {
            md5: Some("XUFAKrxLKna5cZ2REBfFkg==".into()),
            checksums: vec![(Algorithm::Crc32, "NhCmhg==".into())],
            ..Default::default()
        };
        assert!(run(right).await.is_ok());
    }

    #[test]
    fn values_that_cannot_be_are_refused_at_once() {
        let md5 = Announced { md5: Some("x".into()), ..Default::default() };
        assert_eq!(*md5.check().unwrap_err().code(), s3s::S3ErrorCode::InvalidDigest);
        let crc =
            Announced { checksums: vec![(Algorithm::Crc32, "AAAA".into())], ..Default::default() };
        assert!(crc.check().is_err());
    }
}
