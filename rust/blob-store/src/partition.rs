//! One replica of a partition.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use afterbay_blob_format::{BlobId, IndexEntry, PartitionId, RecordHeader};

use crate::blob_state::{BlobState, Condition, Place};
use crate::changes::{Cursors, changes_in_log};
use crate::clock::Clock;
use crate::commit::{CommitQueue, lock};
use crate::compaction::{Compacting, CompactionOptions, CompactionReport, Pacer, compact};
use crate::directory::{Directory, Wait};
use crate::error::{Error, Result};
use crate::identities::{Identities, RandomIdentities};
use crate::journal::Changes;
use crate::log_file::FIRST_RECORD;
use crate::mark_file;
use crate::options::{Durability, Operation, Options, Origin, Put, Write, Written};
use crate::reader::BlobReader;
use crate::recovery::{self, Recovery};
use crate::repair::{repair_index, repairing};
use crate::request::{Action, Prepared, Request};
use crate::shared::Shared;
use crate::sync_point::SyncPoint;
use crate::writer::{Outcome, Writer, percent_of};

/// One replica of a partition, open in this process. All methods may be called by several threads at once; those that
/// write or read wait for the disk.
#[derive(Debug)]
pub struct Partition {
    pub(crate) shared: Shared,
    /// Locked by [`Partition::writer`].
    writer: Mutex<Writer>,
    /// One compaction at a time.
    pub(crate) compacting: Mutex<Compacting>,
    /// What was damaged was written again: segments that were left alone may be compacted.
    pub(crate) repaired: AtomicBool,
    pub(crate) cursors: Cursors,
    queue: CommitQueue<Request, Result<Outcome>>,
    clock: Arc<dyn Clock>,
    recovery: Recovery,
    capacity_bytes: u64,
    threshold_bytes: u64,
}

/// The writer, locked. A panic of the thread that has it leaves it in the middle of something: the partition takes no writes
/// any more, until it is opened again.
#[derive(Debug)]
pub(crate) struct HeldWriter<'a> {
    writer: MutexGuard<'a, Writer>,
    shared: &'a Shared,
}

impl Deref for HeldWriter<'_> {
    type Target = Writer;

    fn deref(&self) -> &Writer {
        &self.writer
    }
}

impl DerefMut for HeldWriter<'_> {
    fn deref_mut(&mut self) -> &mut Writer {
        &mut self.writer
    }
}

impl Drop for HeldWriter<'_> {
    /// Before the lock is given back.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.shared.fail(Error::Panicked);
        }
    }
}

/// What a partition has, at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The partition.
    pub partition: PartitionId,
    /// Bytes that its segments may have.
    pub capacity_bytes: u64,
    /// Bytes that they have.
    pub used_bytes: u64,
    /// Bytes of the disk that the active segment has for records to come.
    pub reserved_bytes: u64,
    /// Whether it takes no new blobs.
    pub read_only: bool,
    /// Segments, the active one included.
    pub segments: usize,
    /// Records, compacted ones excluded.
    pub records: u64,
    /// Bytes of memory for the index.
    pub index_memory_bytes: u64,
    /// Segments that were compacted and are still being read.
    pub retired_segments: usize,
    /// The number of the next record.
    pub next_sequence: u64,
}

impl Partition {
    /// Makes an empty partition in `directory`. Open it then.
    pub fn create(
        directory: &dyn Directory,
        partition: PartitionId,
        options: &Options,
    ) -> Result<()> {
        Self::create_with(directory, partition, options, &RandomIdentities)
    }

    /// The same with identities from `identities`.
    pub fn create_with(
        directory: &dyn Directory,
        partition: PartitionId,
        options: &Options,
        identities: &dyn Identities,
    ) -> Result<()> {
        recovery::create(directory, partition, options, identities)
    }

    /// Opens the partition in `directory`, and repairs what the end of the last process left.
    pub fn open(
        directory: Arc<dyn Directory>,
        options: Options,
        clock: Arc<dyn Clock>,
    ) -> Result<Self> {
        Self::open_with(directory, options, clock, Arc::new(RandomIdentities))
    }

