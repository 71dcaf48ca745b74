//! What a compaction may leave out, and where it is worth it.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use afterbay_blob_format::{IndexEntry, RecordKind};

use crate::blob_state::BlobState;
use crate::commit::lock;
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
        let writer = lock(&partition.writer);
        (partition.shared.read().view.clone(), writer.next_sequence)
    };
    let most = RUN_SEGMENTS_MAX * u64::from(lock(&partition.writer).manifest.segment_bytes);
    let mut run: Option<Run> = None;
    let (mut run_bytes, mut damaged_segments) = (0, 0);
    for (i, segment) in view.sealed.iter().enumerate() {
        let sorted = if damaged.contains(&segment.log.header.number) {
            None
        } else {
            sort(partition, options, segment, &mut damaged_segments)?
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

/// What stays of a segment; `None` if too much does, or if it is damaged.
fn sort(
    partition: &Partition,
    options: &CompactionOptions,
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
        let state = partition.shared.find(entry.uuid, &[], Wait::ForDisk)?;
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

pub(crate) fn put_may_go(options: &CompactionOptions, state: &BlobState) -> bool {
    let expires_ms = state.expires_ms();
    let deleted = state.deleted_ms().is_some_and(|deleted| deleted < options.deleted_before_ms);
    deleted || (expires_ms != 0 && expires_ms < options.expired_before_ms)
}
