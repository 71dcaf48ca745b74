//! The partitions of one disk: which take new blobs, and when a new one is made.

use std::io;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use afterbay_blob_store::{Options, Partition, PartitionId};

use super::hosted::Hosted;
use super::options::NodeOptions;
use super::services::NodeServices;
use super::volume::{Space, Volume};

/// Up to so many bytes of writes wait for one partition before others get their share: fewer partitions, larger groups.
const QUEUED_BYTES: usize = 4 << 20;

/// What a chunk takes: a partition with less room is as good as full.
pub(crate) const CHUNK_BYTES: u64 = 4 << 20;

#[derive(Debug)]
pub(crate) struct Disk {
    pub(crate) volume: Arc<dyn Volume>,
    pub(crate) options: NodeOptions,
    pub(crate) services: NodeServices,
    partitions: RwLock<Vec<Arc<Hosted>>>,
    making: Mutex<()>,
}

impl Disk {
    /// Opens all partitions of a disk.
    pub(crate) fn open(
        volume: Arc<dyn Volume>,
        options: NodeOptions,
        services: NodeServices,
    ) -> io::Result<Self> {
        let mut ids = volume.partitions()?;
        ids.sort_unstable();
        let of_partitions = options.partition(space_bytes(&*volume));
        let identities = &services.identities;
        let open = |id| Arc::new(Hosted::open(&*volume, id, &of_partitions, identities.clone()));
        let partitions = RwLock::new(ids.into_iter().map(open).collect());
        Ok(Disk { volume, options, services, partitions, making: Mutex::new(()) })
    }

    pub(crate) fn place(&self) -> String {
        self.volume.place()
    }

    pub(crate) fn partitions(&self) -> Vec<Arc<Hosted>> {
        self.partitions.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn find(&self, id: PartitionId) -> Option<Arc<Hosted>> {
        let partitions = self.partitions.read().unwrap_or_else(PoisonError::into_inner);
        partitions.iter().find(|hosted| hosted.id == id).cloned()
    }

    pub(crate) fn partition_options(&self) -> Options {
        self.options.partition(space_bytes(&*self.volume))
    }

    /// A partition that takes `bytes` more.
    pub(crate) fn choose(&self, bytes: u64, but: &[PartitionId]) -> Option<Arc<Hosted>> {
        let mut least: Option<Arc<Hosted>> = None;
        let mut writable = 0;
        for hosted in self.partitions() {
            if but.contains(&hosted.id) || !hosted.has_room(bytes) {
                continue;
            }
            if hosted.queued_bytes() < QUEUED_BYTES {
                return Some(hosted);
            }
            if least.as_ref().is_none_or(|least| hosted.queued_bytes() < least.queued_bytes()) {
                least = Some(hosted);
            }
            writable += 1;
            if writable == self.options.writable_partitions {
                break;
            }
        }
        least
    }

    /// Bytes that new blobs can take: in partitions, and in those that can still be made.
    pub(crate) fn room_bytes(&self) -> u64 {
        let in_partitions: u64 = self.partitions().iter().map(|hosted| hosted.room_bytes()).sum();
        in_partitions + self.unplanned_bytes().unwrap_or(0)
    }

    /// Bytes that no partition may grow into.
    fn unplanned_bytes(&self) -> io::Result<u64> {
        let Space { available_bytes, .. } = self.volume.space()?;
        let planned: u64 = self.partitions().iter().map(|hosted| hosted.reserved_bytes()).sum();
        Ok(available_bytes.saturating_sub(self.options.reserve_bytes).saturating_sub(planned))
    }

    /// Makes partitions until enough of them take new blobs, if there is room. Blocks.
    pub(crate) fn make_partitions(&self) -> Result<(), String> {
        let _one = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let writable = |hosted: &&Arc<Hosted>| hosted.has_room(CHUNK_BYTES);
            let count = self.partitions().iter().filter(writable).count();
            if count >= self.options.writable_partitions {
                return Ok(());
            }
            let options = self.partition_options();
            let unplanned = self.unplanned_bytes().map_err(|e| e.to_string())?;
            if unplanned < options.capacity_bytes {
                return Err(format!(
                    "no room for another partition of {} bytes (left: {unplanned})",
                    options.capacity_bytes
                ));
            }
            self.make(&options)?;
        }
    }

    fn make(&self, options: &Options) -> Result<(), String> {
        // Random, so that it is not that of a partition on a disk which is not there at the moment.
        let identities = &self.services.identities;
        let id = PartitionId(identities.uuid().as_u64_pair().0);
        self.volume
            .create(id, &mut |directory| {
                Partition::create_with(directory, id, options, &**identities)
                    .map_err(io::Error::other)
            })
            .map_err(|e| format!("cannot make a partition: {e}"))?;
        tracing::info!(partition = %id, place = self.place(), bytes = options.capacity_bytes, "made");
        let hosted = Arc::new(Hosted::open(&*self.volume, id, options, identities.clone()));
        self.partitions.write().unwrap_or_else(PoisonError::into_inner).push(hosted);
        Ok(())
    }
}

/// Bytes of the disk that this process could have.
fn space_bytes(volume: &dyn Volume) -> u64 {
    volume.space().map_or(0, |space| space.total_bytes)
}
