//! The datanode: a store of chunks on the disks of this machine.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use afterbay_blob_router::{
    BlobId, Chunk, ChunkStore, Durability, Error, Include, PartitionId, Put, Result,
};
use afterbay_blob_store::Operation;
use async_trait::async_trait;

use super::chunk::{NodeChunk, blocking};
use super::disk::Disk;
use super::error::of_store;
use super::hosted::Hosted;
use super::options::NodeOptions;
use super::pacer::Stop;
use super::status::NodeStatus;
use super::upkeep;
use super::volume::Volume;

/// A store of chunks on the disks of this machine. Cheap to clone; [`Datanode::shut_down`] ends it.
#[derive(Debug, Clone)]
pub struct Datanode(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    disks: Vec<Arc<Disk>>,
    stop: Arc<Stop>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Datanode {
    /// Opens the partitions of all volumes, makes the first ones on empty volumes, and begins the work in the background.
    /// Blocks. An error if a volume cannot be listed, or if two of them have the same partition.
    pub fn open(volumes: Vec<Arc<dyn Volume>>, options: &NodeOptions) -> io::Result<Self> {
        let disks = open_disks(volumes, options)?;
        let mut seen = HashSet::new();
        for hosted in disks.iter().flat_map(|disk| disk.partitions()) {
            if !seen.insert(hosted.id) {
                let (id, place) = (hosted.id, &hosted.place);
                return Err(io::Error::other(format!(
                    "partition {id} is on {place} and on another disk; remove one of them"
                )));
            }
        }
        for disk in &disks {
            if let Err(reason) = disk.make_partitions() {
                tracing::warn!(place = disk.place(), reason, "few partitions take new blobs");
            }
        }
        let node = Datanode(Arc::new(Inner {
            disks,
            stop: Arc::new(Stop::default()),
            threads: Mutex::new(Vec::new()),
        }));
        node.start_upkeep()?;
        Ok(node)
    }

    fn start_upkeep(&self) -> io::Result<()> {
        let mut threads = self.0.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for disk in &self.0.disks {
            for (name, work) in [
                ("blob-tend", upkeep::tend as fn(&Disk, &Stop)),
                ("blob-compact", upkeep::compact as fn(&Disk, &Stop)),
            ] {
                let (disk, stop) = (disk.clone(), self.0.stop.clone());
                let builder = std::thread::Builder::new().name(name.to_owned());
                threads.push(builder.spawn(move || work(&disk, &stop))?);
            }
        }
        Ok(())
    }

    /// Ends the work in the background, and syncs what was written at [`Durability::Fast`]. Blocks. Requests are still
    /// answered.
    pub fn shut_down(&self) {
        self.0.stop.stop();
        let threads =
            std::mem::take(&mut *self.0.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("a thread in the background had panicked");
            }
        }
        for hosted in self.0.disks.iter().flat_map(|disk| disk.partitions()) {
            hosted.flush();
        }
    }

    /// What it has.
    pub async fn status(&self) -> Result<NodeStatus> {
        let node = self.clone();
        blocking(move || Ok(NodeStatus::of(&node))).await
    }

    pub(crate) fn disks(&self) -> &[Arc<Disk>] {
        &self.0.disks
    }

    fn hosted(&self, id: BlobId) -> Result<Arc<Hosted>> {
        let mut disks = self.0.disks.iter();
        disks.find_map(|disk| disk.find(id.partition)).ok_or(Error::NotFound(id))
    }

    fn choose(&self, bytes: u64, but: &[PartitionId]) -> Option<BlobId> {
        if let [disk] = &self.0.disks[..] {
            return disk.choose(bytes, but).map(|hosted| BlobId::random(hosted.id));
        }
        let mut disks: Vec<_> = self.0.disks.iter().map(|disk| (disk.room_bytes(), disk)).collect();
        disks.sort_by_key(|(room, _)| std::cmp::Reverse(*room));
        disks.iter().find_map(|(_, disk)| disk.choose(bytes, but)).map(|h| BlobId::random(h.id))
    }

    fn out_of_space(&self) -> Error {
        let place = self.0.disks.iter().map(|disk| disk.place()).collect::<Vec<_>>().join(", ");
        if self.0.disks.iter().all(|disk| disk.volume.is_read_only()) {
            let reason =
                "the file system is read-only: what is stored is served, nothing is written";
            return Error::Unavailable { place, reason: reason.to_owned() };
        }
        let reason = "no partition takes new blobs; delete some and wait for compaction (after the undelete \
                      window), make room on the disk, or add one by --data";
        Error::OutOfSpace { place, reason: reason.to_owned() }
    }
}

