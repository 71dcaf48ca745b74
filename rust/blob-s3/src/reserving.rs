//! A store whose ids are reserved in the names before anything is written under them.
//!
//! The router asks the store below for an id of each chunk and of each blob; here is where a crash between a blob and its
//! name is made harmless. Of a blob of several chunks the metadata blob is stored last: from then on its chunks go with
//! it (`adopt`), before they are reserved each.

use std::sync::Arc;

use afterbay_blob_format::{COMPOSITE_PROPERTY, ChunkList};
use afterbay_blob_meta::{BlobDeleter, NamesError, Reservations};
use afterbay_blob_router::{
    BlobId, BlobService, Chunk, ChunkStore, Durability, Error, Include, PartitionId, PropertyClass,
    Put, Result,
};
use async_trait::async_trait;

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
        if let Err(error) = self.reservations.adopt(kept).await {
            // The put has failed, and its chunks go: their list must not stay.
            if let Err(error) = self.store.delete(id, durability).await {
                tracing::warn!(%id, %error, "the list of a blob that was not stored stays until the next start");
            }
            return Err(unavailable(error));
        }
        Ok(())
    }
}

fn unavailable(error: NamesError) -> Error {
    Error::Unavailable { place: "name index".to_owned(), reason: error.to_string() }
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
#[derive(Debug)]
pub struct StoreDeleter {
    blobs: Arc<dyn BlobService>,
    store: Arc<dyn ChunkStore>,
}

impl StoreDeleter {
    /// `blobs` is a service over `store`.
    pub fn new(blobs: Arc<dyn BlobService>, store: Arc<dyn ChunkStore>) -> Self {
        StoreDeleter { blobs, store }
    }
}

#[async_trait]
impl BlobDeleter for StoreDeleter {
    async fn delete(&self, id: BlobId) -> std::result::Result<(), String> {
        match self.blobs.delete(id).await {
            Ok(()) | Err(Error::Deleted(_) | Error::Expired(_)) => Ok(()),
            // A chunk is no blob of its own; or it was never written.
            Err(Error::NotFound(_)) => match self.store.delete(id, Durability::Durable).await {
                Ok(()) | Err(Error::NotFound(_) | Error::Deleted(_) | Error::Expired(_)) => Ok(()),
                Err(error) => Err(error.to_string()),
            },
            Err(error) => Err(error.to_string()),
        }
    }
}
