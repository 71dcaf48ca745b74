//! What a compaction may leave out, and where it is worth it. Segments of which it is known that they are not are not looked at
//! ([`Unripes`]).

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
use crate::unripe::{LogEnd, Unripes, Until, With, is_change};

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
    unripes: &mut Unripes,
) -> Result<Chosen> {
    let (view, recent, end) = {
        let writer = partition.writer();
        let visible = partition.shared.read();
        let recent = visible.recent.values().filter(|entry| is_change(entry));
        let recent: Vec<_> = recent.copied().collect();
        let (sequence, segment) = (writer.next_sequence, visible.view.active.header.number);
        (visible.view.clone(), recent, LogEnd { sequence, segment, tail: visible.tail })
    };
    let looked_at = end.sequence;
    let most = RUN_SEGMENTS_MAX * u64::from(partition.writer().manifest.segment_bytes);
    let sorting = Sorting::new(partition, options);
    let first = if options.lost_is_repaired { 0 } else { view.first_behind_unknown() };
    let mut chosen = Chosen::default();
    let left_alone = &view.sealed[..first];
    chosen.damaged_segments =
        left_alone.iter().filter(|segment| segment.log.unknown().is_some()).count();
    let mut look_up = LookUp::new(partition, pacer);
    unripes.follow(sorting.with(), &view, &recent, end, &mut look_up)?;
    if look_up.is_stopped() {
        return Ok(Chosen { stopped: true, ..Chosen::default() });
    }
    let mut run_bytes = 0;
    for (i, segment) in view.sealed.iter().enumerate().skip(first) {
        if segment.next_sequence <= from {
            continue;
        }
        let sorted = if damaged.contains(&segment.log.header.number) {
            None
        } else if let Some(is_damaged) = unripes.is_unripe(segment, options) {
            chosen.damaged_segments += usize::from(is_damaged);
            None
        } else {
            sorting.sort(segment, &mut look_up, &mut chosen.damaged_segments, unripes)?
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
    Stays(Until),
    Goes,
    /// It goes, and says that a blob is gone: who has not heard of it will not. The number behind its own.
    GoesUnheard(u64),
}

impl<'a> Sorting<'a> {
    pub(crate) fn new(partition: &Partition, options: &'a CompactionOptions) -> Self {
        let known = partition.shared.read().view.unknown().is_none();
        Sorting { options, all_known: known || options.lost_is_repaired }
    }

    fn with(&self) -> With {
        let CompactionOptions { garbage_percent_min, lost_is_repaired, .. } = *self.options;
        With { garbage_percent_min, lost_is_repaired, all_known: self.all_known }
    }

    /// What stays of a segment; `None` if too much does, or if it is damaged.
    fn sort(
        &self,
        segment: &Arc<SealedSegment>,
        look_up: &mut LookUp<'_>,
        damaged_segments: &mut usize,
        unripes: &mut Unripes,
    ) -> Result<Option<Sorted>> {
        let mut entries = Vec::with_capacity(segment.index.entries() as usize);
        for page in segment.index.directory().pages() {
            entries.extend_from_slice(look_up.page(segment, page)?);
            if look_up.is_stopped() {
                return Ok(None);
            }
        }
        let (mut sorted, mut stay) = (Sorted::default(), Vec::new());
        for blob in entries.chunk_by(|a, b| a.uuid == b.uuid) {
            let state = look_up.state(blob[0].uuid)?;
            if look_up.is_stopped() {
                return Ok(None);
            }
            for entry in blob {
                let fate = self.fate(entry, &segment.log, &state);
                if let Fate::Stays(until) = fate {
                    stay.push((until, entry.length));
                }
                sorted.add(*entry, fate);
            }
        }
        entries.sort_unstable_by_key(|entry| entry.offset);
        if !segment.is_whole(&entries) && !self.options.lost_is_repaired {
            *damaged_segments += 1;
            unripes.is_damaged(segment);
            return Ok(None);
        }
        sorted.kept.sort_unstable_by_key(|entry| entry.offset);
        let records = u64::from(segment.length - FIRST_RECORD);
        let garbage = records - sorted.kept_bytes;
        let percent = u64::from(self.options.garbage_percent_min);
        let needed = (records * percent).div_ceil(100).max(1);
        if garbage < needed {
            unripes.lacks(segment, needed - garbage, &stay);
            return Ok(None);
        }
        Ok(Some(sorted))
    }

    /// Whether a record may still go.
    pub(crate) fn may_go(&self, place: &Place, state: &BlobState) -> bool {
        !matches!(self.fate(&place.entry, &place.log, state), Fate::Stays(_))
    }

    fn fate(&self, entry: &IndexEntry, log: &LogFile, state: &BlobState) -> Fate {
        match is_superseded(entry, log, state) {
            Some(true) => Fate::Goes,
            Some(false) => self.fate_alone(entry, log, state),
            None => match self.fate_alone(entry, log, state) {
                // Perhaps the other one can be read the next time.
                Fate::Stays(_) => Fate::Stays(Until::NOW),
                goes => goes,
            },
        }
    }

    /// That of a record of which no other one says the same.
    fn fate_alone(&self, entry: &IndexEntry, log: &LogFile, state: &BlobState) -> Fate {
        let until = match (entry.kind, &state.put) {
            (RecordKind::Put, _) if entry.follows && !self.all_known => Until::CHANGED,
            (RecordKind::Put, _) if put_may_go(self.options, state) => return Fate::Goes,
            (RecordKind::Put, _) => put_stays_until(state),
            // As long as the put is somewhere in the log, all that is said about it stays; but what it says of its expiry is enough.
            (_, Some(_)) if !is_over_by_put(self.options, state) => over_by_put_at(state),
            // It may be about a put that is still to come from another replica, and keeps a deleted blob deleted.
            _ if !self.all_known => Until::CHANGED,
            (kind, _) if is_told_by(kind, state) => Until::CHANGED,
            _ if entry.time_ms >= self.options.deleted_before_ms => {
                Until { deleted_ms: entry.time_ms, ..Until::CHANGED }
            }
            // A record whose header cannot be read or is damaged stays: copying it finds that out.
            _ => match log.record_header(entry.offset) {
                Ok(header) if header.sequence < self.options.tombstones_before_sequence => {
                    return Fate::GoesUnheard(header.sequence + 1);
                }
                Ok(header) => Until { sequence: header.sequence, ..Until::CHANGED },
                Err(_) => Until::NOW,
            },
        };
        Fate::Stays(until)
    }
}

impl Sorted {
    fn add(&mut self, entry: IndexEntry, fate: Fate) {
        if let Fate::Stays(_) = fate {
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

/// Whether another record says the same and more, and is whole on the disk; `None` if there is one and it is not.
fn is_superseded(entry: &IndexEntry, log: &LogFile, state: &BlobState) -> Option<bool> {
    let at = At::of(log, entry);
    let Some(place) = state.greatest(entry.kind).filter(|place| place.at() != at) else {
        return Some(false);
    };
    let read = place.log.verified_record(place.entry.offset);
    let is_whole =
        read.is_ok_and(|(header, _)| IndexEntry::of(&header, place.entry.offset) == place.entry);
    is_whole.then_some(true)
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

fn put_stays_until(state: &BlobState) -> Until {
    let is_said = state.has_ttl_update() || !state.has_undelete();
    let deleted_ms = state.deleted_ms().unwrap_or(u64::MAX);
    let expired_ms = if is_said { expires_at(state) } else { u64::MAX };
    Until { deleted_ms, expired_ms, ..Until::CHANGED }
}

/// Until the blob is over by what its put says, if it ever is.
fn over_by_put_at(state: &BlobState) -> Until {
    let is_ever = !state.has_ttl_update() && !state.is_deleted();
    Until { expired_ms: if is_ever { expires_at(state) } else { u64::MAX }, ..Until::CHANGED }
}

/// [`BlobState::expires_ms`], never being `u64::MAX`.
fn expires_at(state: &BlobState) -> u64 {
    match state.expires_ms() {
        0 => u64::MAX,
        expires_ms => expires_ms,
    }
}

/// Whether the blob is expired by what its put says, and is not deleted: then nothing that is said of lives counts any more.
fn is_over_by_put(options: &CompactionOptions, state: &BlobState) -> bool {
    !state.has_ttl_update()
        && !state.is_deleted()
        && state.is_expired_before(options.expired_before_ms)
}
