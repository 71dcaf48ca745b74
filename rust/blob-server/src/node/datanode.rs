//! The datanode: a store of chunks on the disks of this machine.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use afterbay_blob_node::ScrubReport;
use afterbay_blob_router::{
    BlobId, Chunk, ChunkStore, Durability, Error, Include, PartitionId, Put, Result,
};
use afterbay_blob_store::Operation;
use async_trait::async_trait;

use super::chunk::{NodeChunk, blocking};
use super::disk::{CHUNK_BYTES, Disk};
use super::error::of_store;
use super::hosted::Hosted;
use super::options::NodeOptions;
use super::pacer::Stop;
use super::roster::{AbsentDisk, Roster};
use super::scrub::Scrubs;
use super::services::NodeServices;
use super::status::NodeStatus;
use super::upkeep;
use super::volume::Volume;

/// A store of chunks on the disks of this machine. Cheap to clone; [`Datanode::shut_down`] ends it.
#[derive(Debug, Clone)]
pub struct Datanode(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    disks: Vec<Arc<Disk>>,
    services: NodeServices,
    absent: Vec<AbsentDisk>,
    /// A disk was given up: what is on none of the others is gone.
    gave_up: bool,
    stop: Arc<Stop>,
    scrubs: Scrubs,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Datanode {
    /// Opens the partitions of all volumes, makes the first ones on empty volumes, and begins the work in the background.
    /// Blocks. An error if two of them have the same partition, or if the first one cannot be listed.
    pub fn open(volumes: Vec<Arc<dyn Volume>>, options: &NodeOptions) -> io::Result<Self> {
        Self::open_all(Roster { volumes, ..Roster::default() }, options)
    }

    /// The same with disks that are known and not there. A disk that cannot be listed is one more of them, but the first one.
    pub fn open_all(roster: Roster, options: &NodeOptions) -> io::Result<Self> {
        Self::open_with(roster, options, NodeServices::default())
    }

    /// The same as one of several nodes.
    pub fn open_with(
        roster: Roster,
        options: &NodeOptions,
        services: NodeServices,
    ) -> io::Result<Self> {
        let Roster { volumes, mut absent, gave_up } = roster;
        let disks = open_disks(volumes, (options, &services), &mut absent)?;
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
            services,
            absent,
            gave_up,
            stop: Arc::new(Stop::default()),
            scrubs: Scrubs::default(),
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

    /// Ends the work in the background, syncs what was written at [`Durability::Fast`], and notes that all is on the disk.
    /// Blocks. Requests are still answered.
    pub fn shut_down(&self) {
        self.0.stop.stop();
        self.0.scrubs.close();
        let threads =
            std::mem::take(&mut *self.0.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("a thread in the background had panicked");
            }
        }
        for hosted in self.0.disks.iter().flat_map(|disk| disk.partitions()) {
            hosted.close();
        }
    }

    /// Takes away what was made on disks that had nothing before. Nothing can be stored any more.
    pub(crate) fn take_away_if_new(&self) {
        self.0.disks.iter().for_each(|disk| disk.volume.take_away_if_new());
    }

    /// What it has.
    pub async fn status(&self) -> Result<NodeStatus> {
        let node = self.clone();
        blocking(move || Ok(NodeStatus::of(&node))).await
    }

    /// An error, as a put would meet it, if no partition takes a chunk.
    pub async fn check_room(&self) -> Result<()> {
        self.place(CHUNK_BYTES, &[]).await.map(|_| ())
    }

    /// Begins to verify everything that is stored, or one partition, `bytes_per_s` of each disk; if that is going on already, it goes
    /// on as it is.
    pub fn start_scrub(
        &self,
        bytes_per_s: u64,
        partition: Option<PartitionId>,
    ) -> Result<ScrubReport> {
        self.0.scrubs.start(&self.0.disks, &self.0.absent, bytes_per_s, partition)
    }

    /// What the scrub that runs, or the last one, has found.
    pub fn scrub_report(&self) -> ScrubReport {
        self.0.scrubs.report()
    }

    /// Tells the scrub that runs, if one does, to stop; it does within a step.
    pub fn stop_scrub(&self) -> ScrubReport {
        self.0.scrubs.stop()
    }

    pub(crate) fn disks(&self) -> &[Arc<Disk>] {
        &self.0.disks
    }

    pub(crate) fn absent(&self) -> &[AbsentDisk] {
        &self.0.absent
    }

    fn hosted(&self, id: BlobId) -> Result<Arc<Hosted>> {
        let mut disks = self.0.disks.iter();
        disks.find_map(|disk| disk.find(id.partition)).ok_or_else(|| self.not_here(id))
    }

    /// A partition that is on no disk here may be on one that is not here: its blobs are neither deleted nor unknown, and what
    /// is to be deleted of them has to wait. They are gone only if somebody said so.
    fn not_here(&self, id: BlobId) -> Error {
        let absent: Vec<_> = self.0.absent.iter().map(AbsentDisk::name).collect();
        let partition = id.partition;
        if !absent.is_empty() {
            let reason = "it is on no disk that is here. Repair or mount what is missing and start the server again".to_owned();
            let place = format!("partition {partition} (not here: {})", absent.join(", "));
            return Error::Unavailable { place, reason };
        }
        if self.0.gave_up {
            return Error::Lost(id);
        }
        let reason = format!(
            "partition {partition} is on no disk of this server; if a data directory was left out, give it by --data; else the id is wrong"
        );
        Error::NotHere { id, reason }
    }

    fn id_in(&self, hosted: &Hosted) -> BlobId {
        BlobId { partition: hosted.id, uuid: self.0.services.identities.uuid() }
    }

    fn choose(&self, bytes: u64, but: &[PartitionId]) -> Option<BlobId> {
        if let [disk] = &self.0.disks[..] {
            return disk.choose(bytes, but).map(|hosted| self.id_in(&hosted));
        }
        let mut disks: Vec<_> = self.0.disks.iter().map(|disk| (disk.room_bytes(), disk)).collect();
        disks.sort_by_key(|(room, _)| std::cmp::Reverse(*room));
        let chosen = disks.iter().find_map(|(_, disk)| disk.choose(bytes, but));
        chosen.map(|hosted| self.id_in(&hosted))
    }

    /// Why no partition takes a blob of `bytes`: one that failed and has room for it is to be waited for, not the disk's end.
    fn no_place(&self, bytes: u64) -> Error {
        let place = self.0.disks.iter().map(|disk| disk.place()).collect::<Vec<_>>().join(", ");
        if self.0.disks.iter().all(|disk| disk.volume.is_read_only()) {
            let reason =
                "the file system is read-only: what is stored is served, nothing is written";
            return Error::Unavailable { place, reason: reason.to_owned() };
        }
        let mut hosted = self.0.disks.iter().flat_map(|disk| disk.partitions());
        if let Some(refusal) = hosted.find_map(|hosted| hosted.refusal(bytes)) {
            return refusal;
        }
        let reason = "no partition takes new blobs; delete some and wait for compaction (after the undelete \
                      window), make room on the disk, or add one by --data";
        Error::OutOfSpace { place, reason: reason.to_owned() }
    }
}

fn open_disks(
    volumes: Vec<Arc<dyn Volume>>,
    (options, services): (&NodeOptions, &NodeServices),
    absent: &mut Vec<AbsentDisk>,
) -> io::Result<Vec<Arc<Disk>>> {
    // Recovery reads the end of each log: disks do it at the same time.
    let opened: Vec<io::Result<Disk>> = std::thread::scope(|scope| {
        let open = |volume: &Arc<dyn Volume>| {
            let (volume, options, services) = (volume.clone(), options.clone(), services.clone());
            scope.spawn(move || Disk::open(volume, options, services))
        };
        let opening: Vec<_> = volumes.iter().map(open).collect();
        let panicked = || Err(io::Error::other("opening a disk panicked"));
        opening.into_iter().map(|thread| thread.join().unwrap_or_else(|_| panicked())).collect()
    });
    let mut disks = Vec::new();
    for (volume, opened) in volumes.iter().zip(opened) {
        let place = volume.place();
        match opened {
            Ok(disk) => disks.push(Arc::new(disk)),
            Err(error) if disks.is_empty() => {
                return Err(io::Error::new(error.kind(), format!("{place}: {error}")));
            }
            Err(error) => {
                let reason = format!("its partitions cannot be listed: {error}");
                tracing::error!(place, reason, "a disk is not used; what is on it cannot be read");
                absent.push(AbsentDisk { id: volume.id(), place, reason });
            }
        }
    }
    Ok(disks)
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
            node.choose(bytes, &but).ok_or_else(|| node.no_place(bytes))
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