fn open_disks(volumes: Vec<Arc<dyn Volume>>, options: &NodeOptions) -> io::Result<Vec<Arc<Disk>>> {
    // Recovery reads the end of each log: disks do it at the same time.
    std::thread::scope(|scope| {
        let opening: Vec<_> = volumes
            .into_iter()
            .map(|volume| scope.spawn(move || Disk::open(volume, options.clone())))
            .collect();
        opening
            .into_iter()
            .map(|thread| match thread.join() {
                Ok(disk) => disk.map(Arc::new),
                Err(_) => Err(io::Error::other("opening a disk panicked")),
            })
            .collect()
    })
}

/// A chunk that can be opened without waiting for the disk; that saves two trips between threads.
fn open_cached(hosted: &Hosted, id: BlobId, include: Include) -> Option<NodeChunk> {
    let partition = hosted.partition().ok()?;
    let (reader, deleted) = match include {
        Include::Alive => (partition.get_cached(id)?, false),
        Include::All => partition.get_deleted_cached(id)?,
    };
    NodeChunk::open_cached(reader, deleted, &hosted.place)
}

#[async_trait]
impl ChunkStore for Datanode {
    async fn place(&self, bytes: u64, but: &[PartitionId]) -> Result<BlobId> {
        if let Some(id) = self.choose(bytes, but) {
            return Ok(id);
        }
        let (node, but) = (self.clone(), but.to_vec());
        blocking(move || {
            for disk in node.disks() {
                // The reasons are logged by the upkeep.
                let _ = disk.make_partitions();
            }
            node.choose(bytes, &but).ok_or_else(|| node.out_of_space())
        })
        .await
    }

    async fn put(&self, put: Put, durability: Durability) -> Result<()> {
        self.hosted(put.id)?.write(Operation::Put(put), durability).await
    }

    async fn open(&self, id: BlobId, include: Include) -> Result<Arc<dyn Chunk>> {
        let hosted = self.hosted(id)?;
        if let Some(chunk) = open_cached(&hosted, id, include) {
            return Ok(Arc::new(chunk));
        }
        blocking(move || {
            let partition = hosted.partition()?;
            let opened = match include {
                Include::Alive => partition.get(id).map(|reader| (reader, false)),
                Include::All => partition.get_deleted(id),
            };
            let (reader, deleted) = opened.map_err(|e| of_store(&hosted.place, e))?;
            let chunk = NodeChunk::open(reader, deleted, hosted.place.as_str().into())?;
            Ok(Arc::new(chunk) as Arc<dyn Chunk>)
        })
        .await
    }

    async fn delete(&self, id: BlobId, durability: Durability) -> Result<()> {
        self.hosted(id)?.write(Operation::Delete(id), durability).await
    }

    async fn undelete(&self, id: BlobId, durability: Durability) -> Result<()> {
        self.hosted(id)?.write(Operation::Undelete(id), durability).await
    }

    async fn update_ttl(&self, id: BlobId, expires_ms: u64, durability: Durability) -> Result<()> {
        self.hosted(id)?.write(Operation::UpdateTtl(id, expires_ms), durability).await
    }
}
