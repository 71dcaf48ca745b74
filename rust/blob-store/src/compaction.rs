//! Gives the space of deleted and expired blobs back.
//!
//! ```text
//!  choose a run of neighbouring sealed segments with enough that may go
//!  copy   what stays, verified, as it is, in its order, to new segments
//!  sync   their data and their names
//!  verify every record, read from the disk again
//!  check  that what was left out may still go (a blob may have been undeleted meanwhile)
//!  publish a manifest that has the new segments in the place of the old ones
//!  delete the old ones when nobody reads them any more
//! ```
//!
//! Until the manifest is published, a crash leaves the old segments in charge and the new ones as orphans; from then on the
//! other way round. A segment in which anything is damaged is left alone: what cannot be read must not be lost.

use std::collections::HashSet;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use afterbay_blob_format::{
    IndexEntry, IndexedSegment, Manifest, ManifestSegment, RecordHeader, RecordKind,
};
use uuid::Uuid;

use crate::blob_state::{BlobState, Place};
use crate::commit::lock;
use crate::directory::{Directory, SyncPoint};
use crate::error::{Error, Result};
use crate::log_file::{FIRST_RECORD, LogFile, log_name};
use crate::manifest_file;
use crate::partition::Partition;
use crate::sealed::{SealedIndex, SealedSegment, index_name};
use crate::shared::{Shared, View};
use crate::writer::read_back;

/// What a compaction may leave out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionOptions {
    /// Blobs that were deleted before, in milliseconds since 1970: from then on they cannot be undeleted.
    pub deleted_before_ms: u64,
    /// Blobs that expired before.
    pub expired_before_ms: u64,
    /// Deletes whose blob is gone, with a lower sequence number, of a time before `deleted_before_ms`: every replica has
    /// seen them. 0 keeps all: a replica that has not seen a delete would bring the blob back.
    pub tombstones_before_sequence: u64,
    /// Segments of which less may go are left alone, from 0 to 100.
    pub garbage_percent_min: u8,
}

/// What a compaction did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompactionReport {
    /// Segments that it replaced.
    pub segments_before: usize,
    /// Segments that it wrote.
    pub segments_after: usize,
    /// Bytes that the log is shorter.
    pub freed_bytes: u64,
    /// Records that were left out.
    pub dropped_records: u64,
    /// Segments that were left alone since something in them is damaged.
    pub damaged_segments: usize,
    /// Whether the work was given up: the pacer said so, or what was left out was needed again. Nothing has changed.
    pub given_up: bool,
}

/// Sets the pace of work in the background.
pub trait Pacer {
    /// Called before `bytes` are read and written; may wait. [`ControlFlow::Break`] ends the work, which changes nothing.
    fn pace(&self, bytes: u64) -> ControlFlow<()>;
}

/// As fast as it goes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unpaced;

