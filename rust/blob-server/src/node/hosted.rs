//! A partition on a disk, also while it cannot be used.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use afterbay_blob_router::Error;
use afterbay_blob_store::{
    Clock, DamagedRange, Durability, Identities, Operation, Options, Partition, PartitionId,
    SystemClock, Write,
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
    identities: Arc<dyn Identities>,
    partition: RwLock<std::result::Result<Arc<Partition>, String>>,
    committer: Arc<Committer>,
    /// Groups of writes when it was last looked whether there are new ones, and when it was last noted what is synced.
    groups_seen: AtomicU64,
    groups_noted: AtomicU64,
    /// What [`Self::reserved_bytes`] was when the partition was there.
    reserved_bytes: AtomicU64,
    /// When a blob was last deleted, in milliseconds since 1970: what compaction has to wait for.
    pub(crate) deleted_ms: AtomicU64,
}

impl Hosted {
    /// Opens the partition. One that cannot be opened is hosted too: it says why.
    pub(crate) fn open(
        volume: &dyn Volume,
        id: PartitionId,
        options: &Options,
        identities: Arc<dyn Identities>,
    ) -> Self {
        let opened = open(volume, id, options, &identities);
        if let Err(reason) = &opened {
            tracing::error!(partition = %id, place = volume.place(), reason, "cannot be opened");
        }
        Hosted {
            id,
            place: volume.place(),
            identities,
            partition: RwLock::new(opened),
            committer: Committer::new(),
            groups_seen: AtomicU64::new(0),
            groups_noted: AtomicU64::new(u64::MAX),
            reserved_bytes: AtomicU64::new(0),
            deleted_ms: AtomicU64::new(SystemClock.now_ms()),
        }
    }