    /// The same with identities from `identities`.
    pub fn open_with(
        directory: Arc<dyn Directory>,
        options: Options,
        clock: Arc<dyn Clock>,
        identities: Arc<dyn Identities>,
    ) -> Result<Self> {
        let group_bytes_max = options.group_bytes_max;
        let (shared, writer, recovery) =
            recovery::open(directory, options, clock.clone(), identities)?;
        let capacity_bytes = writer.manifest.capacity_bytes;
        let threshold_bytes = percent_of(capacity_bytes, writer.options.read_only_above_percent);
        Ok(Partition {
            capacity_bytes,
            threshold_bytes,
            shared,
            writer: Mutex::new(writer),
            compacting: Mutex::default(),
            repaired: AtomicBool::new(false),
            cursors: Cursors::default(),
            queue: CommitQueue::new(group_bytes_max),
            clock,
            recovery,
        })
    }

    /// The partition.
    pub fn id(&self) -> PartitionId {
        self.shared.partition
    }

    /// What opening it found.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// Stores a blob.
    pub fn put(&self, put: Put, durability: Durability) -> Result<Written> {
        self.write(Write::new(Operation::Put(put), durability))
    }

    /// Deletes a blob. It can be undeleted until it is compacted away.
    pub fn delete(&self, id: BlobId, durability: Durability) -> Result<Written> {
        self.write(Write::new(Operation::Delete(id), durability))
    }

    /// Takes back a delete.
    pub fn undelete(&self, id: BlobId, durability: Durability) -> Result<Written> {
        self.write(Write::new(Operation::Undelete(id), durability))
    }

    /// Lets a blob expire at another time; 0 is never.
    pub fn update_ttl(
        &self,
        id: BlobId,
        expires_ms: u64,
        durability: Durability,
    ) -> Result<Written> {
        self.write(Write::new(Operation::UpdateTtl(id, expires_ms), durability))
    }

    /// Carries out one request.
    pub fn write(&self, write: Write) -> Result<Written> {
        let results = self.write_all(vec![write]);
        // One result for each request.
        results.into_iter().next().unwrap_or(Ok(Written::Before))
    }

    /// Carries out requests in their order, in one group: they are synced together. One result for each.
    pub fn write_all(&self, writes: Vec<Write>) -> Vec<Result<Written>> {
        self.carry_out(writes.into_iter().map(|write| self.prepare(write)))
    }

    /// Carries out requests in one group. One result for each, and for what is no request.
    pub(crate) fn carry_out(
        &self,
        prepared: impl Iterator<Item = Result<Request>>,
    ) -> Vec<Result<Written>> {
        let mut requests = Vec::new();
        let slots: Vec<Result<()>> =
            prepared.map(|prepared| prepared.map(|request| requests.push(request))).collect();
        let weight = requests.iter().map(Request::weight).sum();
        // Cheap: content is shared.
        let outcomes = self.submit(requests.clone(), weight).into_iter().zip(requests);
        let mut written = outcomes.map(|(outcome, request)| self.acknowledge(request, outcome?));
        slots
            .into_iter()
            .map(|slot| slot.and_then(|()| written.next().unwrap_or(Ok(Written::Before))))
            .collect()
    }

    fn submit(&self, requests: Vec<Request>, weight: usize) -> Vec<Result<Outcome>> {
        let count = requests.len();
        if count == 0 {
            return Vec::new();
        }
        let run = |group: Vec<Request>| self.writer().run(&self.shared, &group);
        self.queue.submit(requests, weight, run).unwrap_or_else(|| {
            let failed = self.failure().unwrap_or_else(|| self.shared.fail(Error::Panicked));
            (0..count).map(|_| Err(failed.clone())).collect()
        })
    }