impl Pacer for Unpaced {
    fn pace(&self, _bytes: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Segments of a run hold no more than so many segments' worth of records that stay: the disk needs that much room.
const RUN_SEGMENTS_MAX: u64 = 4;

pub(crate) fn compact(
    partition: &Partition,
    options: &CompactionOptions,
    pacer: &dyn Pacer,
    damaged: &mut HashSet<u64>,
) -> Result<CompactionReport> {
    reap(partition);
    let mut report = CompactionReport::default();
    let done = match choose(partition, options, damaged, &mut report)? {
        Some(run) => compact_run(partition, options, pacer, &run, &mut report),
        None => Ok(()),
    };
    if let Err(Stopped::Damage(number, error)) = done {
        tracing::error!(segment = number, %error, "not compacted: what cannot be read must not be lost");
        damaged.insert(number);
        (report.given_up, report.damaged_segments) = (true, report.damaged_segments + 1);
    } else if let Err(Stopped::Error(error)) = done {
        return Err(error);
    }
    reap(partition);
    Ok(report)
}

/// Why a compaction could not go on.
enum Stopped {
    /// A record of the segment with this number is not what was written.
    Damage(u64, Error),
    Error(Error),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Stopped::Error(error)
    }
}

fn compact_run(
    partition: &Partition,
    options: &CompactionOptions,
    pacer: &dyn Pacer,
    run: &Run,
    report: &mut CompactionReport,
) -> std::result::Result<(), Stopped> {
    let mut copies = Copies::default();
    let done = copies
        .copy(partition, run, pacer)
        .and_then(|finished| Ok(finished && publish(partition, options, run, &mut copies)?));
    if !matches!(done, Ok(true)) {
        // If the manifest could not be published, it may hold all the same.
        if partition.shared.check_writable().is_ok() {
            copies.discard(partition);
        }
        report.given_up = true;
        return done.map(|_| ());
    }
    report.segments_before = run.range.len();
    report.segments_after = copies.finished.len();
    report.dropped_records = run.dropped.len() as u64;
    report.freed_bytes = run.bytes.saturating_sub(copies.bytes());
    Ok(())
}

/// Deletes the files of segments that were compacted and that nobody reads any more.
fn reap(partition: &Partition) {
    let directory = lock(&partition.writer).directory.clone();
    let unread: Vec<_> = {
        let mut visible = partition.shared.write();
        visible.retired.extract_if(.., |log| Arc::strong_count(log) == 1).collect()
    };
    for log in unread {
        for name in [log.name.clone(), index_name(log.header.number)] {
            // Recovery removes what stays.
            if let Err(error) = directory.remove(&name) {
                tracing::warn!(file = name, %error, "cannot remove a compacted segment");
            }
        }
    }
}

/// Neighbouring segments to be replaced.
struct Run {
    /// Which of the sealed segments.
    range: Range<usize>,
    segments: Vec<Arc<SealedSegment>>,
    /// What stays, for each segment in the order of the log.
    kept: Vec<Vec<IndexEntry>>,
    dropped: Vec<IndexEntry>,
    bytes: u64,
    /// Records before this one were looked at.
    looked_at: u64,
}

/// A segment with what may go and what stays.
struct Sorted {
    kept: Vec<IndexEntry>,
    dropped: Vec<IndexEntry>,
    kept_bytes: u64,
}

/// The first run of segments with enough garbage.
fn choose(
    partition: &Partition,
    options: &CompactionOptions,
    damaged: &HashSet<u64>,
    report: &mut CompactionReport,
) -> Result<Option<Run>> {
    let (view, looked_at) = {
        let writer = lock(&partition.writer);
        (partition.shared.read().view.clone(), writer.next_sequence)
    };
    let most = RUN_SEGMENTS_MAX * u64::from(lock(&partition.writer).manifest.segment_bytes);
    let mut run: Option<Run> = None;
    let mut run_bytes = 0;
    for (i, segment) in view.sealed.iter().enumerate() {
        let sorted = if damaged.contains(&segment.log.header.number) {
            None
        } else {
            sort(partition, options, segment, report)?
        };
        let sorted = sorted.filter(|sorted| run_bytes + sorted.kept_bytes <= most);
        match (sorted, &mut run) {
            (None, Some(_)) => break,
            (None, None) => {}
            (Some(sorted), run) => {
                run_bytes += sorted.kept_bytes;
                let run = run.get_or_insert_with(|| Run::new(i, looked_at));
                run.add(segment, sorted);
            }
        }
    }
    Ok(run)
}

impl Run {
    fn new(first: usize, looked_at: u64) -> Self {
        Run {
            range: first..first,
            segments: Vec::new(),
            kept: Vec::new(),
            dropped: Vec::new(),
            bytes: 0,
            looked_at,
        }
    }

