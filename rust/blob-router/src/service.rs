//! What clients see: blobs.

use std::fmt::Debug;
use std::ops::Range;

use afterbay_blob_format::{BlobId, Properties};
use afterbay_blob_store::{Durability, Policy};
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};

use crate::error::{Error, Result, SourceError};

/// The content of a blob on its way in.
pub type SourceStream = BoxStream<'static, std::result::Result<Bytes, SourceError>>;

/// The content of a blob on its way out, verified. It ends after the bytes that were asked for, or with an error.
pub type BlobStream = BoxStream<'static, Result<Bytes>>;

/// A stream of bytes that are there.
pub fn source(content: impl Into<Bytes>) -> SourceStream {
    let content = content.into();
    if content.is_empty() {
        return stream::empty().boxed();
    }
    stream::iter([Ok(content)]).boxed()
}

/// Keeps immutable blobs. All methods may be called by any number of tasks at once; a future that is dropped gives up,
/// and a put that gives up leaves nothing behind.
#[async_trait]
pub trait BlobService: Send + Sync + Debug {
    /// Stores the content of a stream as a new blob. When it returns, the blob is stored as
    /// [`PutOptions::durability`] says. After an error nothing is stored.
    async fn put(&self, content: SourceStream, options: PutOptions) -> Result<PutBlob>;

    /// A blob, or a range of it. [`Error::NotFound`], [`Error::Deleted`] and [`Error::Expired`] say why not;
    /// [`Error::Range`], that the range begins behind its end.
    async fn get(&self, id: BlobId, range: Option<ByteRange>) -> Result<GetBlob>;

    /// What is known about a blob besides its content.
    async fn stat(&self, id: BlobId) -> Result<BlobInfo>;

    /// Deletes a blob. It can be undeleted until it is compacted away. A blob that is deleted already is no error.
    /// After an error nobody may find the blob any more, while parts of it stay: delete it again.
    async fn delete(&self, id: BlobId) -> Result<()>;

    /// Takes back a delete. [`Error::NotFound`] if the blob, or a part of it, is compacted away.
    async fn undelete(&self, id: BlobId) -> Result<()>;

    /// Lets a blob expire at another time, in milliseconds since 1970; `None` is never.
    async fn update_ttl(&self, id: BlobId, expires_ms: Option<u64>) -> Result<()>;
}

/// How to store a blob.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PutOptions {
    /// Whose rights and durability class hold.
    pub container: u32,
    /// When to acknowledge; `None`: as the container says.
    pub durability: Option<Durability>,
    /// How many replicas have to acknowledge; `None`: as the server says.
    pub acks: Option<Policy>,
    /// A name will point to it, and names outlive a loss of power: stored at [`Durability::Durable`] at least.
    pub is_named: bool,
    /// From when on the blob is expired, in milliseconds since 1970; `None` is never.
    pub expires_ms: Option<u64>,
    /// How many bytes there are, if that is known: another number is [`Error::Length`].
    pub content_bytes: Option<u64>,
    /// More than so many bytes are [`Error::TooLarge`]; `None`: as many as the service keeps.
    pub content_bytes_max: Option<u64>,
    /// Given back as they are. Names of system properties that begin with `.` are the store's own and refused.
    pub properties: Properties,
}

/// A blob that was stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PutBlob {
    /// Its name.
    pub id: BlobId,
    /// Bytes of its content.
    pub content_bytes: u64,
    /// CRC32C of its content.
    pub crc32c: u32,
}

/// What is known about a blob besides its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobInfo {
    /// Its name.
    pub id: BlobId,
    /// Bytes of its content.
    pub content_bytes: u64,
    /// When it was put, in milliseconds since 1970.
    pub created_ms: u64,
    /// From when on it is expired; `None` is never.
    pub expires_ms: Option<u64>,
    /// The container it belongs to.
    pub container: u32,
    /// As they were put.
    pub properties: Properties,
}

/// A blob that is being read.
pub struct GetBlob {
    /// What is known about all of it.
    pub info: BlobInfo,
    /// Which bytes `content` has.
    pub range: Range<u64>,
    /// The bytes.
    pub content: BlobStream,
}

impl Debug for GetBlob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GetBlob").field("info", &self.info).field("range", &self.range).finish()
    }
}

impl GetBlob {
    /// All bytes, in memory.
    pub async fn read(mut self) -> Result<Bytes> {
        let mut all = Vec::new();
        while let Some(piece) = self.content.next().await {
            all.extend_from_slice(&piece?);
        }
        Ok(all.into())
    }
}

/// Which bytes of a blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteRange {
    /// From this byte on.
    From(u64),
    /// From the first to the last one, both included; what is behind the end of the blob is left out.
    Inclusive(u64, u64),
    /// The last so many.
    Last(u64),
}

impl ByteRange {
    /// The bytes of a blob of `length` bytes; `None` if there are none in it.
    pub fn of(self, length: u64) -> Option<Range<u64>> {
        let range = match self {
            ByteRange::From(first) => first..length,
            ByteRange::Inclusive(first, last) => first..last.saturating_add(1).min(length),
            ByteRange::Last(count) => length.saturating_sub(count)..length,
        };
        (range.start < range.end).then_some(range)
    }
}

/// The bytes that were asked for.
pub(crate) fn resolve(id: BlobId, length: u64, range: Option<ByteRange>) -> Result<Range<u64>> {
    match range {
        None => Ok(0..length),
        Some(range) => range.of(length).ok_or(Error::Range { id, length }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        assert_eq!(ByteRange::From(3).of(10), Some(3..10));
        assert_eq!(ByteRange::From(10).of(10), None);
        assert_eq!(ByteRange::Inclusive(3, 4).of(10), Some(3..5));
        assert_eq!(ByteRange::Inclusive(3, u64::MAX).of(10), Some(3..10));
        assert_eq!(ByteRange::Inclusive(4, 3).of(10), None);
        assert_eq!(ByteRange::Last(3).of(10), Some(7..10));
        assert_eq!(ByteRange::Last(11).of(10), Some(0..10));
        assert_eq!(ByteRange::Last(0).of(10), None);
        assert_eq!(ByteRange::Last(1).of(0), None);
    }
}
