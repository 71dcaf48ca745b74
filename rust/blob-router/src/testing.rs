//! A store of chunks in memory, that fails on demand: for tests of what is built on the router.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use afterbay_blob_format::{BlobId, ChecksumTable, PartitionId, Properties};
use afterbay_blob_store::{Clock, Durability, FileRange, Put, SystemClock};
use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::Semaphore;

use crate::error::{Error, Result};
use crate::options::RouterOptions;
use crate::router::Router;
use crate::store::{Chunk, ChunkStore, Include};

/// A router over a store in memory.
pub fn in_memory() -> Arc<Router> {
    let store = Arc::new(MemoryStore::default());
    match Router::new(store, RouterOptions::default()) {
        Ok(router) => Arc::new(router),
        Err(_) => unreachable!("the defaults are allowed"),
    }
}

/// What a store in memory is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Request {
    /// [`ChunkStore::put`].
    Put,
    /// [`ChunkStore::open`].
    Open,
    /// [`ChunkStore::delete`].
    Delete,
    /// [`ChunkStore::undelete`].
    Undelete,
    /// [`ChunkStore::update_ttl`].
    UpdateTtl,
}

type Fault = Box<dyn Fn(Request, BlobId) -> Option<Error> + Send>;

/// Which request waits, and for what.
type Held = (Request, BlobId, Arc<Semaphore>);

/// Keeps chunks in memory, in two partitions.
#[derive(Default)]
pub struct MemoryStore {
    chunks: Mutex<BTreeMap<BlobId, MemoryChunk>>,
    fault: Mutex<Option<Fault>>,
    held: Mutex<Option<Held>>,
    placed: AtomicU64,
    compacted: AtomicU64,
}

impl std::fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryStore").field("chunks", &self.lock().len()).finish()
    }
}

#[derive(Debug, Clone)]
struct MemoryChunk {
    put: Put,
    checksums: ChecksumTable,
    created_ms: u64,
    expires_ms: u64,
    deleted: bool,
    durability: Durability,
}

impl MemoryStore {
    /// From now on, requests for which `fault` has an error fail with it.
    pub fn fail(&self, fault: impl Fn(Request, BlobId) -> Option<Error> + Send + 'static) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(fault));
    }

    /// Nothing fails any more.
    pub fn heal(&self) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The next such request for the chunk waits until the semaphore is closed.
    pub fn hold(&self, request: Request, id: BlobId) -> Arc<Semaphore> {
        let until = Arc::new(Semaphore::new(0));
        *self.held() = Some((request, id, until.clone()));
        until
    }

    /// Chunks that are neither deleted nor expired.
    pub fn alive(&self) -> Vec<BlobId> {
        let now_ms = SystemClock.now_ms();
        let alive = |chunk: &&MemoryChunk| !chunk.deleted && !chunk.is_expired(now_ms);
        self.lock().values().filter(alive).map(|chunk| chunk.put.id).collect()
    }

    /// How a chunk was acknowledged, and when it expires.
    pub fn stored(&self, id: BlobId) -> Option<(Durability, u64)> {
        self.lock().get(&id).map(|chunk| (chunk.durability, chunk.expires_ms))
    }

    /// Forgets deleted and expired chunks. How many there were.
    pub fn compact(&self) -> u64 {
        let now_ms = SystemClock.now_ms();
        let mut chunks = self.lock();
        let before = chunks.len();
        chunks.retain(|_, chunk| !chunk.deleted && !chunk.is_expired(now_ms));
        let gone = (before - chunks.len()) as u64;
        self.compacted.fetch_add(gone, Ordering::Relaxed);
        gone
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<BlobId, MemoryChunk>> {
        self.chunks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn held(&self) -> MutexGuard<'_, Option<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask(&self, request: Request, id: BlobId) -> Result<()> {
        // As a real store, it lets other tasks go on.
        tokio::task::yield_now().await;
        let held = self.held().take_if(|held| (held.0, held.1) == (request, id));
        if let Some((_, _, until)) = held {
            // It is closed, and gives no permits.
            let _ = until.acquire().await;
        }
        let fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        fault.as_ref().and_then(|fault| fault(request, id)).map_or(Ok(()), Err)
    }

    fn change<T>(
        &self,
        id: BlobId,
        change: impl FnOnce(&mut MemoryChunk) -> Result<T>,
    ) -> Result<T> {
        change(self.lock().get_mut(&id).ok_or(Error::NotFound(id))?)
    }
}

impl MemoryChunk {
    fn is_expired(&self, now_ms: u64) -> bool {
        self.expires_ms != 0 && self.expires_ms <= now_ms
    }