    fn add(&mut self, segment: &Arc<SealedSegment>, sorted: Sorted) {
        self.range.end += 1;
        self.segments.push(segment.clone());
        self.kept.push(sorted.kept);
        self.dropped.extend(sorted.dropped);
        self.bytes += u64::from(segment.length);
    }
}

/// What stays of a segment; `None` if too much does, or if it is damaged.
fn sort(
    partition: &Partition,
    options: &CompactionOptions,
    segment: &SealedSegment,
    report: &mut CompactionReport,
) -> Result<Option<Sorted>> {
    let entries = match segment.index.by_offset() {
        Ok(entries) if segment.is_whole(&entries) => entries,
        Ok(_) | Err(Error::Damaged { .. }) => {
            report.damaged_segments += 1;
            return Ok(None);
        }
        Err(other) => return Err(other),
    };
    let mut sorted = Sorted { kept: Vec::new(), dropped: Vec::new(), kept_bytes: 0 };
    for entry in entries {
        let state = partition.shared.find(entry.uuid, &[])?;
        if may_go(options, &entry, &segment.log, &state)? {
            sorted.dropped.push(entry);
        } else {
            sorted.kept_bytes += u64::from(entry.length);
            sorted.kept.push(entry);
        }
    }
    let records = u64::from(segment.length - FIRST_RECORD);
    let garbage = records - sorted.kept_bytes;
    let enough = garbage * 100 >= records * u64::from(options.garbage_percent_min);
    Ok((garbage > 0 && enough).then_some(sorted))
}

fn may_go(
    options: &CompactionOptions,
    entry: &IndexEntry,
    log: &LogFile,
    state: &BlobState,
) -> Result<bool> {
    Ok(match (entry.kind, &state.put) {
        (RecordKind::Put, _) => put_may_go(options, state),
        // As long as the put is somewhere in the log, all that is said about it stays.
        (_, Some(_)) => false,
        (RecordKind::TtlUpdate, None) => true,
        (_, None) => {
            entry.time_ms < options.deleted_before_ms
                && log.record_header(entry.offset)?.sequence < options.tombstones_before_sequence
        }
    })
}

fn put_may_go(options: &CompactionOptions, state: &BlobState) -> bool {
    let expires_ms = state.expires_ms();
    let deleted = state.deleted_ms().is_some_and(|deleted| deleted < options.deleted_before_ms);
    deleted || (expires_ms != 0 && expires_ms < options.expired_before_ms)
}

/// The segments that a compaction writes.
#[derive(Default)]
struct Copies {
    current: Option<Copy>,
    finished: Vec<Copy>,
}

struct Copy {
    log: Arc<LogFile>,
    tail: u32,
    entries: Vec<IndexEntry>,
    first_sequence: u64,
    next_sequence: u64,
}

impl Copies {
    /// False if the pacer ended it.
    fn copy(
        &mut self,
        partition: &Partition,
        run: &Run,
        pacer: &dyn Pacer,
    ) -> std::result::Result<bool, Stopped> {
        for (segment, kept) in run.segments.iter().zip(&run.kept) {
            for entry in kept {
                if pacer.pace(entry.length.into()).is_break() {
                    return Ok(false);
                }
                let (header, bytes) = segment.log.verified_record(entry.offset).map_err(|e| {
                    if e.is_damage() {
                        Stopped::Damage(segment.log.header.number, e)
                    } else {
                        e.into()
                    }
                })?;
                self.add(partition, entry, &header, &bytes)?;
            }
        }
        self.finish_current()?;
        lock(&partition.writer).sync_entries(SyncPoint::CompactedEntry)?;
        Ok(self.verify(pacer)?)
    }

    fn add(
        &mut self,
        partition: &Partition,
        entry: &IndexEntry,
        header: &RecordHeader,
        bytes: &[u8],
    ) -> Result<()> {
        let capacity = lock(&partition.writer).manifest.segment_bytes;
        let full = |copy: &Copy| {
            let records_max = lock(&partition.writer).options.segment_records_max;
            u64::from(copy.tail) + u64::from(entry.length) > u64::from(capacity)
                || copy.entries.len() >= records_max
        };
        if self.current.as_ref().is_some_and(full) {
            self.finish_current()?;
        }
        let copy = match &mut self.current {
            Some(copy) => copy,
            none => {
                let log = Arc::new(lock(&partition.writer).new_segment(capacity)?);
                let (tail, first_sequence) = (FIRST_RECORD, header.sequence);
                none.insert(Copy {
                    log,
                    tail,
                    entries: Vec::new(),
                    first_sequence,
                    next_sequence: 0,
                })
            }
        };
        copy.log
            .file
            .write_all_at(&[std::io::IoSlice::new(bytes)], copy.tail.into())
            .map_err(|e| crate::log_file::no_room_or(&copy.log.name, "write", e))?;
        copy.entries.push(IndexEntry { offset: copy.tail, ..*entry });
        copy.tail += entry.length;
        copy.next_sequence = header.sequence + 1;
        Ok(())
    }

    fn finish_current(&mut self) -> Result<()> {
        if let Some(copy) = self.current.take() {
            let log = copy.log.clone();
            let tail = copy.tail;
            self.finished.push(copy);
            log.file.truncate(tail.into()).map_err(|e| Error::io(&log.name, "cut", e))?;
            log.sync(SyncPoint::CompactedData)?;
        }
        Ok(())
    }

    fn verify(&self, pacer: &dyn Pacer) -> Result<bool> {
        for copy in &self.finished {
            for &entry in &copy.entries {
                if pacer.pace(entry.length.into()).is_break() {
                    return Ok(false);
                }
                read_back(&Place { log: copy.log.clone(), entry })?;
            }
        }
        Ok(true)
    }

