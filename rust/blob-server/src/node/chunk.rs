//! A chunk that is open for reading on this node.

use std::ops::Range;
use std::sync::Arc;

use afterbay_blob_router::{Chunk, Error, Result};
use afterbay_blob_store::{BlobReader, FileRange, Properties};
use async_trait::async_trait;
use bytes::Bytes;

use super::error::of_store;

/// A body that is no longer is read with its head: one trip to another thread instead of two.
const READ_AT_ONCE_BYTES: u32 = 32 << 10;
/// So much is read and verified without a trip to another thread, if it is in memory. It takes less than such a trip.
const READ_CACHED_BYTES: usize = 512 << 10;

#[derive(Debug)]
pub(crate) struct NodeChunk {
    reader: Arc<BlobReader>,
    properties: Properties,
    deleted: bool,
    body: Option<Bytes>,
    place: Arc<str>,
}

impl NodeChunk {
    /// Blocks.
    pub(crate) fn open(reader: BlobReader, deleted: bool, place: Arc<str>) -> Result<Self> {
        let failed = |error| of_store(&place, error);
        let properties = reader.properties().map_err(failed)?;
        let at_once = reader.body_bytes() <= READ_AT_ONCE_BYTES;
        let body = if at_once { Some(reader.read().map_err(failed)?) } else { None };
        Ok(NodeChunk { reader: Arc::new(reader), properties, deleted, body, place })
    }

    /// The same without waiting for the disk; `None` if it cannot be done so.
    pub(crate) fn open_cached(reader: BlobReader, deleted: bool, place: &str) -> Option<Self> {
        let properties = reader.properties().ok()?;
        let length = reader.body_bytes();
        let body = match length {
            0..=READ_AT_ONCE_BYTES => Some(reader.read_range_cached(0..length)?),
            _ => None,
        };
        Some(NodeChunk { reader: Arc::new(reader), properties, deleted, body, place: place.into() })
    }
}

#[async_trait]
impl Chunk for NodeChunk {
    fn body_bytes(&self) -> u32 {
        self.reader.body_bytes()
    }

    fn created_ms(&self) -> u64 {
        self.reader.created_ms()
    }

    fn expires_ms(&self) -> u64 {
        self.reader.expires_ms()
    }

    fn is_deleted(&self) -> bool {
        self.deleted
    }

    fn container(&self) -> u32 {
        self.reader.container()
    }

    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn checksums(&self) -> &afterbay_blob_router::ChecksumTable {
        self.reader.checksums()
    }

    async fn read(&self, range: Range<u32>) -> Result<Bytes> {
        if let Some(body) = &self.body {
            let end = (range.end as usize).min(body.len());
            return Ok(body.slice((range.start as usize).min(end)..end));
        }
        if range.len() <= READ_CACHED_BYTES
            && let Some(bytes) = self.reader.read_range_cached(range.clone())
        {
            return Ok(bytes);
        }
        let (reader, place) = (self.reader.clone(), self.place.clone());
        blocking(move || reader.read_range(range).map_err(|e| of_store(&place, e))).await
    }

    fn file(&self) -> Option<FileRange<'_>> {
        // A simulated disk has none.
        Some(self.reader.body_range()).filter(|range| range.file.is_some())
    }
}

/// Runs work that waits for the disk on a thread for such work.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        let reason = format!("a thread for disk work ended: {error}; try again");
        Err(Error::Unavailable { place: "node".to_owned(), reason })
    })
}
