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

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use afterbay_blob_format::{Manifest, ManifestSegment};
use uuid::Uuid;

use crate::blob_state::Place;
use crate::copies::{Copies, Stopped};
use crate::directory::Wait;
use crate::error::Result;
use crate::garbage::{Chosen, Run, Sorting, choose};
use crate::partition::Partition;
use crate::sealed::{SealedSegment, index_name};
use crate::shared::{Shared, View};
use crate::sync_point::SyncPoint;
use crate::unripe::Unripes;

/// What a compaction may leave out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionOptions {
    /// Blobs that were deleted before, in milliseconds since 1970: from then on they cannot be undeleted.
    pub deleted_before_ms: u64,
    /// Blobs that expired before.
    pub expired_before_ms: u64,
    /// Deletes whose blob is gone, and undeletes and TTL updates of blobs that are not here, with a lower sequence number and of
    /// a time before `deleted_before_ms`: every replica has seen them. 0 keeps all: a replica that has not seen a delete would
    /// bring the blob back. What goes is noted by [`Partition::tombstone_horizon`].
    pub tombstones_before_sequence: u64,
    /// Segments of which less may go are left alone, from 0 to 100.
    pub garbage_percent_min: u8,
    /// What places that are damaged or cannot be read held is here again: all blobs were compared with another replica
    /// since they were found. They may go then; records that are known and damaged stay as long as no other one says the same
    /// ([`Partition::repair`]).
    pub lost_is_repaired: bool,
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

/// What compactions of a partition know of those before.
#[derive(Debug, Default)]
pub(crate) struct Compacting {
    /// Numbers of segments in which one met damage: they are left alone until the partition is opened again, or repaired.
    damaged: HashSet<u64>,
    /// With which options segments were looked at, and up to which sequence number: the next run is looked for behind them.
    looked_at: Option<(CompactionOptions, u64)>,
    /// Segments that need not be looked at again.
    pub(crate) unripes: Unripes,
}

pub(crate) fn compact(
    partition: &Partition,
    options: &CompactionOptions,
    pacer: &dyn Pacer,
    compacting: &mut Compacting,
) -> Result<CompactionReport> {
    reap(partition);
    if partition.repaired.swap(false, Ordering::Relaxed) {
        compacting.damaged.clear();
        compacting.unripes.clear();
    }
    let mut found_damaged = 0;
    let report = loop {
        let Chosen { run, damaged_segments, through, stopped } =
            compacting.choose(partition, options, pacer)?;
        let damaged_segments = damaged_segments + found_damaged;
        let mut report =
            CompactionReport { damaged_segments, given_up: stopped, ..CompactionReport::default() };
        let Some(run) = run else {
            break report;
        };
        match compact_run(partition, options, pacer, &run, &mut report) {
            Ok(()) => {
                let done = !report.given_up;
                if done {
                    let dropped = run.dropped.iter().map(|place| place.entry.uuid);
                    compacting.unripes.note_dropped(dropped);
                }
                compacting.looked_at = done.then(|| (options.clone(), through));
                break report;
            }
            Err(Stopped::Error(error)) => return Err(error),
            // Another run, without this segment.
            Err(Stopped::Damage(number, error)) => {
                tracing::error!(segment = number, %error, "not compacted: what cannot be read must not be lost");
                compacting.damaged.insert(number);
                found_damaged += 1;
            }
        }
    };
    reap(partition);
    Ok(report)
}

impl Compacting {
    /// Behind the last run; if nothing is there, once more from the first segment on: something may have been deleted since.
    fn choose(
        &mut self,
        partition: &Partition,
        options: &CompactionOptions,
        pacer: &dyn Pacer,
    ) -> Result<Chosen> {
        let same = self.looked_at.take().filter(|(with, _)| with == options);
        let (unripes, damaged) = (RefCell::new(&mut self.unripes), &self.damaged);
        let choose_from = |from| {
            partition.repairing(|| {
                choose(partition, options, pacer, damaged, from, &mut unripes.borrow_mut())
            })
        };
        match same {
            Some((_, from)) => {
                let chosen = choose_from(from)?;
                let is_done = chosen.run.is_some() || chosen.stopped;
                if is_done { Ok(chosen) } else { choose_from(0) }
            }
            None => choose_from(0),
        }
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
    if is_needed_again(partition, options, run)? {
        return Ok(false);
    }
    let next = with_copies(&writer.manifest, run, &sealed);
    writer.stage(&next, SyncPoint::CompactedManifestData)?;
    writer.publish_staged(shared, next, SyncPoint::CompactedManifestEntry)?;
    replace(shared, run, sealed, last);
    writer.publish(shared);
    Ok(true)
}

/// Whether a record came since that keeps what was left out. No write can come while the writer is locked.
fn is_needed_again(partition: &Partition, options: &CompactionOptions, run: &Run) -> Result<bool> {
    let shared = &partition.shared;
    let mut dropped: HashMap<Uuid, Vec<&Place>> = HashMap::new();
    for place in &run.dropped {
        dropped.entry(place.entry.uuid).or_default().push(place);
    }
    let sorting = Sorting::new(partition, options);
    for uuid in changed_since(shared, run.looked_at)? {
        let Some(places) = dropped.remove(&uuid) else {
            continue;
        };
        let state = shared.find(uuid, &[], Wait::ForDisk)?;
        for place in places {
            if !sorting.may_go(place, &state) {
                return Ok(true);
            }
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
    if let Some(replica) = &mut next.replica {
        replica.tombstone_horizon = replica.tombstone_horizon.max(run.horizon);
    }
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

/// `last` is the number behind the records of the run.
fn replace(shared: &Shared, run: &Run, sealed: Vec<Arc<SealedSegment>>, last: u64) {
    let mut visible = shared.write();
    visible.journal.forget_before(last);
    let mut segments = visible.view.sealed.clone();
    segments.splice(run.range.clone(), sealed);
    visible.view = Arc::new(View { sealed: segments, active: visible.view.active.clone() });
    visible.retired.extend(run.segments.iter().map(|segment| segment.log.clone()));
}