    fn bytes(&self) -> u64 {
        self.finished.iter().map(|copy| u64::from(copy.tail)).sum()
    }

    fn seal(
        &mut self,
        directory: &dyn Directory,
        next_sequence: u64,
    ) -> Result<Vec<Arc<SealedSegment>>> {
        if let Some(last) = self.finished.last_mut() {
            last.next_sequence = next_sequence;
        }
        self.finished.iter().map(|copy| copy.seal(directory).map(Arc::new)).collect()
    }

    /// Removes what was written. Recovery does it otherwise.
    fn discard(&self, partition: &Partition) {
        let directory = lock(&partition.writer).directory.clone();
        for copy in self.finished.iter().chain(&self.current) {
            let number = copy.log.header.number;
            for name in [log_name(number), index_name(number)] {
                let _ = directory.remove(&name);
            }
        }
    }
}

impl Copy {
    fn seal(&self, directory: &dyn Directory) -> Result<SealedSegment> {
        let of = IndexedSegment {
            partition: self.log.header.partition,
            segment: self.log.header.segment,
            number: self.log.header.number,
            covers: self.tail,
            first_sequence: self.first_sequence,
        };
        let index = SealedIndex::build(directory, &of, self.entries.clone())?;
        let (log, length, next_sequence) = (self.log.clone(), self.tail, self.next_sequence);
        Ok(SealedSegment { log, length, next_sequence, compacted: true, index })
    }
}

/// Puts the copies in the place of the run. False if something that was left out is needed after all.
fn publish(
    partition: &Partition,
    options: &CompactionOptions,
    run: &Run,
    copies: &mut Copies,
) -> Result<bool> {
    let shared = &partition.shared;
    let directory = lock(&partition.writer).directory.clone();
    let last = run.segments.last().map_or(0, |segment| segment.next_sequence);
    let sealed = copies.seal(&*directory, last)?;
    let mut writer = lock(&partition.writer);
    // The deletes that let blobs go must not be lost when the blobs are.
    writer.flush(shared, SyncPoint::Commit)?;
    if is_needed_again(shared, options, run)? {
        return Ok(false);
    }
    let next = with_copies(&writer.manifest, run, &sealed);
    writer.stage(&next)?;
    manifest_file::publish_staged(&*writer.directory).map_err(|e| shared.fail(e))?;
    writer.manifest = next;
    replace(shared, run, sealed);
    writer.publish(shared);
    Ok(true)
}

/// Whether a record came since that keeps alive what was left out. No write can come while the writer is locked.
fn is_needed_again(shared: &Shared, options: &CompactionOptions, run: &Run) -> Result<bool> {
    let puts = run.dropped.iter().filter(|entry| entry.kind == RecordKind::Put);
    let dropped: HashSet<Uuid> = puts.map(|entry| entry.uuid).collect();
    for uuid in
        changed_since(shared, run.looked_at)?.into_iter().filter(|uuid| dropped.contains(uuid))
    {
        if !put_may_go(options, &shared.find(uuid, &[])?) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Blobs that have records in segments which were not sealed, or not full, when the run was looked at.
fn changed_since(shared: &Shared, sequence: u64) -> Result<Vec<Uuid>> {
    let (view, mut uuids) = {
        let visible = shared.read();
        (visible.view.clone(), visible.recent.keys().map(|(uuid, _)| *uuid).collect::<Vec<_>>())
    };
    for segment in view.sealed.iter().filter(|segment| segment.next_sequence > sequence) {
        uuids.extend(segment.index.by_offset()?.iter().map(|entry| entry.uuid));
    }
    Ok(uuids)
}

fn with_copies(manifest: &Manifest, run: &Run, sealed: &[Arc<SealedSegment>]) -> Manifest {
    let mut next = manifest.clone();
    next.generation += 1;
    let segments = sealed.iter().map(|segment| ManifestSegment {
        number: segment.log.header.number,
        segment: segment.log.header.segment,
        length: segment.length,
        compacted: true,
        next_sequence: segment.next_sequence,
    });
    next.segments.splice(run.range.clone(), segments);
    next
}

fn replace(shared: &Shared, run: &Run, sealed: Vec<Arc<SealedSegment>>) {
    let mut visible = shared.write();
    let mut segments = visible.view.sealed.clone();
    segments.splice(run.range.clone(), sealed);
    visible.view = Arc::new(View { sealed: segments, active: visible.view.active.clone() });
    visible.retired.extend(run.segments.iter().map(|segment| segment.log.clone()));
}
