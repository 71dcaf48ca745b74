//! Gets: pieces of the chunks are read ahead, in a window that slides over the borders of chunks.

use std::ops::Range;
use std::sync::Arc;

use afterbay_blob_format::BlobId;
use bytes::Bytes;
use futures_util::stream;
use futures_util::{StreamExt, TryStreamExt};
use tokio::sync::{OnceCell, OwnedSemaphorePermit};

use crate::composite::ChunkPart;
use crate::error::{Error, Result};
use crate::router::Router;
use crate::service::{BlobStream, ByteRange, GetBlob};
use crate::store::{Chunk, Include};

pub(crate) async fn get(router: &Router, id: BlobId, range: Option<ByteRange>) -> Result<GetBlob> {
    let blob = router.open(id).await?;
    let range = blob.resolve(range)?;
    let parts = blob.parts(&range);
    let content = content(router.clone(), id, parts);
    Ok(GetBlob { info: blob.into_info(), range, content })
}

fn content(router: Router, blob: BlobId, parts: Vec<ChunkPart>) -> BlobStream {
    let (piece_bytes, window) = (router.options.piece_bytes, router.options.get_window);
    let pieces = parts.into_iter().flat_map(move |part| {
        let chunk = Arc::new(Shared::new(blob, &part));
        cut(part.range, piece_bytes).map(move |range| (chunk.clone(), range))
    });
    stream::iter(pieces)
        .map(move |(chunk, range)| {
            let router = router.clone();
            async move { read(&router, &chunk, range).await }
        })
        .buffered(window)
        .try_filter(|piece| std::future::ready(!piece.is_empty()))
        .boxed()
}

fn cut(range: Range<u32>, piece_bytes: u32) -> impl Iterator<Item = Range<u32>> {
    let end = range.end;
    let begins = range.step_by(piece_bytes as usize);
    begins.map(move |begin| begin..begin.saturating_add(piece_bytes).min(end))
}

/// A chunk that is opened by the first of its pieces.
struct Shared {
    blob: BlobId,
    id: BlobId,
    open: OnceCell<Arc<dyn Chunk>>,
}

impl Shared {
    fn new(blob: BlobId, part: &ChunkPart) -> Self {
        Shared { blob, id: part.id, open: OnceCell::new_with(part.chunk.clone()) }
    }

    async fn open(&self, router: &Router) -> Result<&Arc<dyn Chunk>> {
        // Whether the blob is alive was asked before: a get that has begun goes on.
        let open = || router.store.open(self.id, Include::All);
        self.open.get_or_try_init(open).await.map_err(|error| match error {
            Error::NotFound(chunk) | Error::Lost(chunk) => Error::Damaged {
                place: format!("blob {}", self.blob),
                reason: format!("its chunk {chunk} is not there any more"),
            },
            other => other,
        })
    }
}

async fn read(router: &Router, chunk: &Shared, range: Range<u32>) -> Result<Bytes> {
    let expected = range.len();
    let memory = router.memory(expected as u64).await?;
    let bytes = chunk.open(router).await?.read(range).await?;
    if bytes.len() != expected {
        let reason = format!("has {} bytes where {expected} are listed", bytes.len());
        return Err(Error::Damaged { place: format!("chunk {}", chunk.id), reason });
    }
    Ok(Bytes::from_owner(Held { bytes, _memory: memory }))
}

/// Bytes that count as memory of the router until nobody has them any more.
struct Held {
    bytes: Bytes,
    _memory: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_range() {
        assert_eq!(cut(3..10, 3).collect::<Vec<_>>(), [3..6, 6..9, 9..10]);
        assert_eq!(cut(3..3, 3).count(), 0);
        let last = u32::MAX - 1;
        assert_eq!(cut(last..u32::MAX, 3).last(), Some(last..u32::MAX));
    }
}
