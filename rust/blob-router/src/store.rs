//! What the router is built on: stores of chunks.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use afterbay_blob_format::{BlobId, ChecksumTable, PartitionId, Properties};
use afterbay_blob_store::{Durability, FileRange, Policy, Put};
use async_trait::async_trait;
use bytes::Bytes;

use crate::error::{Error, Result};

/// Keeps chunks: blobs that are one record each. A datanode is one; a node of a cluster is one too, which sends each request to
/// the replicas of the chunk's partition and waits for a quorum of them.
///
/// Futures may be dropped: what was begun may then happen or not.
#[async_trait]
pub trait ChunkStore: Send + Sync + Debug {
    /// A new id that nobody else gets, in a partition that has room for `bytes` and is none of `but`.
    /// [`crate::Error::OutOfSpace`] if there is none.
    async fn place(&self, bytes: u64, but: &[PartitionId]) -> Result<BlobId>;

    /// Stores a chunk. The same chunk again is no error, unless it says that its id is fresh: then it comes once.
    ///
    /// [`crate::Error::ReadOnly`], [`crate::Error::OutOfSpace`] and [`crate::Error::Collision`] say that nothing of it was
    /// written; behind any other error it may be there, now or when its partition is opened again.
    async fn put(&self, put: Put, durability: Durability) -> Result<()>;

    /// The same, when so many replicas have acknowledged; `None`: as many as the store says. A store of one replica each refuses
    /// what one cannot do, by [`crate::Error::Invalid`].
    async fn put_acked(
        &self,
        put: Put,
        durability: Durability,
        acks: Option<Policy>,
    ) -> Result<()> {
        match acks {
            Some(acks) if acks.acknowledgements(1) > 1 => Err(Error::Invalid(format!(
                "{acks} acknowledgements: this server has one replica of each blob; leave that out, or say 'all'"
            ))),
            _ => self.put(put, durability).await,
        }
    }

    /// Opens a chunk for reading. A store that has it on another machine begins to fetch it.
    async fn open(&self, id: BlobId, include: Include) -> Result<Arc<dyn Chunk>>;

    /// Deletes a chunk. One that is deleted already is no error.
    async fn delete(&self, id: BlobId, durability: Durability) -> Result<()>;

    /// Takes back a delete.
    async fn undelete(&self, id: BlobId, durability: Durability) -> Result<()>;

    /// Lets a chunk expire at another time, in milliseconds since 1970; 0 is never.
    async fn update_ttl(&self, id: BlobId, expires_ms: u64, durability: Durability) -> Result<()>;
}

/// Which chunks can be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Include {
    /// Those that are neither deleted nor expired.
    Alive,
    /// All that are not compacted away.
    All,
}

/// A chunk that is open: its bytes stay as long as this lives, whatever is deleted or compacted meanwhile.
#[async_trait]
pub trait Chunk: Send + Sync + Debug {
    /// Bytes of the body.
    fn body_bytes(&self) -> u32;

    /// When it was put, in milliseconds since 1970.
    fn created_ms(&self) -> u64;

    /// From when on it is expired, in milliseconds since 1970; 0 is never.
    fn expires_ms(&self) -> u64;

    /// Whether it is deleted. Only of chunks that were opened with [`Include::All`].
    fn is_deleted(&self) -> bool;

    /// The container it belongs to.
    fn container(&self) -> u32;

    /// The properties.
    fn properties(&self) -> &Properties;

    /// The checksums of the body's blocks.
    fn checksums(&self) -> &ChecksumTable;

    /// A part of the body, verified; what is behind the end is left out.
    async fn read(&self, range: Range<u32>) -> Result<Bytes>;

    /// Where the body is, for `sendfile`: not verified, so that the checksums must go with it. `None` if it is in no file
    /// of this machine.
    fn file(&self) -> Option<FileRange<'_>>;
}
