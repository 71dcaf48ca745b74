//! Deletes, undeletes and times to live: the metadata blob and its chunks change in the order that never leaves the
//! metadata blob alive without its chunks.
//!
//! That holds for one change at a time: changes of the same blob come one after the other ([`in_turn`]).

use afterbay_blob_format::{BlobId, ChunkRef};
use futures_util::future::BoxFuture;
use futures_util::stream;
use futures_util::{FutureExt, StreamExt};

use crate::composite::OpenBlob;
use crate::error::{Error, Result};
use crate::router::Router;
use crate::store::Include;
use crate::turns::Turns;

/// How many chunks of a blob are changed at once.
const WINDOW: usize = 16;

pub(crate) async fn delete(router: &Router, id: BlobId) -> Result<()> {
    in_turn(&router.turns, id, delete_alone(router.clone(), id)).await
}

pub(crate) async fn undelete(router: &Router, id: BlobId) -> Result<()> {
    in_turn(&router.turns, id, undelete_alone(router.clone(), id)).await
}

pub(crate) async fn update_ttl(router: &Router, id: BlobId, expires_ms: u64) -> Result<()> {
    in_turn(&router.turns, id, update_ttl_alone(router.clone(), id, expires_ms)).await
}

/// Makes a change when no other one of the blob is under way, in a task of its own: a caller that goes away leaves neither half a
/// change nor one that happens beside the next one.
async fn in_turn(
    turns: &Turns,
    id: BlobId,
    change: impl Future<Output = Result<()>> + Send + 'static,
) -> Result<()> {
    let turn = turns.of(id);
    let ended = tokio::spawn(async move {
        let _turn = turn.lock().await;
        change.await
    });
    ended.await.unwrap_or_else(|error| {
        let reason = format!("its change ended by itself: {error}; try again");
        Err(Error::Unavailable { place: format!("blob {id}"), reason })
    })
}

/// The metadata blob first: from then on nobody finds the chunks. An error behind it says that chunks stay; another delete
/// tries all of them again.
async fn delete_alone(router: Router, id: BlobId) -> Result<()> {
    let blob = OpenBlob::open(&*router.store, id, Include::All).await?;
    let durability = router.options.durability_of(blob.info().container, None);
    router.store.delete(id, durability).await?;
    let delete = |chunk| router.store.delete(chunk, durability).boxed();
    for_all(blob.chunks(), delete).await.inspect_err(|error| {
        tracing::warn!(%id, %error, "a chunk of a deleted blob stays");
    })
}

/// The chunks first: one that is compacted away must be known before the blob is alive.
async fn undelete_alone(router: Router, id: BlobId) -> Result<()> {
    let blob = OpenBlob::open(&*router.store, id, Include::All).await?;
    if !blob.is_deleted() {
        return Err(Error::NotDeleted(id));
    }
    let durability = router.options.durability_of(blob.info().container, None);
    let undeleted = for_all(blob.chunks(), |chunk| {
        let store = &router.store;
        async move {
            match store.undelete(chunk, durability).await {
                // Its delete did not come so far, or an undelete that failed did.
                Err(Error::NotDeleted(_)) => Ok(()),
                other => other,
            }
        }
        .boxed()
    })
    .await;
    if let Err(error) = undeleted {
        let chunks = blob.chunks();
        let again = for_all(chunks, |chunk| router.store.delete(chunk, durability).boxed()).await;
        if let Err(error) = again {
            tracing::warn!(%id, %error, "a chunk of a deleted blob stays");
        }
        return Err(match error {
            Error::NotFound(_) | Error::Lost(_) => Error::NotFound(id),
            other => other,
        });
    }
    router.store.undelete(id, durability).await
}

/// A chunk expires no earlier than its metadata blob.
async fn update_ttl_alone(router: Router, id: BlobId, expires_ms: u64) -> Result<()> {
    let blob = router.open(id).await?;
    let durability = router.options.durability_of(blob.info().container, None);
    let chunks = blob.chunks();
    let update = |chunk| router.store.update_ttl(chunk, expires_ms, durability).boxed();
    let until = |ms: u64| if ms == 0 { u64::MAX } else { ms };
    if until(expires_ms) >= blob.info().expires_ms.map_or(u64::MAX, until) {
        for_all(chunks, update).await?;
        router.store.update_ttl(id, expires_ms, durability).await
    } else {
        router.store.update_ttl(id, expires_ms, durability).await?;
        if let Err(error) = for_all(chunks, update).await {
            tracing::warn!(%id, %error, "a chunk stays longer than its blob");
        }
        Ok(())
    }
}

/// Does the same to all chunks, and tries all of them whatever the first one says.
async fn for_all<'a>(
    chunks: &[ChunkRef],
    work: impl Fn(BlobId) -> BoxFuture<'a, Result<()>>,
) -> Result<()> {
    // No future does anything before it is polled.
    let all: Vec<_> = chunks.iter().map(|chunk| work(chunk.id)).collect();
    let done: Vec<Result<()>> = stream::iter(all).buffer_unordered(WINDOW).collect().await;
    done.into_iter().collect()
}
