//! What a compaction may leave out, and where it is worth it.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use afterbay_blob_format::{IndexEntry, RecordKind};

use crate::blob_state::{At, BlobState, Place};
use crate::compaction::{CompactionOptions, Pacer};
use crate::error::Result;
use crate::log_file::{FIRST_RECORD, LogFile};
use crate::look_up::LookUp;
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
    pub(crate) dropped: Vec<Place>,
    pub(crate) bytes: u64,
    /// Records before this one were looked at.
    pub(crate) looked_at: u64,
    /// The sequence number behind those of tombstones that may go.
    pub(crate) horizon: u64,
}

/// What there is to do.
#[derive(Default)]
pub(crate) struct Chosen {
    pub(crate) run: Option<Run>,
    pub(crate) damaged_segments: usize,
    /// Sealed segments whose records are all before this sequence number were looked at.
    pub(crate) through: u64,
    /// The pacer said so.
    pub(crate) stopped: bool,
}

/// A segment with what may go and what stays.
#[derive(Default)]
struct Sorted {
    kept: Vec<IndexEntry>,
    dropped: Vec<IndexEntry>,
    kept_bytes: u64,
    horizon: u64,
}

/// The first run of segments with enough garbage, of those that have records from the sequence number `from` on.
pub(crate) fn choose(
    partition: &Partition,
    options: &CompactionOptions,
    pacer: &dyn Pacer,
    damaged: &HashSet<u64>,
    from: u64,
) -> Result<Chosen> {
    let (view, looked_at) = {
        let writer = partition.writer();
        (partition.shared.read().view.clone(), writer.next_sequence)
    };
    let most = RUN_SEGMENTS_MAX * u64::from(partition.writer().manifest.segment_bytes);
    let sorting = Sorting::new(partition, options);
    let first = if options.lost_is_repaired { 0 } else { view.first_behind_unknown() };
    let mut chosen = Chosen::default();
    let left_alone = &view.sealed[..first];
    chosen.damaged_segments =
        left_alone.iter().filter(|segment| segment.log.unknown().is_some()).count();
    let mut look_up = LookUp::new(partition, pacer);
    let mut run_bytes = 0;
    for (i, segment) in view.sealed.iter().enumerate().skip(first) {
        if segment.next_sequence <= from {
            continue;
        }
        let sorted = if damaged.contains(&segment.log.header.number) {
            None
        } else {
            sorting.sort(segment, &mut look_up, &mut chosen.damaged_segments)?
        };
        if look_up.is_stopped() {
            return Ok(Chosen { stopped: true, ..Chosen::default() });
        }
        let is_full = sorted.as_ref().is_some_and(|sorted| run_bytes + sorted.kept_bytes > most);
        if !is_full {
            chosen.through = segment.next_sequence;
        }
        match (sorted.filter(|_| !is_full), &mut chosen.run) {
            (None, Some(_)) => break,
            (None, None) => {}
            (Some(sorted), run) => {
                run_bytes += sorted.kept_bytes;
                let run = run.get_or_insert_with(|| Run::new(i, looked_at));
                run.add(segment, sorted);
            }
        }
    }
    Ok(chosen)
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
            horizon: 0,
        }
    }

    fn add(&mut self, segment: &Arc<SealedSegment>, sorted: Sorted) {
        self.range.end += 1;
        self.segments.push(segment.clone());
        self.kept.push(sorted.kept);
        let place = |entry| Place { log: segment.log.clone(), entry };
        self.dropped.extend(sorted.dropped.into_iter().map(place));
        self.bytes += u64::from(segment.length);
        self.horizon = self.horizon.max(sorted.horizon);
    }
}

/// Tells what may go from what stays.
pub(crate) struct Sorting<'a> {
    options: &'a CompactionOptions,
    /// There are no records that could not be read and that no index has.
    all_known: bool,
}

/// Whether a record stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stays,
    Goes,
    /// It goes, and says that a blob is gone: who has not heard of it will not. The number behind its own.
    GoesUnheard(u64),
}

impl<'a> Sorting<'a> {
    pub(crate) fn new(partition: &Partition, options: &'a CompactionOptions) -> Self {
        let known = partition.shared.read().view.unknown().is_none();
        Sorting { options, all_known: known || options.lost_is_repaired }
    }

