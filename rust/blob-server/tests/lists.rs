//! A list of chunks whose partition failed while it was written, and that comes to light when the partition is opened again.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use afterbay_blob_format::{COMPOSITE_PROPERTY, ChunkList};
use afterbay_blob_meta::{
    Collector, CollectorOptions, Names, RedbNames, RedbOptions, Reservations,
};
use afterbay_blob_router::{
    BlobId, BlobService, Chunk, ChunkStore, Durability, Error, Include, PartitionId, PropertyClass,
    Put, PutOptions, Result, Router, RouterOptions, source,
};
use afterbay_blob_s3::{ReservingStore, StoreDeleter};
use afterbay_blob_server::node::{Datanode, NodeOptions, PartitionState, Volume};
use afterbay_blob_store::SyncPoint;
use afterbay_blob_store::sim::{Fault, SimDisk};
use afterbay_test_form::Wait;
use async_trait::async_trait;

use crate::common::{SimVolume, content};

const CHUNK: usize = 16 << 10;

/// The first list that is put into it meets a sync that fails, after its record was written.
#[derive(Debug)]
struct FailingList {
    node: Datanode,
    volume: Arc<SimVolume>,
    failed: AtomicBool,
}

#[async_trait]
impl ChunkStore for FailingList {
    async fn place(&self, bytes: u64, but: &[PartitionId]) -> Result<BlobId> {
        self.node.place(bytes, but).await
    }

    async fn put(&self, put: Put, durability: Durability) -> Result<()> {
        let list = put.properties.get(PropertyClass::System, COMPOSITE_PROPERTY).is_some();
        if list && !self.failed.swap(true, Ordering::Relaxed) {
            self.volume.disks.lock().unwrap()[&put.id.partition].fail_sync(
                SyncPoint::Commit,
                0,
                Fault::Eio,
            );
        }
        self.node.put(put, durability).await
    }

    async fn open(&self, id: BlobId, include: Include) -> Result<Arc<dyn Chunk>> {
        self.node.open(id, include).await
    }

    async fn delete(&self, id: BlobId, durability: Durability) -> Result<()> {
        self.node.delete(id, durability).await
    }

    async fn undelete(&self, id: BlobId, durability: Durability) -> Result<()> {
        self.node.undelete(id, durability).await
    }

    async fn update_ttl(&self, id: BlobId, expires_ms: u64, durability: Durability) -> Result<()> {
        self.node.update_ttl(id, expires_ms, durability).await
    }
}

struct Machine {
    volume: Arc<SimVolume>,
    store: Arc<FailingList>,
    names: Arc<dyn Names>,
    router: Router,
    _directory: tempfile::TempDir,
}

impl Deref for Machine {
    type Target = Datanode;

    fn deref(&self) -> &Datanode {
        &self.store.node
    }
}

impl Machine {
    async fn new() -> Self {
        let volume = SimVolume::new(1 << 30, Duration::ZERO);
        let options = NodeOptions {
            partition_bytes: Some(4 << 20),
            segment_bytes: Some(256 << 10),
            writable_partitions: 2,
            reserve_bytes: 0,
            undelete_window: Duration::from_secs(3600),
            ..NodeOptions::default()
        };
        let node = Datanode::open(vec![volume.clone() as Arc<dyn Volume>], &options).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("names.redb");
        let names: Arc<dyn Names> =
            Arc::new(RedbNames::open(&path, &RedbOptions::default()).unwrap());
        let reservations = Reservations::begin(names.clone(), "local").await.unwrap();
        let failed = AtomicBool::new(false);
        let store = Arc::new(FailingList { node, volume: volume.clone(), failed });
        let options = RouterOptions { chunk_bytes: CHUNK as u32, ..RouterOptions::default() };
        let unnamed = ReservingStore::unnamed(store.clone(), reservations);
        let router =
            Router::new(store.clone(), options).unwrap().long_blobs_over(Arc::new(unnamed));
        Machine { volume, store, names, router, _directory: directory }
    }

    async fn put(&self) -> Result<BlobId> {
        let content = source(content(1, 10 * CHUNK));
        Ok(self.router.put(content, PutOptions::default()).await?.id)
    }

    /// Until all partitions can be written again.
    async fn opened_again(&self) {
        self.volume.each(SimDisk::mend);
        self.volume.takes_writes.store(true, Ordering::Relaxed);
        let wait = Wait::until("all partitions can be written");
        loop {
            let disks = self.status().await.unwrap().disks;
            let mut partitions = disks.iter().flat_map(|disk| &disk.partitions);
            if partitions.all(|partition| partition.state == PartitionState::ReadWrite) {
                return;
            }
            wait.check(disks);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Until the queue is empty.
    async fn collect(&self) {
        let options = CollectorOptions {
            grace: Duration::ZERO,
            retry: Duration::from_millis(1),
            ..CollectorOptions::default()
        };
        let deleter = Arc::new(StoreDeleter::new(self.store.clone()));
        let mut collector = Collector::new(self.names.clone(), deleter, options);
        let wait = Wait::until("the queue is empty");
        loop {
            collector.collect().await.unwrap();
            if self.names.counts().await.unwrap().garbage == 0 {
                return;
            }
            wait.check(self.names.garbage(0, u64::MAX, 10).await);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// All chunks are alive, and not only readable until they are compacted away.
    async fn check(&self, id: BlobId) {
        let list = self.open(id, Include::Alive).await.unwrap().read(0..u32::MAX).await.unwrap();
        for chunk in ChunkList::parse(&list).unwrap().chunks {
            let opened = self.open(chunk.id, Include::Alive).await;
            assert!(opened.is_ok(), "chunk {}: {opened:?}", chunk.id);
        }
        let got = self.router.get(id, None).await.unwrap().read().await.unwrap();
        assert_eq!(got, content(1, 10 * CHUNK));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_comes_to_light_takes_no_chunks_of_a_blob_that_was_acknowledged() {
    let machine = Machine::new().await;
    machine.volume.takes_writes.store(false, Ordering::Relaxed);
    // A client tries again; the other partition takes it.
    let first = machine.put().await;
    let id = match &first {
        Ok(id) => *id,
        Err(_) => machine.put().await.unwrap(),
    };
    assert!(machine.store.failed.load(Ordering::Relaxed));
    machine.opened_again().await;
    // Of the list that is garbage.
    tokio::time::sleep(Duration::from_millis(100)).await;
    machine.collect().await;
    machine.check(id).await;
    assert!(matches!(first, Err(Error::Unavailable { .. })), "{first:?}");
    machine.shut_down();
}