    fn check_alive(&self) -> Result<()> {
        if self.deleted {
            Err(Error::Deleted(self.put.id))
        } else if self.is_expired(SystemClock.now_ms()) {
            Err(Error::Expired(self.put.id))
        } else {
            Ok(())
        }
    }
}

#[async_trait]
impl ChunkStore for MemoryStore {
    async fn place(&self, _bytes: u64, but: &[PartitionId]) -> Result<BlobId> {
        let first = self.placed.fetch_add(1, Ordering::Relaxed) % 2;
        let partition = [first, 1 - first]
            .into_iter()
            .map(|n| PartitionId(n + 1))
            .find(|partition| !but.contains(partition));
        partition.map(BlobId::random).ok_or_else(|| Error::OutOfSpace {
            place: "memory".to_owned(),
            reason: "no partition is left".to_owned(),
        })
    }

    async fn put(&self, put: Put, durability: Durability) -> Result<()> {
        self.ask(Request::Put, put.id).await?;
        let chunk = MemoryChunk {
            checksums: ChecksumTable::of(&put.body),
            created_ms: SystemClock.now_ms(),
            expires_ms: put.expires_ms,
            deleted: false,
            durability,
            put,
        };
        let mut chunks = self.lock();
        match chunks.get(&chunk.put.id) {
            Some(other) if other.put != chunk.put => Err(Error::Collision(chunk.put.id)),
            Some(_) => Ok(()),
            None => {
                chunks.insert(chunk.put.id, chunk);
                Ok(())
            }
        }
    }

    async fn open(&self, id: BlobId, include: Include) -> Result<Arc<dyn Chunk>> {
        self.ask(Request::Open, id).await?;
        let chunk = self.lock().get(&id).cloned().ok_or(Error::NotFound(id))?;
        if include == Include::Alive {
            chunk.check_alive()?;
        }
        Ok(Arc::new(chunk))
    }

    async fn delete(&self, id: BlobId, _durability: Durability) -> Result<()> {
        self.ask(Request::Delete, id).await?;
        self.change(id, |chunk| {
            chunk.deleted = true;
            Ok(())
        })
    }

    async fn undelete(&self, id: BlobId, _durability: Durability) -> Result<()> {
        self.ask(Request::Undelete, id).await?;
        self.change(id, |chunk| {
            if chunk.is_expired(SystemClock.now_ms()) {
                return Err(Error::Expired(id));
            }
            match std::mem::replace(&mut chunk.deleted, false) {
                true => Ok(()),
                false => Err(Error::NotDeleted(id)),
            }
        })
    }

    async fn update_ttl(&self, id: BlobId, expires_ms: u64, _durability: Durability) -> Result<()> {
        self.ask(Request::UpdateTtl, id).await?;
        self.change(id, |chunk| {
            chunk.check_alive()?;
            chunk.expires_ms = expires_ms;
            Ok(())
        })
    }
}

#[async_trait]
impl Chunk for MemoryChunk {
    fn body_bytes(&self) -> u32 {
        self.put.body.len() as u32
    }

    fn created_ms(&self) -> u64 {
        self.created_ms
    }

    fn expires_ms(&self) -> u64 {
        self.expires_ms
    }

    fn is_deleted(&self) -> bool {
        self.deleted
    }

    fn container(&self) -> u32 {
        self.put.container
    }

    fn properties(&self) -> &Properties {
        &self.put.properties
    }

    fn checksums(&self) -> &ChecksumTable {
        &self.checksums
    }

    async fn read(&self, range: Range<u32>) -> Result<Bytes> {
        tokio::task::yield_now().await;
        let end = (range.end as usize).min(self.put.body.len());
        let begin = (range.start as usize).min(end);
        Ok(self.put.body.slice(begin..end))
    }

    fn file(&self) -> Option<FileRange<'_>> {
        None
    }
}
