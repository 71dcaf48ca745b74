//! The bodies of objects: one blob, or those of the parts one behind the other.

use std::ops::Range;

use afterbay_blob_meta::{Body, NamesError, ObjectEntry, Part};
use afterbay_blob_router::{BlobStream, ByteRange, Error as BlobError};
use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use s3s::S3Result;
use s3s::dto::StreamingBlob;
use s3s::stream::{ByteStream, RemainingLength};
use sync_wrapper::SyncStream;

use crate::errors;
use crate::service::Service;

/// Parts that are read in one go.
const PAGE: usize = 1000;

/// The blob or its chunks were deleted after the name had been looked up.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// Look the name up again.
    Gone,
    Other(s3s::S3Error),
}

impl From<NamesError> for ReadError {
    fn from(error: NamesError) -> Self {
        ReadError::Other(errors::names(error))
    }
}

impl From<BlobError> for ReadError {
    fn from(error: BlobError) -> Self {
        match error {
            BlobError::NotFound(_) | BlobError::Lost(_) | BlobError::Deleted(_) => ReadError::Gone,
            other => ReadError::Other(errors::blobs(other)),
        }
    }
}

impl Service {
    /// A range of an object's body.
    pub(crate) async fn read(
        &self,
        entry: &ObjectEntry,
        range: Range<u64>,
    ) -> std::result::Result<BlobStream, ReadError> {
        if range.is_empty() {
            return Ok(stream::empty().boxed());
        }
        match entry.body()? {
            Body::Blob(id) => {
                let range = whole_or(&range, entry.length);
                begun(self.backend.blobs.get(id, range).await?.content).await
            }
            Body::Parts(upload) => {
                let parts = self.all_parts(&upload).await?;
                begun(self.read_parts(&parts, range).await?).await
            }
        }
    }

    /// All parts of an upload, in the order of their numbers.
    pub(crate) async fn all_parts(
        &self,
        upload: &str,
    ) -> std::result::Result<Vec<(u16, Part)>, NamesError> {
        let mut all: Vec<(u16, Part)> = Vec::new();
        loop {
            let after = all.last().map_or(0, |(number, _)| *number);
            let page = self.names().parts(upload, after, PAGE).await?;
            let last = page.len() < PAGE;
            all.extend(page);
            if last {
                return Ok(all);
            }
        }
    }

    /// The first part is opened at once, so that one that is gone is noticed before the answer begins.
    async fn read_parts(
        &self,
        parts: &[(u16, Part)],
        range: Range<u64>,
    ) -> std::result::Result<BlobStream, ReadError> {
        let mut pieces = cut(parts, &range).into_iter();
        let Some((part, first)) = pieces.next() else {
            return Err(ReadError::Gone);
        };
        let first = self.backend.blobs.get(part.blob_id()?, Some(inclusive(&first))).await?;
        let blobs = self.backend.blobs.clone();
        let rest = stream::iter(pieces)
            .then(move |(part, range)| {
                let blobs = blobs.clone();
                async move {
                    let id = part.blob_id().map_err(damaged)?;
                    Ok(blobs.get(id, Some(inclusive(&range))).await?.content)
                }
            })
            .flat_map(|opened: std::result::Result<BlobStream, BlobError>| match opened {
                Ok(content) => content,
                Err(error) => stream::iter([Err(error)]).boxed(),
            });
        Ok(first.content.chain(rest).boxed())
    }
}

/// Reads the first piece before the answer begins: what is damaged from there on is an error of S3's then, and not a connection that
/// breaks.
async fn begun(mut content: BlobStream) -> std::result::Result<BlobStream, ReadError> {
    match content.next().await {
        Some(first) => Ok(stream::iter([Ok(first?)]).chain(content).boxed()),
        None => Ok(content),
    }
}

fn damaged(error: NamesError) -> BlobError {
    BlobError::Damaged { place: "name index".to_owned(), reason: error.to_string() }
}

fn whole_or(range: &Range<u64>, length: u64) -> Option<ByteRange> {
    (*range != (0..length)).then(|| inclusive(range))
}

/// Of a range that is not empty.
fn inclusive(range: &Range<u64>) -> ByteRange {
    ByteRange::Inclusive(range.start, range.end - 1)
}

/// The parts that a range touches, with the range of each.
fn cut(parts: &[(u16, Part)], range: &Range<u64>) -> Vec<(Part, Range<u64>)> {
    let mut cut = Vec::new();
    let mut begin = 0;
    for (_, part) in parts {
        let end = begin + part.length;
        let (first, last) = (range.start.max(begin), range.end.min(end));
        if first < last {
            cut.push((part.clone(), first - begin..last - begin));
        }
        begin = end;
    }
    cut
}

/// The range of a part, by its number; `None` if there is none of this number.
pub(crate) fn part_range(parts: &[(u16, Part)], number: u16) -> Option<Range<u64>> {
    let at = parts.iter().position(|(n, _)| *n == number)?;
    let begin: u64 = parts[..at].iter().map(|(_, part)| part.length).sum();
    Some(begin..begin + parts[at].1.length)
}

