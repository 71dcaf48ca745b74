//! A partition on a disk, also while it cannot be used.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use afterbay_blob_router::Error;
use afterbay_blob_store::{
    Clock, Durability, Operation, Options, Partition, PartitionId, SystemClock, Write,
};

use super::committer::Committer;
use super::error::of_store;
use super::volume::Volume;

/// A partition that this node hosts.
#[derive(Debug)]
pub(crate) struct Hosted {
    pub(crate) id: PartitionId,
    /// The disk, as messages name it.
    pub(crate) place: String,
    partition: RwLock<std::result::Result<Arc<Partition>, String>>,
    committer: Arc<Committer>,
    /// When a blob was last deleted, in milliseconds since 1970: what compaction has to wait for.
    pub(crate) deleted_ms: AtomicU64,
}

impl Hosted {
    /// Opens the partition. One that cannot be opened is hosted too: it says why.
    pub(crate) fn open(volume: &dyn Volume, id: PartitionId, options: &Options) -> Self {
        let opened = open(volume, id, options);
        if let Err(reason) = &opened {
            tracing::error!(partition = %id, place = volume.place(), reason, "cannot be opened");
        }
        Hosted {
            id,
            place: volume.place(),
            partition: RwLock::new(opened),
            committer: Committer::new(),
            deleted_ms: AtomicU64::new(SystemClock.now_ms()),
        }
    }

    /// The partition; an error that says why it cannot be used.
    pub(crate) fn partition(&self) -> Result<Arc<Partition>, Error> {
        let partition = self.partition.read().unwrap_or_else(PoisonError::into_inner);
        partition.clone().map_err(|reason| Error::Unavailable {
            place: format!("partition {} on {}", self.id, self.place),
            reason,
        })
    }

    pub(crate) async fn write(
        &self,
        operation: Operation,
        durability: Durability,
    ) -> Result<(), Error> {
        let partition = self.partition()?;
        let deletes = matches!(operation, Operation::Delete(_) | Operation::UpdateTtl(..));
        let note_delete = || {
            if deletes {
                self.deleted_ms.store(SystemClock.now_ms(), Ordering::Relaxed);
            }
        };
        // Before, in case nobody waits for the end; after, since that is later than the record.
        note_delete();
        let written = self.committer.write(partition, Write::new(operation, durability)).await;
        note_delete();
        match written {
            Some(Ok(_)) => Ok(()),
            Some(Err(error)) => Err(of_store(&self.place, error)),
            None => Err(Error::Unavailable {
                place: self.place.clone(),
                reason: "the write was given up; the log says why; try again".to_owned(),
            }),
        }
    }

    /// Whether it can take `bytes` more.
    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        let Ok(partition) = self.partition() else {
            return false;
        };
        let (used, read_only) = partition.usage();
        let queued = self.committer.queued_bytes() as u64;
        let fits = used + queued + bytes <= partition.threshold_bytes();
        fits && !read_only && partition.failure().is_none()
    }

    /// Bytes that it can still take.
    pub(crate) fn room_bytes(&self) -> u64 {
        let Ok(partition) = self.partition() else {
            return 0;
        };
        let (used, read_only) = partition.usage();
        if read_only || partition.failure().is_some() {
            return 0;
        }
        partition.threshold_bytes().saturating_sub(used + self.committer.queued_bytes() as u64)
    }

    /// Bytes that its segments may still grow by.
    pub(crate) fn reserved_bytes(&self) -> u64 {
        self.partition()
            .map_or(0, |partition| partition.capacity_bytes().saturating_sub(partition.usage().0))
    }

    /// Bytes of writes that wait.
    pub(crate) fn queued_bytes(&self) -> usize {
        self.committer.queued_bytes()
    }

    /// Groups of writes so far, and the writes in them.
    pub(crate) fn groups(&self) -> (u64, u64) {
        self.committer.groups()
    }

    /// Syncs what was written at [`Durability::Fast`].
    pub(crate) fn flush(&self) {
        if !self.committer.take_unsynced() {
            return;
        }
        if let Ok(partition) = self.partition()
            && let Err(error) = partition.flush()
        {
            tracing::warn!(partition = %self.id, %error, "fast writes could not be synced");
        }
    }

    /// Opens it again after an error, if nobody uses it at the moment and the disk takes writes.
    pub(crate) fn reopen_if_failed(&self, volume: &dyn Volume, options: &Options) {
        let failed = match self.partition() {
            Ok(partition) => partition.failure().is_some(),
            Err(_) => true,
        };
        if !failed || !volume.takes_writes() {
            return;
        }
        let mut held = self.partition.write().unwrap_or_else(PoisonError::into_inner);
        // Reads go on with the old one until the new one is there; two must not have the files open.
        match &*held {
            Ok(old) if Arc::strong_count(old) > 1 => return,
            _ => *held = Err("being opened again after an error; try again".to_owned()),
        }
        *held = open(volume, self.id, options);
        match &*held {
            Ok(_) => tracing::info!(partition = %self.id, "opened again after an error"),
            Err(reason) => {
                tracing::error!(partition = %self.id, reason, "could not be opened again");
            }
        }
    }
}

fn open(
    volume: &dyn Volume,
    id: PartitionId,
    options: &Options,
) -> std::result::Result<Arc<Partition>, String> {
    let directory = volume.open(id).map_err(|e| format!("cannot open its directory: {e}"))?;
    let partition = Partition::open(directory, options.clone(), Arc::new(SystemClock))
        .map_err(|e| e.to_string())?;
    let recovery = partition.recovery();
    for damaged in &recovery.damaged {
        let (file, begin, end) = (&damaged.file, damaged.begin, damaged.end);
        tracing::error!(partition = %id, file, begin, end, "damaged: blobs in there are lost here");
    }
    tracing::info!(
        partition = %id,
        place = volume.place(),
        records = recovery.active_records,
        cut_bytes = recovery.cut_bytes,
        rebuilt_indexes = recovery.rebuilt_indexes,
        "opened"
    );
    Ok(Arc::new(partition))
}
