//! The router: blobs over a store of chunks.

use std::sync::Arc;

use afterbay_blob_format::BlobId;
use async_trait::async_trait;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::composite::OpenBlob;
use crate::error::{Error, Result};
use crate::options::RouterOptions;
use crate::service::{
    BlobInfo, BlobService, ByteRange, GetBlob, PutBlob, PutOptions, SourceStream,
};
use crate::store::{ChunkStore, Include};
use crate::turns::Turns;
use crate::{get, lifecycle, put};

/// Memory is counted in units of so many bytes.
const MEMORY_UNIT_BYTES: u64 = 4096;

/// Keeps blobs of any length in a store of chunks. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Router {
    pub(crate) store: Arc<dyn ChunkStore>,
    /// Takes the chunks and lists of blobs of several chunks.
    pub(crate) long_store: Arc<dyn ChunkStore>,
    pub(crate) options: Arc<RouterOptions>,
    /// Of the changes of blobs, of all routers over the same store.
    pub(crate) turns: Turns,
    memory: Arc<Semaphore>,
}

impl Router {
    /// A router over `store`. An error names the option that cannot be as it is.
    pub fn new(store: Arc<dyn ChunkStore>, options: RouterOptions) -> Result<Self> {
        options.check()?;
        let units = options.memory_bytes.div_ceil(MEMORY_UNIT_BYTES);
        let units = usize::try_from(units).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
        let long_store = store.clone();
        let (options, memory) = (Arc::new(options), Arc::new(Semaphore::new(units)));
        Ok(Router { store, long_store, options, turns: Turns::default(), memory })
    }

    /// A router with the same settings, the same budget of memory and the same turns of changes over another store: one that does more than `self`'s,
    /// such as writing down which chunks are under way.
    pub fn over(&self, store: Arc<dyn ChunkStore>) -> Self {
        Router { long_store: store.clone(), store, ..self.clone() }
    }

    /// The same, for puts of blobs of several chunks alone: only they can leave something behind that nobody knows of.
    /// Everything else goes to `self`'s store, which must be the one below `store`.
    pub fn long_blobs_over(&self, store: Arc<dyn ChunkStore>) -> Self {
        Router { long_store: store, ..self.clone() }
    }

    /// Opens a blob without reading its content: where its chunks are, for a server that sends them by itself.
    pub async fn open(&self, id: BlobId) -> Result<OpenBlob> {
        OpenBlob::open(&*self.store, id, Include::Alive).await
    }

    /// The store below.
    pub fn store(&self) -> &Arc<dyn ChunkStore> {
        &self.store
    }

    /// Waits until there is memory for `bytes`, and holds it as long as the permit lives.
    pub(crate) async fn memory(&self, bytes: u64) -> Result<OwnedSemaphorePermit> {
        let units = u32::try_from(bytes.div_ceil(MEMORY_UNIT_BYTES)).unwrap_or(u32::MAX);
        let permit = self.memory.clone().acquire_many_owned(units);
        match tokio::time::timeout(self.options.memory_wait, permit).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(Error::Unavailable {
                place: "router".to_owned(),
                reason: format!(
                    "no memory for another {bytes} bytes: other requests hold all of {}; try again, or raise the limit ('serve --memory')",
                    self.options.memory_bytes
                ),
            }),
        }
    }

    /// Bytes of memory that no request holds.
    pub fn memory_free_bytes(&self) -> u64 {
        self.memory.available_permits() as u64 * MEMORY_UNIT_BYTES
    }
}

#[async_trait]
impl BlobService for Router {
    async fn put(&self, content: SourceStream, options: PutOptions) -> Result<PutBlob> {
        put::put(self, content, options).await
    }

    async fn get(&self, id: BlobId, range: Option<ByteRange>) -> Result<GetBlob> {
        get::get(self, id, range).await
    }

    async fn stat(&self, id: BlobId) -> Result<BlobInfo> {
        Ok(self.open(id).await?.into_info())
    }

    async fn delete(&self, id: BlobId) -> Result<()> {
        lifecycle::delete(self, id).await
    }

    async fn undelete(&self, id: BlobId) -> Result<()> {
        lifecycle::undelete(self, id).await
    }

    async fn update_ttl(&self, id: BlobId, expires_ms: Option<u64>) -> Result<()> {
        lifecycle::update_ttl(self, id, expires_ms.unwrap_or(0)).await
    }
}