/// A body for s3s, which wants to know its length, and streams that can be shared.
struct Outgoing {
    content: SyncStream<BlobStream>,
    remaining: u64,
}

pub(crate) fn outgoing(content: BlobStream, length: u64) -> StreamingBlob {
    StreamingBlob::new(Outgoing { content: SyncStream::new(content), remaining: length })
}

impl futures_util::Stream for Outgoing {
    type Item = std::result::Result<Bytes, s3s::StdError>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        let piece = std::task::ready!(self.content.poll_next_unpin(context));
        std::task::Poll::Ready(piece.map(|piece| match piece {
            Ok(bytes) => {
                self.remaining = self.remaining.saturating_sub(bytes.len() as u64);
                Ok(bytes)
            }
            Err(error) => {
                // The answer has begun: all that can be done is to break it off.
                tracing::error!(%error, "an answer is broken off");
                Err(error.into())
            }
        }))
    }
}

impl ByteStream for Outgoing {
    fn remaining_length(&self) -> RemainingLength {
        RemainingLength::new_exact(usize::try_from(self.remaining).unwrap_or(usize::MAX))
    }
}

/// How often a name is looked up again whose blob is gone.
const TRIES: usize = 4;

/// Decides what of an object is read, and whether.
#[async_trait::async_trait]
pub(crate) trait Choose: Sync {
    /// What is known of it besides the range.
    type Chosen: Send;

    async fn choose(
        &self,
        service: &Service,
        entry: &ObjectEntry,
    ) -> S3Result<(Self::Chosen, Range<u64>)>;
}

impl Service {
    /// Looks a name up and opens what it stands for, until both go together.
    pub(crate) async fn open<C: Choose>(
        &self,
        bucket: &str,
        key: &str,
        wanted: &C,
    ) -> S3Result<(ObjectEntry, C::Chosen, Range<u64>, BlobStream)> {
        for _ in 0..TRIES {
            let entry = self.entry(bucket, key).await?;
            let (chosen, range) = wanted.choose(self, &entry).await?;
            match self.read(&entry, range.clone()).await {
                Ok(content) => return Ok((entry, chosen, range, content)),
                Err(ReadError::Gone) => {}
                Err(ReadError::Other(error)) => return Err(error),
            }
        }
        tracing::error!(bucket, key, "the name stands for a blob that is not there");
        Err(s3s::s3_error!(
            InternalError,
            "the object's data is not there; the server's log says more"
        ))
    }

    /// What a name stands for.
    pub(crate) async fn entry(&self, bucket: &str, key: &str) -> S3Result<ObjectEntry> {
        let entry = self.names().object(bucket, key).await.map_err(errors::names)?;
        entry.ok_or_else(|| s3s::s3_error!(NoSuchKey, "there is no object '{key}'"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranges_of_parts() {
        let part = |number, length| (number, Part { length, ..Default::default() });
        let parts = [part(1, 10), part(3, 5), part(9, 20)];
        let ranges = |range: Range<u64>| {
            cut(&parts, &range).into_iter().map(|(p, r)| (p.length, r)).collect::<Vec<_>>()
        };
        assert_eq!(ranges(0..35), [(10, 0..10), (5, 0..5), (20, 0..20)]);
        assert_eq!(ranges(9..16), [(10, 9..10), (5, 0..5), (20, 0..1)]);
        assert_eq!(ranges(10..15), [(5, 0..5)]);
        assert_eq!(part_range(&parts, 3), Some(10..15));
        assert_eq!(part_range(&parts, 2), None);
    }

    proptest! {
        /// Against all bytes of the object, one by one.
        #[test]
        fn ranges_of_parts_are_those_of_the_whole(
            lengths in proptest::collection::vec(0..12u64, 0..8),
            range in (0..60u64, 0..60u64).prop_map(|(a, b)| a.min(b)..a.max(b)),
        ) {
            let part = |(i, length): (usize, &u64)| {
                (i as u16 + 1, Part { length: *length, ..Default::default() })
            };
            let parts: Vec<_> = lengths.iter().enumerate().map(part).collect();
            let whole: Vec<(u16, u64)> = parts
                .iter()
                .flat_map(|(number, part)| (0..part.length).map(move |at| (*number, at)))
                .collect();
            let wanted: Vec<u64> = whole
                .iter()
                .enumerate()
                .filter(|(i, _)| range.contains(&(*i as u64)))
                .map(|(_, (_, at))| *at)
                .collect();
            let found: Vec<u64> = cut(&parts, &range).into_iter().flat_map(|(_, r)| r).collect();
            prop_assert_eq!(found, wanted);
            for (number, _) in &parts {
                let range = part_range(&parts, *number).unwrap();
                let of: Vec<_> = whole.iter().map(|(n, _)| n).collect();
                prop_assert!(range.clone().all(|i| of[i as usize] == number));
                prop_assert_eq!(of.iter().filter(|n| **n == number).count() as u64, range.end - range.start);
            }
        }
    }
}
