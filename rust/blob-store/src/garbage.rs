//! What a compaction may leave out, and where it is worth it.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use afterbay_blob_format::{IndexEntry, RecordKind};

use crate::blob_state::BlobState;
use crate::compaction::CompactionOptions;
use crate::directory::Wait;
use crate::error::Result;
use crate::log_file::{FIRST_RECORD, LogFile};
use crate::partition::Partition;
use crate::sealed::SealedSegment;

/// Segments of a run hold no more than so many segments' worth of records that stay: the disk needs that much room.
const RUN_SEGMENTS_MAX: u64 = 4;

/// Neighbouring segments to be replaced.
pub(crate) struct Run {
    /// Which of the sealed segments.
    pub(crate) range: Range<usize>,
    pub(crate) segments: Vec<Arc<SealedSegment>>,
    /// What stays, for each segment in the order of the log.
    pub(crate) kept: Vec<Vec<IndexEntry>>,
    pub(crate) dropped: Vec<IndexEntry>,
    pub(crate) bytes: u64,
    /// Records before this one were looked at.
    pub(crate) looked_at: u64,
}

/// A segment with what may go and what stays.
struct Sorted {
    kept: Vec<IndexEntry>,
    dropped: Vec<IndexEntry>,
    kept_bytes: u64,
}

/// The first run of segments with enough garbage.
pub(crate) fn choose(
    partition: &Partition,
    options: &CompactionOptions,
    damaged: &HashSet<u64>,
) -> Result<(Option<Run>, usize)> {
    let (view, looked_at) = {
        let writer = partition.writer();
        (partition.shared.read().view.clone(), writer.next_sequence)
    };
    let most = RUN_SEGMENTS_MAX * u64::from(partition.writer().manifest.segment_bytes);
    let mut run: Option<Run> = None;
    let (mut run_bytes, first) = (0, view.first_behind_unknown());
    let left_alone = &view.sealed[..first];
    let mut damaged_segments =
        left_alone.iter().filter(|segment| segment.log.unknown().is_some()).count();
    let sorting = Sorting { partition, options, all_known: view.unknown().is_none() };
    for (i, segment) in view.sealed.iter().enumerate().skip(first) {
        let sorted = if damaged.contains(&segment.log.header.number) {
            None
        } else {
            sorting.sort(segment, &mut damaged_segments)?
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
    Ok((run, damaged_segments))
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

/// Tells what may go from what stays.
struct Sorting<'a> {
    partition: &'a Partition,
    options: &'a CompactionOptions,
    /// There are no records that could not be read and that no index has.
    all_known: bool,
}

impl Sorting<'_> {
    /// What stays of a segment; `None` if too much does, or if it is damaged.
    fn sort(
        &self,
        segment: &SealedSegment,
        damaged_segments: &mut usize,
    ) -> Result<Option<Sorted>> {
        let entries = segment.index.by_offset()?;
        if !segment.is_whole(&entries) {
            *damaged_segments += 1;
            return Ok(None);
        }
        let mut sorted = Sorted { kept: Vec::new(), dropped: Vec::new(), kept_bytes: 0 };
        for entry in entries {
            let state = self.partition.shared.find(entry.uuid, &[], Wait::ForDisk)?;
            if self.may_go(&entry, &segment.log, &state) {
                sorted.dropped.push(entry);
            } else {
                sorted.kept_bytes += u64::from(entry.length);
                sorted.kept.push(entry);
            }
        }
        let records = u64::from(segment.length - FIRST_RECORD);
        let garbage = records - sorted.kept_bytes;
        let enough = garbage * 100 >= records * u64::from(self.options.garbage_percent_min);
        Ok((garbage > 0 && enough).then_some(sorted))
    }

    fn may_go(&self, entry: &IndexEntry, log: &LogFile, state: &BlobState) -> bool {
        match (entry.kind, &state.put) {
            (RecordKind::Put, _) => put_may_go(self.options, state),
            // As long as the put is somewhere in the log, all that is said about it stays.
            (_, Some(_)) => false,
            (_, None) if !self.all_known => false,
            (RecordKind::TtlUpdate, None) => true,
            // Without it, the delete would say that the blob is deleted.
            (RecordKind::Undelete, None) if state.has_delete() => false,
            (_, None) => {
                entry.time_ms < self.options.deleted_before_ms
                    && self.every_replica_has(log, entry.offset)
            }
        }
    }

    /// A record whose header cannot be read or is damaged stays: copying it finds that out.
    fn every_replica_has(&self, log: &LogFile, offset: u32) -> bool {
        let header = log.record_header(offset);
        header.is_ok_and(|header| header.sequence < self.options.tombstones_before_sequence)
    }
}

pub(crate) fn put_may_go(options: &CompactionOptions, state: &BlobState) -> bool {
    let expires_ms = state.expires_ms();
    let deleted = state.deleted_ms().is_some_and(|deleted| deleted < options.deleted_before_ms);
    deleted || (expires_ms != 0 && expires_ms < options.expired_before_ms)
}