    /// The partition; an error that says why it cannot be used.
    pub(crate) fn partition(&self) -> Result<Arc<Partition>, Error> {
        let partition = self.partition.read().unwrap_or_else(PoisonError::into_inner);
        partition.clone().map_err(|reason| Error::Unavailable {
            place: format!("partition {} on {}: {reason}", self.id, self.place),
            reason: "the partition cannot be used at the moment".to_owned(),
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
        let write = Write::new(operation, durability);
        let written = self.committer.write(partition.clone(), write).await;
        note_delete();
        match written {
            Some(Ok(_)) => Ok(()),
            Some(Err(error)) => Err(of_store(&self.place, error)),
            None => Err(match partition.failure() {
                Some(failure) => of_store(&self.place, failure),
                None => Error::Unavailable {
                    place: self.place.clone(),
                    reason: "the write was given up; the log says why; try again".to_owned(),
                },
            }),
        }
    }

    /// Whether it can take `bytes` more.
    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        self.partition()
            .is_ok_and(|partition| self.fits(&partition, bytes) && partition.failure().is_none())
    }

    fn fits(&self, partition: &Partition, bytes: u64) -> bool {
        let (used, read_only) = partition.usage();
        let queued = self.committer.queued_bytes() as u64;
        !read_only && used + queued + bytes <= partition.threshold_bytes()
    }

    /// Why it does not take `bytes` more, though it might have room for them.
    pub(crate) fn refusal(&self, bytes: u64) -> Option<Error> {
        match self.partition() {
            Ok(partition) if self.fits(&partition, bytes) => {
                partition.failure().map(|failure| of_store(&self.place, failure))
            }
            Ok(_) => None,
            Err(unusable) => Some(unusable),
        }
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

    /// Bytes that its segments may still grow by; while it is opened again, as they were before.
    pub(crate) fn reserved_bytes(&self) -> u64 {
        if let Ok(partition) = self.partition() {
            self.note_reserved(&partition);
        }
        self.reserved_bytes.load(Ordering::Relaxed)
    }

    fn note_reserved(&self, partition: &Partition) {
        let reserved = partition.capacity_bytes().saturating_sub(partition.usage().0);
        self.reserved_bytes.store(reserved, Ordering::Relaxed);
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

    /// Lets the partition note what is synced, once it has been at rest since this was last asked.
    pub(crate) fn note_if_at_rest(&self) {
        let (groups, _) = self.groups();
        let at_rest = self.groups_seen.swap(groups, Ordering::Relaxed) == groups;
        if !at_rest || self.groups_noted.load(Ordering::Relaxed) == groups {
            return;
        }
        if let Ok(partition) = self.partition()
            && partition.failure().is_none()
        {
            match partition.note_synced() {
                Ok(()) => self.groups_noted.store(groups, Ordering::Relaxed),
                Err(error) => {
                    tracing::debug!(partition = %self.id, %error, "not noted what is synced");
                }
            }
        }
    }

    /// Syncs all that was written, and notes that it is.
    pub(crate) fn close(&self) {
        if let Ok(partition) = self.partition()
            && partition.failure().is_none()
            && let Err(error) = partition.close()
        {
            tracing::warn!(partition = %self.id, %error, "could not be closed");
        }
    }

    /// Opens it again after an error, if nobody uses it at the moment and the disk takes writes. For one thread only.
    pub(crate) fn reopen_if_failed(&self, volume: &dyn Volume, options: &Options) {
        let failed = match self.partition() {
            Ok(partition) => partition.failure().is_some(),
            Err(_) => true,
        };
        if !failed || !volume.takes_writes() {
            return;
        }
        if !self.take_out() {
            return;
        }
        // Nobody waits for it: a disk that fails takes its time.
        let opened = open(volume, self.id, options, &self.identities);
        match &opened {
            Ok(_) => tracing::info!(partition = %self.id, "opened again after an error"),
            Err(reason) => {
                tracing::error!(partition = %self.id, reason, "could not be opened again");
            }
        }
        *self.partition.write().unwrap_or_else(PoisonError::into_inner) = opened;
    }

    /// Closes the partition, unless somebody uses it: reads go on with it until it is opened again, and two must not have its files
    /// open.
    fn take_out(&self) -> bool {
        let mut held = self.partition.write().unwrap_or_else(PoisonError::into_inner);
        if held.as_ref().is_ok_and(|partition| Arc::strong_count(partition) > 1) {
            return false;
        }
        if let Ok(partition) = &*held {
            self.note_reserved(partition);
        }
        *held = Err("being opened again after an error; try again".to_owned());
        true
    }
}

fn open(
    volume: &dyn Volume,
    id: PartitionId,
    options: &Options,
    identities: &Arc<dyn Identities>,
) -> std::result::Result<Arc<Partition>, String> {
    let directory = volume.open(id).map_err(|e| format!("cannot open its directory: {e}"))?;
    let (clock, identities) = (Arc::new(SystemClock), identities.clone());
    let partition = Partition::open_with(directory, options.clone(), clock, identities)
        .map_err(|e| e.to_string())?;
    let recovery = partition.recovery();
    for DamagedRange { file, begin, end, unreadable } in &recovery.damaged {
        if *unreadable {
            tracing::error!(partition = %id, file, begin, end, "cannot be read: tried again when it is opened again");
        } else {
            tracing::error!(partition = %id, file, begin, end, "damaged: blobs in there are lost here");
        }
    }
    if recovery.cut_bytes > 0 {
        tracing::warn!(
            partition = %id,
            cut_bytes = recovery.cut_bytes,
            "cut the end of the log, which is not whole: writes that were under way, unless the disk lost what was synced"
        );
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

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Barrier;
    use std::sync::atomic::AtomicBool;

    use afterbay_blob_store::{Directory, RandomIdentities};

    use super::super::volume::{DataDirectory, Space};
    use super::*;

    /// A disk that opens nothing, and when it is `slow` takes until it has been met twice to say so.
    #[derive(Debug)]
    struct Failing {
        slow: AtomicBool,
        met: Barrier,
    }

    impl Volume for Failing {
        fn place(&self) -> String {
            "a disk".to_owned()
        }

        fn partitions(&self) -> io::Result<Vec<PartitionId>> {
            Ok(Vec::new())
        }

        fn create(
            &self,
            _: PartitionId,
            _: &mut dyn FnMut(&dyn Directory) -> io::Result<()>,
        ) -> io::Result<()> {
            Err(io::Error::other("no"))
        }

        fn open(&self, _: PartitionId) -> io::Result<Arc<dyn Directory>> {
            if self.slow.load(Ordering::Relaxed) {
                self.met.wait();
                self.met.wait();
            }
            Err(io::Error::other("a bad sector"))
        }

        fn space(&self) -> io::Result<Space> {
            Err(io::Error::other("no"))
        }

        fn takes_writes(&self) -> bool {
            true
        }
    }

    #[test]
    fn nobody_waits_for_a_partition_that_is_being_opened() {
        let volume = Failing { slow: AtomicBool::new(false), met: Barrier::new(2) };
        let options = Options::default();
        let hosted = Hosted::open(&volume, PartitionId(7), &options, Arc::new(RandomIdentities));
        let reason = || hosted.partition().unwrap_err().to_string();
        assert!(reason().contains("a bad sector"), "{}", reason());
        volume.slow.store(true, Ordering::Relaxed);
        std::thread::scope(|threads| {
            threads.spawn(|| hosted.reopen_if_failed(&volume, &options));
            volume.met.wait();
            assert!(reason().contains("being opened again"), "{}", reason());
            assert!(!hosted.has_room(1));
            volume.met.wait();
        });
        assert!(reason().contains("a bad sector"), "{}", reason());
    }

    /// Else somebody else gets it.
    #[test]
    fn a_partition_keeps_its_room_while_it_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let volume = DataDirectory::open(folder.path()).unwrap();
        let options =
            Options { capacity_bytes: 1 << 20, segment_bytes: 1 << 18, ..Options::default() };
        let id = PartitionId(7);
        let fill = &mut |directory: &dyn Directory| {
            Partition::create(directory, id, &options).map_err(io::Error::other)
        };
        volume.create(id, fill).unwrap();
        let hosted = Hosted::open(&volume, id, &options, Arc::new(RandomIdentities));
        assert!(hosted.partition().is_ok() && hosted.take_out());
        assert!(hosted.partition().is_err());
        let reserved = hosted.reserved_bytes();
        assert!((1 << 19..=1 << 20).contains(&reserved), "{reserved} bytes");
    }
}
