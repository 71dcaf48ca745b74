//! A store whose ids are reserved in the names before anything is written under them.
//!
//! The router asks the store below for an id of each chunk and of each blob; here is where a crash between a blob and its
//! name is made harmless. Of a blob of several chunks the metadata blob is stored last: from then on its chunks go with
//! it (`adopt`), before they are reserved each.

use std::sync::Arc;

use afterbay_blob_format::{COMPOSITE_PROPERTY, ChunkList, FormatError};
use afterbay_blob_meta::{BlobDeleter, NamesError, Reservations};
use afterbay_blob_router::{
    BlobId, Chunk, ChunkStore, Durability, Error, Include, PartitionId, PropertyClass, Put, Result,
};
use async_trait::async_trait;
use futures_util::{StreamExt, stream};

/// Wraps the store that a router for named blobs is built on.
#[derive(Debug)]
pub struct ReservingStore {
    store: Arc<dyn ChunkStore>,
    reservations: Reservations,
    named: bool,
}

impl ReservingStore {
    /// Ids come from `reservations`, everything else goes to `store`. Blobs stay reserved until they are named.
    pub fn new(store: Arc<dyn ChunkStore>, reservations: Reservations) -> Self {
        ReservingStore { store, reservations, named: true }
    }

    /// The same for blobs of several chunks that get no name: once its list of chunks is stored, such a blob stays. Blobs of
    /// one chunk must not be put here: they would be garbage.
    pub fn unnamed(store: Arc<dyn ChunkStore>, reservations: Reservations) -> Self {
        ReservingStore { store, reservations, named: false }
    }

    async fn put_adopting(&self, put: Put, durability: Durability) -> Result<()> {
        let composite = put.properties.get(PropertyClass::System, COMPOSITE_PROPERTY).is_some();
        let list = composite.then(|| ChunkList::parse(&put.body)).transpose();
        let list = list.map_err(|e| Error::Invalid(e.to_string()))?;
        let id = put.id;
        self.store.put(put, durability).await?;
        let Some(list) = list else { return Ok(()) };
        let mut kept: Vec<BlobId> = list.chunks.iter().map(|chunk| chunk.id).collect();
        if !self.named {
            // In the same transaction: either all of the blob stays, or nothing of it.
            kept.push(id);
        }
        let mut adopting = Adopting { store: &self.store, id, durability, done: false };
        self.reservations.adopt(kept).await.map_err(unavailable)?;
        adopting.done = true;
        Ok(())
    }
}

fn unavailable(error: NamesError) -> Error {
    Error::Unavailable { place: "name index".to_owned(), reason: error.to_string() }
}

/// A list that is stored and whose chunks do not go with it yet. If that fails, or nobody waits for it any more, the put has
/// failed and its chunks go: their list must not stay, though the names may know neither by now.
struct Adopting<'a> {
    store: &'a Arc<dyn ChunkStore>,
    id: BlobId,
    durability: Durability,
    done: bool,
}

impl Drop for Adopting<'_> {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        let (store, id, durability) = (self.store.clone(), self.id, self.durability);
        // Without a runtime the process is at its end.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Err(error) = store.delete(id, durability).await {
                    tracing::warn!(%id, %error, "the list of a blob that was not stored stays");
                }
            });
        }
    }
}

/// An id that is given up unless its chunk is stored.
struct Pending<'a> {
    reservations: &'a Reservations,
    id: BlobId,
    stored: bool,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if !self.stored && self.reservations.is_used(self.id) {
            self.reservations.give_up(vec![self.id]);
        }
    }
}

#[async_trait]
impl ChunkStore for ReservingStore {
    async fn place(&self, bytes: u64, but: &[PartitionId]) -> Result<BlobId> {
        let placed = self.store.place(bytes, but).await?;
        self.reservations.take(placed.partition).await.map_err(unavailable)
    }

    async fn put(&self, put: Put, durability: Durability) -> Result<()> {
        let id = put.id;
        let mut pending = Pending { reservations: &self.reservations, id, stored: false };
        self.put_adopting(put, durability).await?;
        pending.stored = true;
        Ok(())
    }

    async fn open(&self, id: BlobId, include: Include) -> Result<Arc<dyn Chunk>> {
        self.store.open(id, include).await
    }

