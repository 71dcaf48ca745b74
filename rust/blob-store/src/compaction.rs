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
//! other way round. A segment in which anything is damaged or cannot be read is left alone, the others are not: what cannot be
//! read must not be lost. Nor must what it may be about: as long as nobody knows which records there are in a place that
//! cannot be read, the segments before it are left alone, too.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use afterbay_blob_format::{Manifest, ManifestSegment, RecordKind};
use uuid::Uuid;

use crate::copies::{Copies, Stopped};
use crate::directory::Wait;
use crate::error::Result;
use crate::garbage::{Run, choose, put_may_go};
use crate::manifest_file;
use crate::partition::Partition;
use crate::sealed::{SealedSegment, index_name};
use crate::shared::{Shared, View};
use crate::sync_point::SyncPoint;

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

pub(crate) fn compact(
    partition: &Partition,
    options: &CompactionOptions,
    pacer: &dyn Pacer,
    damaged: &mut HashSet<u64>,
) -> Result<CompactionReport> {
    reap(partition);
    let mut found_damaged = 0;
    let report = loop {
        let (run, damaged_segments) =
            partition.repairing(|| choose(partition, options, damaged))?;
        let damaged_segments = damaged_segments + found_damaged;
        let mut report = CompactionReport { damaged_segments, ..CompactionReport::default() };
        let Some(run) = run else {
            break report;
        };
        match compact_run(partition, options, pacer, &run, &mut report) {
            Ok(()) => break report,
            Err(Stopped::Error(error)) => return Err(error),
            // Another run, without this segment.
            Err(Stopped::Damage(number, error)) => {
                tracing::error!(segment = number, %error, "not compacted: what cannot be read must not be lost");
                damaged.insert(number);
                found_damaged += 1;
            }
        }
    };
    reap(partition);
    Ok(report)
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
    let directory = partition.writer().directory.clone();
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

/// Puts the copies in the place of the run. False if something that was left out is needed after all.
fn publish(
    partition: &Partition,
    options: &CompactionOptions,
    run: &Run,
    copies: &mut Copies,
) -> Result<bool> {
    let shared = &partition.shared;
    let directory = partition.writer().directory.clone();
    let last = run.segments.last().map_or(0, |segment| segment.next_sequence);
    let sealed = copies.seal(&*directory, last)?;
    let mut writer = partition.writer();
    // The deletes that let blobs go must not be lost when the blobs are.
    writer.flush(shared, SyncPoint::CompactionDeletes)?;
    if is_needed_again(shared, options, run)? {
        return Ok(false);
    }
    let next = with_copies(&writer.manifest, run, &sealed);
    writer.stage(&next, SyncPoint::CompactedManifestData)?;
    let entry = SyncPoint::CompactedManifestEntry;
    manifest_file::publish_staged(&*writer.directory, entry).map_err(|e| shared.fail(e))?;
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
        if !put_may_go(options, &shared.find(uuid, &[], Wait::ForDisk)?) {
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