    /// The writer, for this thread alone.
    pub(crate) fn writer(&self) -> HeldWriter<'_> {
        HeldWriter { writer: lock(&self.writer), shared: &self.shared }
    }

    fn prepare(&self, write: Write) -> Result<Request> {
        self.check_partition(write.operation.id())?;
        Request::of(write, &*self.clock)
    }

    pub(crate) fn check_partition(&self, id: BlobId) -> Result<()> {
        let partition = self.id();
        if id.partition == partition {
            Ok(())
        } else {
            Err(Error::OtherPartition { id, partition })
        }
    }

    fn acknowledge(&self, request: Request, outcome: Outcome) -> Result<Written> {
        match (outcome, &request.action) {
            (Outcome::Wrote(_), _) => Ok(Written::Now),
            (Outcome::Taken(place), Action::Put(put)) => {
                let (id, put) = (request.id, put.clone());
                self.compare(id, request, &put, place)
            }
            (Outcome::Nothing | Outcome::Taken(_), _) => Ok(Written::Before),
        }
    }

    /// Whether the blob that has the id of a put is the same.
    fn compare(
        &self,
        id: BlobId,
        request: Request,
        put: &Prepared,
        place: Place,
    ) -> Result<Written> {
        let reader = BlobReader::open(id, place.clone(), 0, Wait::ForDisk);
        let same = reader.and_then(|reader| reader.is_same(&put.properties, &put.body));
        match (same, request.origin) {
            (Ok(true), Origin::Replica { time_ms, life }) if life > 0 => {
                self.raise_life(request, Origin::Replica { time_ms, life })
            }
            (Ok(true), _) => Ok(Written::Before),
            (Ok(false), _) => Err(Error::Collision(id)),
            (Err(error), Origin::Replica { .. }) if error.is_damage() => {
                self.supersede(request, put, &place)
            }
            (Err(error), _) => Err(error),
        }
    }

    /// Another replica has put the blob in a later life, as it may if it has not heard of the earlier one. Undeleting it here
    /// says the same.
    fn raise_life(&self, request: Request, origin: Origin) -> Result<Written> {
        let undelete = Request { origin, action: Action::Undelete, ..request };
        self.carry_out([Ok(undelete)].into_iter()).pop().unwrap_or(Ok(Written::Before))
    }

    /// Writes a put again whose record at `place` is damaged, unless what is left of that is another blob's.
    fn supersede(&self, request: Request, put: &Prepared, place: &Place) -> Result<Written> {
        let parts = |header: &RecordHeader| {
            let RecordHeader { properties_crc, checksums_crc, body_bytes, .. } = *header;
            (properties_crc, checksums_crc, body_bytes)
        };
        let header = place.log.record_header(place.entry.offset);
        if header.is_ok_and(|header| parts(&header) != parts(&put.header)) {
            return Err(Error::Collision(request.id));
        }
        tracing::info!(blob = %request.id, file = place.log.name, "written again: it is damaged");
        self.repaired.store(true, Ordering::Relaxed);
        let request = Request { supersedes: Some(place.at()), ..request };
        self.carry_out([Ok(request)].into_iter()).pop().unwrap_or(Ok(Written::Before))
    }

    /// Opens a blob for reading. [`Error::NotFound`], [`Error::Deleted`] and [`Error::Expired`] say why not;
    /// [`Error::Unreadable`] also of a blob that is nowhere else, if it may be among records that cannot be read.
    pub fn get(&self, id: BlobId) -> Result<BlobReader> {
        let state = self.find(id)?;
        match state.condition(self.clock.now_ms()) {
            Condition::Alive => open(id, state, Wait::ForDisk),
            Condition::Unknown => Err(Error::NotFound(id)),
            Condition::Deleted => Err(Error::Deleted(id)),
            Condition::Expired => Err(Error::Expired(id)),
        }
    }

    /// The same without waiting for the disk. `None` if it cannot be done so, or not at all: [`Partition::get`] knows.
    pub fn get_cached(&self, id: BlobId) -> Option<BlobReader> {
        let state = self.find_cached(id)?;
        let alive = matches!(state.condition(self.clock.now_ms()), Condition::Alive);
        if alive { open(id, state, Wait::Never).ok() } else { None }
    }

    /// Opens a blob for reading also if it is deleted or expired, as long as it is not compacted away; and whether it is
    /// deleted.
    pub fn get_deleted(&self, id: BlobId) -> Result<(BlobReader, bool)> {
        let state = self.find(id)?;
        if state.put.is_none() {
            self.shared.check_all_known(&state)?;
        }
        let deleted = state.is_deleted();
        Ok((open(id, state, Wait::ForDisk)?, deleted))
    }

    /// The same without waiting for the disk. `None` if it cannot be done so, or not at all:
    /// [`Partition::get_deleted`] knows.
    pub fn get_deleted_cached(&self, id: BlobId) -> Option<(BlobReader, bool)> {
        let state = self.find_cached(id)?;
        let deleted = state.is_deleted();
        Some((open(id, state, Wait::Never).ok()?, deleted))
    }

    /// Bytes that its segments have, and whether it takes no new blobs. Does not wait for a write that is under way.
    pub fn usage(&self) -> (u64, bool) {
        let visible = self.shared.read();
        (visible.used_bytes, visible.read_only)
    }

    /// Bytes that its segments may have together.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// Above so many bytes in its segments it takes no new blobs.
    pub fn threshold_bytes(&self) -> u64 {
        self.threshold_bytes
    }

    /// Whether a write or a sync failed, so that no more are taken until it is opened again.
    pub fn failure(&self) -> Option<Error> {
        self.shared.check_writable().err()
    }

    fn find(&self, id: BlobId) -> Result<BlobState> {
        self.check_partition(id)?;
        let state = self.repairing(|| self.shared.find(id.uuid, &[], Wait::ForDisk))?;
        self.shared.check_known(&state)?;
        Ok(state)
    }

    fn find_cached(&self, id: BlobId) -> Option<BlobState> {
        self.check_partition(id).ok()?;
        self.shared.find(id.uuid, &[], Wait::Never).ok()
    }

    /// Does `work`, and again if it met damaged indexes.
    pub(crate) fn repairing<T>(&self, work: impl Fn() -> Result<T>) -> Result<T> {
        repairing(work, |number| {
            let writer = self.writer();
            repair_index(&*writer.directory, &self.shared, number)
        })
    }

    /// Records from `sequence` on that are on the disk, at most `limit`: from memory if they are new, else by going
    /// through the log. What was compacted away is left out.
    pub fn changes_since(&self, sequence: u64, limit: usize) -> Result<Changes> {
        let (journal, end) = {
            let visible = self.shared.read();
            let end = visible.synced_sequence;
            (visible.journal.since(sequence, end, limit), end)
        };
        let Some(changes) = journal else {
            let in_log = || changes_in_log(self, sequence, end, limit);
            let (changes, next_sequence) = self.repairing(in_log)?;
            return Ok(Changes { changes, next_sequence });
        };
        let last = changes.last().filter(|_| changes.len() == limit);
        let next_sequence = last.map_or(end.max(sequence), |change| change.sequence + 1);
        Ok(Changes { changes, next_sequence })
    }

    /// Syncs what was written at [`Durability::Fast`].
    pub fn flush(&self) -> Result<()> {
        self.writer().flush(&self.shared, SyncPoint::Flush)
    }

    /// Writes down how far the log is on the disk, if all of it is: damage in there that is found when it is opened is told
    /// from a torn end then. Cheap; nothing is synced. For a partition that is at rest: the next record says the same.
    pub fn note_synced(&self) -> Result<()> {
        self.writer().note_synced(&self.shared)
    }

    /// Syncs all that was written, and writes down that it is. What comes after is possible, and not noted.
    pub fn close(&self) -> Result<()> {
        let mut writer = self.writer();
        writer.flush(&self.shared, SyncPoint::Close)?;
        writer.note_synced(&self.shared)?;
        if writer.noted > FIRST_RECORD { mark_file::sync(&*writer.directory) } else { Ok(()) }
    }

    /// Seals the active segment, if it has records, so that it can be compacted.
    pub fn seal(&self) -> Result<()> {
        let mut writer = self.writer();
        if writer.records == 0 { Ok(()) } else { writer.roll(&self.shared) }
    }

    /// Gives the space of deleted and expired blobs back: one run of neighbouring segments, as the report says. Call it
    /// again until there is nothing to do.
    pub fn compact(
        &self,
        options: &CompactionOptions,
        pacer: &dyn Pacer,
    ) -> Result<CompactionReport> {
        compact(self, options, pacer, &mut lock(&self.compacting))
    }

    /// What it has.
    pub fn status(&self) -> Status {
        let (next_sequence, reserved_bytes) = {
            let writer = self.writer();
            let reserved = writer.manifest.segment_bytes.saturating_sub(writer.tail);
            (writer.next_sequence, u64::from(reserved))
        };
        let visible = self.shared.read();
        let sealed = &visible.view.sealed;
        let entries: u64 = sealed.iter().map(|segment| u64::from(segment.index.entries())).sum();
        let memory: usize = sealed.iter().map(|segment| segment.index.memory_bytes()).sum();
        let recent = visible.recent.len();
        let entry_bytes = size_of::<((uuid::Uuid, u32), IndexEntry)>();
        Status {
            partition: self.id(),
            capacity_bytes: self.capacity_bytes,
            used_bytes: visible.used_bytes,
            reserved_bytes,
            read_only: visible.read_only,
            segments: sealed.len() + 1,
            records: entries + recent as u64,
            index_memory_bytes: (memory + recent * entry_bytes) as u64,
            retired_segments: visible.retired.len(),
            next_sequence,
        }
    }
}

fn open(id: BlobId, state: BlobState, wait: Wait) -> Result<BlobReader> {
    let expires_ms = state.expires_ms();
    let place = state.put.ok_or(Error::NotFound(id))?;
    BlobReader::open(id, place, expires_ms, wait)
}