    async fn delete(&self, id: BlobId, durability: Durability) -> Result<()> {
        if self.reservations.is_used(id) {
            // A chunk of a put that broke off. If this delete fails, the collector does it.
            self.reservations.give_up(vec![id]);
        }
        self.store.delete(id, durability).await
    }

    async fn undelete(&self, id: BlobId, durability: Durability) -> Result<()> {
        self.store.undelete(id, durability).await
    }

    async fn update_ttl(&self, id: BlobId, expires_ms: u64, durability: Durability) -> Result<()> {
        self.store.update_ttl(id, expires_ms, durability).await
    }
}

/// Deletes garbage: blobs with all their chunks, and chunks that belong to no blob.
///
/// The chunks first, other than for blobs that have an id which somebody knows: nobody reads these, and the metadata blob is
/// what says which chunks there are. Were it deleted first, and compacted away before a crash or an error let the chunks
/// be deleted, they would stay for ever.
#[derive(Debug)]
pub struct StoreDeleter {
    store: Arc<dyn ChunkStore>,
}

/// How many chunks of a blob are deleted at once.
const WINDOW: usize = 16;

impl StoreDeleter {
    /// Deletes from this store, the one below [`ReservingStore`].
    pub fn new(store: Arc<dyn ChunkStore>) -> Self {
        StoreDeleter { store }
    }

    /// What the blob lists, also if it is deleted.
    async fn chunks(&self, id: BlobId) -> Result<Vec<BlobId>> {
        let blob = match self.store.open(id, Include::All).await {
            Ok(blob) => blob,
            Err(error) if is_gone(&error) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        if blob.properties().get(PropertyClass::System, COMPOSITE_PROPERTY).is_none() {
            return Ok(Vec::new());
        }
        let list = ChunkList::parse(&blob.read(0..u32::MAX).await?);
        let damaged =
            |e: FormatError| Error::Damaged { place: id.to_string(), reason: e.to_string() };
        Ok(list.map_err(damaged)?.chunks.iter().map(|chunk| chunk.id).collect())
    }

    async fn delete_one(&self, id: BlobId) -> Result<()> {
        match self.store.delete(id, Durability::Durable).await {
            Err(error) if !is_gone(&error) => Err(error),
            _ => Ok(()),
        }
    }
}

/// Of a partition that is not here, nobody knows: what is to be deleted there has to wait.
fn is_gone(error: &Error) -> bool {
    matches!(error, Error::NotFound(_) | Error::Lost(_) | Error::Deleted(_) | Error::Expired(_))
}

#[async_trait]
impl BlobDeleter for StoreDeleter {
    async fn delete(&self, id: BlobId) -> std::result::Result<(), String> {
        let chunks = self.chunks(id).await.map_err(|e| e.to_string())?;
        let deleting = stream::iter(chunks).map(|chunk| self.delete_one(chunk));
        // All of them are tried, whatever the first one says.
        let done: Vec<Result<()>> = deleting.buffer_unordered(WINDOW).collect().await;
        done.into_iter().collect::<Result<()>>().map_err(|e| e.to_string())?;
        self.delete_one(id).await.map_err(|e| e.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Condvar, Mutex};
    use std::time::Duration;

    use afterbay_blob_meta::{RedbNames, RedbOptions};
    use afterbay_blob_router::testing::{MemoryStore, Request};
    use afterbay_blob_router::{BlobService, PutOptions, Router, RouterOptions, source};
    use afterbay_test_form::{PATIENCE, Wait};
    use bytes::Bytes;
    use redb::StorageBackend;
    use redb::backends::InMemoryBackend;

    use super::*;

    /// Memory whose syncs wait while it is held.
    #[derive(Debug, Default)]
    struct HeldMemory {
        memory: InMemoryBackend,
        hold: Arc<Hold>,
    }

    #[derive(Debug, Default)]
    struct Hold(Mutex<bool>, Condvar);

    impl Hold {
        fn set(&self, is_held: bool) {
            *self.0.lock().unwrap() = is_held;
            self.1.notify_all();
        }
    }

    impl StorageBackend for HeldMemory {
        fn len(&self) -> io::Result<u64> {
            self.memory.len()
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            self.memory.read(offset, out)
        }

        fn set_len(&self, len: u64) -> io::Result<()> {
            self.memory.set_len(len)
        }

        fn sync_data(&self) -> io::Result<()> {
            let held = self.hold.0.lock().unwrap();
            drop(self.hold.1.wait_timeout_while(held, PATIENCE, |is_held| *is_held).unwrap());
            self.memory.sync_data()
        }

        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            self.memory.write(offset, data)
        }
    }

