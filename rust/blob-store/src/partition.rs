//! One replica of a partition.

use std::collections::HashSet;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard};

use afterbay_blob_format::{BlobId, IndexEntry, PartitionId, RecordHeader};

use crate::blob_state::{BlobState, Condition};
use crate::clock::Clock;
use crate::commit::{CommitQueue, lock};
use crate::compaction::{CompactionOptions, CompactionReport, Pacer, compact};
use crate::directory::{Directory, Wait};
use crate::error::{Error, Result};
use crate::journal::{Change, Changes};
use crate::log_file::{FIRST_RECORD, LogFile};
use crate::mark_file;
use crate::options::{Durability, Operation, Options, Put, Write, Written};
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
    /// One compaction at a time. Numbers of segments in which one met damage: they are left alone until the partition is
    /// opened again.
    compacting: Mutex<HashSet<u64>>,
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
        recovery::create(directory, partition, options)
    }

    /// Opens the partition in `directory`, and repairs what the end of the last process left.
    pub fn open(
        directory: Arc<dyn Directory>,
        options: Options,
        clock: Arc<dyn Clock>,
    ) -> Result<Self> {
        let group_bytes_max = options.group_bytes_max;
        let (shared, writer, recovery) = recovery::open(directory, options, clock.clone())?;
        let capacity_bytes = writer.manifest.capacity_bytes;
        let threshold_bytes = percent_of(capacity_bytes, writer.options.read_only_above_percent);
        Ok(Partition {
            capacity_bytes,
            threshold_bytes,
            shared,
            writer: Mutex::new(writer),
            compacting: Mutex::new(HashSet::new()),
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
        let prepared: Vec<_> = writes.into_iter().map(|write| self.prepare(write)).collect();
        let (mut requests, mut puts) = (Vec::new(), Vec::new());
        let slots: Vec<Result<()>> = prepared
            .into_iter()
            .map(|prepared| {
                let request = prepared?;
                // Cheap: the content is shared.
                puts.push((request.id, request.action.clone()));
                requests.push(request);
                Ok(())
            })
            .collect();
        let weight = requests.iter().map(Request::weight).sum();
        let mut written = self
            .submit(requests, weight)
            .into_iter()
            .zip(puts)
            .map(|(outcome, (id, action))| self.acknowledge(id, &action, outcome?));
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

    fn check_partition(&self, id: BlobId) -> Result<()> {
        let partition = self.id();
        if id.partition == partition {
            Ok(())
        } else {
            Err(Error::OtherPartition { id, partition })
        }
    }

    fn acknowledge(&self, id: BlobId, action: &Action, outcome: Outcome) -> Result<Written> {
        match (outcome, action) {
            (Outcome::Wrote(_), _) => Ok(Written::Now),
            (Outcome::Taken(place), Action::Put(Prepared { properties, body, .. })) => {
                if BlobReader::open(id, place, 0, Wait::ForDisk)?.is_same(properties, body)? {
                    Ok(Written::Before)
                } else {
                    Err(Error::Collision(id))
                }
            }
            (Outcome::Nothing | Outcome::Taken(_), _) => Ok(Written::Before),
        }
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

    /// Which of `ids` have no record here: what a replica has to ask another one for.
    pub fn missing(&self, ids: &[BlobId]) -> Result<Vec<BlobId>> {
        let mut missing = Vec::new();
        for &id in ids {
            let state = self.find(id)?;
            if state.put.is_none() && !state.is_deleted() {
                missing.push(id);
            }
        }
        Ok(missing)
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
        let changes = match journal {
            Some(changes) => changes,
            None => self.repairing(|| self.changes_in_log(sequence, end, limit))?,
        };
        let last = changes.last().filter(|_| changes.len() == limit);
        let next_sequence = last.map_or(end.max(sequence), |change| change.sequence + 1);
        Ok(Changes { changes, next_sequence })
    }

    fn changes_in_log(&self, sequence: u64, end: u64, limit: usize) -> Result<Vec<Change>> {
        let (view, mut recent) = {
            let visible = self.shared.read();
            (visible.view.clone(), visible.recent.values().copied().collect::<Vec<_>>())
        };
        recent.sort_unstable_by_key(|entry| entry.offset);
        let mut found = Found { sequence, end, limit, changes: Vec::new() };
        for segment in view.sealed.iter().filter(|segment| segment.next_sequence > sequence) {
            if !found.is_enough() {
                found.add(&segment.log, &segment.index.by_offset()?)?;
            }
        }
        found.add(&view.active, &recent)?;
        Ok(found.changes)
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

/// Collects records of a range of sequence numbers.
struct Found {
    sequence: u64,
    end: u64,
    limit: usize,
    changes: Vec<Change>,
}

impl Found {
    fn is_enough(&self) -> bool {
        self.changes.len() >= self.limit
    }

    fn add(&mut self, log: &LogFile, by_offset: &[IndexEntry]) -> Result<()> {
        for entry in by_offset {
            if self.is_enough() {
                break;
            }
            let RecordHeader { sequence, id, kind, .. } = log.record_header(entry.offset)?;
            if (self.sequence..self.end).contains(&sequence) {
                self.changes.push(Change { sequence, id, kind });
            }
        }
        Ok(())
    }
}

fn open(id: BlobId, state: BlobState, wait: Wait) -> Result<BlobReader> {
    let expires_ms = state.expires_ms();
    let place = state.put.ok_or(Error::NotFound(id))?;
    BlobReader::open(id, place, expires_ms, wait)
}