    /// What stays of a segment; `None` if too much does, or if it is damaged.
    fn sort(
        &self,
        segment: &Arc<SealedSegment>,
        look_up: &mut LookUp<'_>,
        damaged_segments: &mut usize,
    ) -> Result<Option<Sorted>> {
        let mut entries = Vec::with_capacity(segment.index.entries() as usize);
        for page in segment.index.directory().pages() {
            entries.extend_from_slice(look_up.page(segment, page)?);
            if look_up.is_stopped() {
                return Ok(None);
            }
        }
        let mut sorted = Sorted::default();
        for blob in entries.chunk_by(|a, b| a.uuid == b.uuid) {
            let state = look_up.state(blob[0].uuid)?;
            for entry in blob {
                sorted.add(*entry, self.fate(entry, &segment.log, &state)?);
            }
        }
        entries.sort_unstable_by_key(|entry| entry.offset);
        if !segment.is_whole(&entries) && !self.options.lost_is_repaired {
            *damaged_segments += 1;
            return Ok(None);
        }
        sorted.kept.sort_unstable_by_key(|entry| entry.offset);
        let records = u64::from(segment.length - FIRST_RECORD);
        let garbage = records - sorted.kept_bytes;
        let enough = garbage * 100 >= records * u64::from(self.options.garbage_percent_min);
        Ok((garbage > 0 && enough).then_some(sorted))
    }

    /// Whether a record may still go.
    pub(crate) fn may_go(&self, place: &Place, state: &BlobState) -> Result<bool> {
        Ok(self.fate(&place.entry, &place.log, state)? != Fate::Stays)
    }

    fn fate(&self, entry: &IndexEntry, log: &LogFile, state: &BlobState) -> Result<Fate> {
        if is_superseded(entry, log, state) {
            return Ok(Fate::Goes);
        }
        let stays = match (entry.kind, &state.put) {
            (RecordKind::Put, _) => {
                let may_be_undeleted = entry.follows && !self.all_known;
                may_be_undeleted || !put_may_go(self.options, state)
            }
            // As long as the put is somewhere in the log, all that is said about it stays; but what it says of its expiry is enough.
            (_, Some(_)) if !is_over_by_put(self.options, state) => true,
            // It may be about a put that is still to come from another replica, and keeps a deleted blob deleted.
            _ if !self.all_known => true,
            (kind, _) if is_told_by(kind, state) => true,
            _ => entry.time_ms >= self.options.deleted_before_ms,
        };
        if stays || entry.kind == RecordKind::Put {
            return Ok(if stays { Fate::Stays } else { Fate::Goes });
        }
        // A record whose header cannot be read or is damaged stays: copying it finds that out.
        Ok(match log.record_header(entry.offset) {
            Ok(header) if header.sequence < self.options.tombstones_before_sequence => {
                Fate::GoesUnheard(header.sequence + 1)
            }
            _ => Fate::Stays,
        })
    }
}

impl Sorted {
    fn add(&mut self, entry: IndexEntry, fate: Fate) {
        if fate == Fate::Stays {
            self.kept_bytes += u64::from(entry.length);
            self.kept.push(entry);
            return;
        }
        if let Fate::GoesUnheard(horizon) = fate {
            self.horizon = self.horizon.max(horizon);
        }
        self.dropped.push(entry);
    }
}

/// Whether another record says the same and more, and is whole on the disk.
fn is_superseded(entry: &IndexEntry, log: &LogFile, state: &BlobState) -> bool {
    let at = At::of(log, entry);
    state.greatest(entry.kind).filter(|place| place.at() != at).is_some_and(|place| {
        let read = place.log.verified_record(place.entry.offset);
        read.is_ok_and(|(header, _)| IndexEntry::of(&header, place.entry.offset) == place.entry)
    })
}

/// Whether a record has to go after others of its blob: without it, these would say something else. Of a deleted blob, the delete
/// goes last, or the others would say that it is here; of an expired one, what says that it is.
fn is_told_by(kind: RecordKind, state: &BlobState) -> bool {
    match kind {
        RecordKind::Delete => {
            state.is_deleted() && (state.has_undelete() || state.has_ttl_update())
        }
        RecordKind::Undelete => state.has_delete() && !state.is_deleted(),
        RecordKind::TtlUpdate => state.has_undelete() && !state.is_deleted(),
        RecordKind::Put => false,
    }
}

/// An expired put stays as long as nothing else that stays says that it is: with an undelete alone, the blob would be missing.
fn put_may_go(options: &CompactionOptions, state: &BlobState) -> bool {
    let deleted = state.deleted_ms().is_some_and(|deleted| deleted < options.deleted_before_ms);
    let is_said = state.has_ttl_update() || !state.has_undelete();
    deleted || (is_said && state.is_expired_before(options.expired_before_ms))
}

/// Whether the blob is expired by what its put says, and is not deleted: then nothing that is said of lives counts any more.
fn is_over_by_put(options: &CompactionOptions, state: &BlobState) -> bool {
    !state.has_ttl_update()
        && !state.is_deleted()
        && state.is_expired_before(options.expired_before_ms)
}