    async fn stored() -> (Arc<MemoryStore>, BlobId) {
        let store = Arc::new(MemoryStore::default());
        let options = RouterOptions { chunk_bytes: 1 << 16, ..RouterOptions::default() };
        let router = Router::new(store.clone(), options).unwrap();
        let content = source(Bytes::from(vec![7; 300_000]));
        let id = router.put(content, PutOptions::default()).await.unwrap().id;
        assert_eq!(store.alive().len(), 6);
        (store, id)
    }

    #[tokio::test]
    async fn a_long_put_that_is_dropped_while_its_chunks_are_adopted_leaves_nothing() {
        let disk = HeldMemory::default();
        let hold = disk.hold.clone();
        let names = Arc::new(RedbNames::open_on(disk, &RedbOptions::default()).unwrap());
        let reservations = Reservations::begin(names, "local").await.unwrap();
        let store = Arc::new(MemoryStore::default());
        // The list is the sixth; the names take a commit for its chunks, which has to wait.
        let (puts, adopting) = (AtomicU64::new(0), hold.clone());
        store.fail(move |request, _| {
            if request == Request::Put && puts.fetch_add(1, Ordering::Relaxed) == 5 {
                adopting.set(true);
            }
            None
        });
        let unnamed = Arc::new(ReservingStore::unnamed(store.clone(), reservations));
        let options = RouterOptions { chunk_bytes: 1 << 16, ..RouterOptions::default() };
        let router = Router::new(store.clone(), options).unwrap().long_blobs_over(unnamed);
        let mut put = router.put(source(Bytes::from(vec![7; 300_000])), PutOptions::default());
        while store.alive().len() < 6 {
            tokio::select! {
                biased;
                put = &mut put => panic!("{put:?}"),
                () = tokio::task::yield_now() => {}
            }
        }
        drop(put);
        hold.set(false);
        let wait = Wait::until("nothing is left");
        while !store.alive().is_empty() {
            wait.check(store.alive());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    #[tokio::test]
    async fn chunks_that_cannot_be_deleted_now_are_deleted_later() {
        let (store, id) = stored().await;
        let deleter = StoreDeleter::new(store.clone());
        let fails = *store.alive().iter().find(|chunk| **chunk != id).unwrap();
        store.fail(move |request, asked| {
            let error = || Error::Unavailable { place: "disk".into(), reason: "no".into() };
            (request == Request::Delete && asked == fails).then(error)
        });
        deleter.delete(id).await.unwrap_err();
        // The undelete window is over before the disk is there again.
        store.compact();
        store.heal();
        deleter.delete(id).await.unwrap();
        assert_eq!(store.alive(), []);
        deleter.delete(id).await.unwrap();
    }

    /// "Not here" is no "deleted": another server may have it. What was on a disk that was given up is gone.
    #[tokio::test]
    async fn what_is_not_here_is_not_taken_for_deleted() {
        for lost in [false, true] {
            let (store, id) = stored().await;
            let deleter = StoreDeleter::new(store.clone());
            store.fail(move |_, asked| {
                let not_here = Error::NotHere { id: asked, reason: "not here".into() };
                let error = if lost { Error::Lost(asked) } else { not_here };
                (asked == id).then_some(error)
            });
            let deleted = deleter.delete(id).await;
            assert_eq!(deleted.is_ok(), lost, "{deleted:?}");
            store.heal();
            deleter.delete(id).await.unwrap();
            assert_eq!(store.alive(), []);
        }
    }

    #[tokio::test]
    async fn a_chunk_of_no_blob_is_deleted_too() {
        let (store, id) = stored().await;
        let deleter = StoreDeleter::new(store.clone());
        let chunk = *store.alive().iter().find(|chunk| **chunk != id).unwrap();
        deleter.delete(chunk).await.unwrap();
        assert!(!store.alive().contains(&chunk));
        assert_eq!(store.alive().len(), 5);
    }
}
