//! Opens a partition, after whatever ended the last process that had it open.
//!
//! 1. The manifest says which segments there are. Without it nothing is opened, and nothing deleted.
//! 2. The directory is synced; then what the manifest does not name goes: half-made segments, compacted ones.
//! 3. An index that is missing or damaged is computed from its segment.
//! 4. The active segment is gone through. What is damaged before an offset that a later record, or the mark (`mark_file`),
//!    says was synced was acknowledged once: it is reported, and stays. What is damaged behind all of those is the torn end of
//!    the log: it is cut, zeroed, and the rest synced before anybody can read it. If some of that end cannot be read, nothing
//!    of it is cut: it may have been acknowledged, and may be read another time.

use std::collections::BTreeMap;
use std::io::IoSlice;
use std::sync::Arc;

use afterbay_blob_format::{
    IndexEntry, Manifest, ManifestSegment, RECORD_HEADER_BYTES, RecordHeader, ReplicaState,
    SegmentHeader, SyncedMark,
};
use uuid::Uuid;

use crate::clock::Clock;
use crate::directory::Directory;
use crate::error::{Error, Result};
use crate::identities::Identities;
use crate::journal::{Change, Journal};
use crate::log_file::{FIRST_RECORD, LogFile, log_number};
use crate::manifest_file;
use crate::mark_file;
use crate::options::Options;
use crate::salvage::Salvage;
use crate::scan::{DamagedRange, Scan, Sequences, scan};
use crate::sealed::{SealedIndex, SealedSegment, index_number};
use crate::shared::{Shared, View, Visible};
use crate::sync_point::SyncPoint;
use crate::writer::{Writer, percent_of};

const CHUNK_BYTES: usize = 1 << 20;
/// The operating system reads and writes files in pages: one that cannot be read cannot be written in part either.
const PAGE_BYTES: u64 = 4096;

/// What opening a partition found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Records in the active segment.
    pub active_records: u64,
    /// Bytes at the end of the log that were written, never acknowledged at `Durable`, and not whole.
    pub cut_bytes: u64,
    /// Indexes that were computed again.
    pub rebuilt_indexes: u64,
    /// Files that no manifest named.
    pub removed_files: u64,
    /// Bytes of the log in which there was a record that is none any more: blobs to restore from another replica.
    pub damaged: Vec<DamagedRange>,
}

/// Makes a partition without blobs.
pub(crate) fn create(
    directory: &dyn Directory,
    partition: afterbay_blob_format::PartitionId,
    options: &Options,
    identities: &dyn Identities,
) -> Result<()> {
    options.check()?;
    let names = directory.list().map_err(|e| Error::io(&directory.place(), "list", e))?;
    if names.iter().any(|name| name == manifest_file::NAME || log_number(name).is_some()) {
        let reason = "there is one already; open it, or remove its files".to_owned();
        return Err(Error::NotAPartition { place: directory.place(), reason });
    }
    let header =
        SegmentHeader { partition, log: identities.uuid(), segment: identities.uuid(), number: 1 };
    let first = LogFile::create(directory, header, options.segment_bytes)?;
    first.sync(SyncPoint::FirstSegmentData)?;
    sync_directory(directory, SyncPoint::FirstSegmentEntry)?;
    let manifest = Manifest {
        partition,
        log: first.header.log,
        generation: 1,
        capacity_bytes: options.capacity_bytes,
        next_number: 2,
        segment_bytes: options.segment_bytes,
        replica: Some(ReplicaState { incarnation: identities.uuid(), tombstone_horizon: 0 }),
        segments: vec![ManifestSegment {
            number: 1,
            segment: first.header.segment,
            length: 0,
            compacted: false,
            next_sequence: 1,
        }],
    };
    manifest_file::stage(directory, &manifest, SyncPoint::FirstManifestData)?;
    manifest_file::publish_staged(directory, SyncPoint::FirstManifestEntry)
}

pub(crate) fn open(
    directory: Arc<dyn Directory>,
    options: Options,
    clock: Arc<dyn Clock>,
    identities: Arc<dyn Identities>,
) -> Result<(Shared, Writer, Recovery)> {
    options.check()?;
    let manifest = manifest_file::read(&*directory)?;
    let mut recovery = Recovery::default();
    sync_directory(&*directory, SyncPoint::RecoveredEntry)?;
    remove_unnamed(&*directory, &manifest, &mut recovery)?;
    let Some((active, sealed)) = manifest.segments.split_last() else {
        // A parsed manifest has one segment at least.
        let reason = "its manifest names no segment".to_owned();
        return Err(Error::NotAPartition { place: directory.place(), reason });
    };
    let mut view = Vec::with_capacity(sealed.len());
    for segment in sealed {
        view.push(Arc::new(open_sealed(&*directory, &manifest, segment, &mut recovery)?));
    }
    let found = open_active(&*directory, &manifest, active, &mut recovery)?;
    let sources = (clock, identities);
    let (shared, writer) = assemble(directory, options, sources, manifest, view, found);
    Ok((shared, writer, recovery))
}

fn sync_directory(directory: &dyn Directory, point: SyncPoint) -> Result<()> {
    directory.sync(point).map_err(|e| Error::sync(&directory.place(), point, e))
}

/// Removes what the manifest does not name, of our own kinds of files only.
fn remove_unnamed(
    directory: &dyn Directory,
    manifest: &Manifest,
    recovery: &mut Recovery,
) -> Result<()> {
    let named = |number| manifest.segments.iter().any(|segment| segment.number == number);
    for name in directory.list().map_err(|e| Error::io(&directory.place(), "list", e))? {
        let number = log_number(&name).or_else(|| index_number(&name));
        if number.is_some_and(|number| !named(number)) || manifest_file::is_next(&name) {
            directory.remove(&name).map_err(|e| Error::io(&name, "remove", e))?;
            recovery.removed_files += 1;
        }
    }
    Ok(())
}

fn open_log(
    directory: &dyn Directory,
    manifest: &Manifest,
    segment: &ManifestSegment,
) -> Result<LogFile> {
    let expected = SegmentHeader {
        partition: manifest.partition,
        log: manifest.log,
        segment: segment.segment,
        number: segment.number,
    };
    let log = LogFile::open(directory, expected)?;
    if log.length()? >= segment.length.into() {
        return Ok(log);
    }
    let reason = format!("{} is shorter than the manifest says", log.name);
    Err(Error::NotAPartition { place: directory.place(), reason })
}

fn open_sealed(
    directory: &dyn Directory,
    manifest: &Manifest,
    segment: &ManifestSegment,
    recovery: &mut Recovery,
) -> Result<SealedSegment> {
    let log = Arc::new(open_log(directory, manifest, segment)?);
    let index = match SealedIndex::open(directory, &log, segment.length) {
        Some(index) => index,
        None => {
            recovery.rebuilt_indexes += 1;
            let (index, damaged) =
                rebuild(directory, &log, segment.length, segment.compacted, &[])?;
            recovery.damaged.extend(damaged);
            index
        }
    };
    let ManifestSegment { length, next_sequence, compacted, .. } = *segment;
    Ok(SealedSegment { log, length, next_sequence, compacted, index })
}

/// Computes the index of a sealed segment from its log, and of records that cannot be read from `known` ones.
pub(crate) fn rebuild(
    directory: &dyn Directory,
    log: &LogFile,
    length: u32,
    compacted: bool,
    known: &[IndexEntry],
) -> Result<(SealedIndex, Vec<DamagedRange>)> {
    tracing::info!(file = log.name, "computes the index from the log");
    let sequences = if compacted { Sequences::Growing } else { Sequences::Following(None) };
    // It was synced before it was sealed.
    let scan = scan(log, length.into(), length.into(), sequences)?;
    let first_sequence = scan.records.first().map_or(0, |(_, header)| header.sequence);
    let read = scan.records.iter().map(|(offset, header)| IndexEntry::of(header, *offset));
    let unreadable = || scan.gaps.iter().filter(|gap| scan.is_unreadable(gap));
    let in_gap = |gap: &(u64, u64)| {
        let (begin, end) = *gap;
        known.iter().filter(move |entry| begin <= u64::from(entry.offset) && entry.end() <= end)
    };
    let is_known = |gap: &(u64, u64)| {
        in_gap(gap).map(|entry| u64::from(entry.length)).sum::<u64>() == gap.1 - gap.0
    };
    let unknown: Vec<_> = unreadable().filter(|gap| !is_known(gap)).copied().collect();
    log.note_unknown(&unknown);
    // What is damaged too: a delete that is not what was written must not bring its blob back.
    let entries = read.chain(scan.gaps.iter().flat_map(in_gap).copied()).collect();
    let index = SealedIndex::build(directory, log, length, first_sequence, entries)?;
    Ok((index, damaged_ranges(log, &scan)))
}

fn damaged_ranges(log: &LogFile, scan: &Scan) -> Vec<DamagedRange> {
    let range = |gap: &(u64, u64)| {
        let (file, unreadable) = (log.name.clone(), scan.is_unreadable(gap));
        DamagedRange { file, begin: gap.0, end: gap.1, unreadable }
    };
    let ranges: Vec<_> = scan.gaps.iter().map(range).collect();
    for DamagedRange { file, begin, end, unreadable } in &ranges {
        tracing::error!(file, begin, end, unreadable, "no record where one was");
    }
    ranges
}

/// The active segment as recovery leaves it.
struct Active {
    log: LogFile,
    scan: Scan,
    first_sequence: u64,
    next_sequence: u64,
    /// The room that was reserved is not there any more: reads go on.
    full: Option<Error>,
}

fn open_active(
    directory: &dyn Directory,
    manifest: &Manifest,
    segment: &ManifestSegment,
    recovery: &mut Recovery,
) -> Result<Active> {
    let log = open_log(directory, manifest, segment)?;
    let first_sequence = segment.next_sequence;
    let written = log.length()?;
    let mark = mark_file::read(directory, &log.header);
    let may_be_marked = mark.is_err();
    let mark =
        mark.unwrap_or_default().filter(|mark| mark.synced_through <= manifest.segment_bytes);
    let marked = mark.as_ref().map_or(0, |mark| mark.synced_through.into());
    let sequences = Sequences::Following(Some(first_sequence));
    let mut scan = scan(&log, written, marked, sequences)?;
    recovery.cut_bytes = end_log(&log, &mut scan, written, may_be_marked)?;
    recovery.active_records = scan.records.len() as u64;
    recovery.damaged.extend(damaged_ranges(&log, &scan));
    let unknown = scan.gaps.iter().filter(|gap| scan.is_unreadable(gap)).copied();
    log.note_unknown(&unknown.collect::<Vec<_>>());
    // What lies behind the end would look like records again as soon as new ones reach it.
    log.file.truncate(scan.end).map_err(|e| Error::io(&log.name, "cut", e))?;
    let full = log.file.preallocate(manifest.segment_bytes.into()).err();
    let full = full.map(|e| crate::log_file::no_room_or(&log.name, "reserve room", e));
    write_again(&log, scan.synced_through(), scan.end)?;
    log.sync(SyncPoint::RecoveredData)?;
    let marked = mark.map_or(0, |mark| mark.next_sequence);
    let next_sequence = next_sequence(&scan, first_sequence, marked);
    mark_end(directory, &log, &scan, next_sequence);
    Ok(Active { log, scan, first_sequence, next_sequence, full })
}

/// All of the log is on the disk and is served from now on. If no record says so, the mark does: the next recovery must not
/// find a torn end in what this one kept, because it could not read some of it, or because a record that was cut said so.
fn mark_end(directory: &dyn Directory, log: &LogFile, scan: &Scan, next_sequence: u64) {
    if scan.end <= scan.synced_through().max(FIRST_RECORD.into()) {
        return;
    }
    let SegmentHeader { partition, log: log_id, segment, .. } = log.header;
    let synced_through = scan.end as u32;
    let mark = SyncedMark { partition, log: log_id, segment, synced_through, next_sequence };
    let marked = mark_file::write(directory, &mark).and_then(|()| mark_file::sync(directory));
    if let Err(error) = marked {
        tracing::warn!(file = log.name, %error, "the mark SYNCED cannot be written: if the process ends before the next write, damage at the end of the log may look torn, and be cut; make room, or see to the disk");
    }
}

/// No number is given twice: neither that of a record, nor one that a record in a gap may have had.
fn next_sequence(scan: &Scan, first_sequence: u64, marked: u64) -> u64 {
    let next = scan.last_sequence().map_or(first_sequence, |last| last + 1);
    match scan.gaps.last().filter(|_| scan.ends_in_gap()) {
        None => next,
        // Whatever can be read: no record has a greater number than so many headers before it would give it.
        Some(gap) if scan.is_unreadable(gap) || marked == 0 => {
            let records_max = (gap.1 - u64::from(FIRST_RECORD)) / RECORD_HEADER_BYTES as u64;
            marked.max(first_sequence + records_max)
        }
        Some(_) => marked.max(next),
    }
}

/// Writes what may only be in the operating system's cache once more. If a sync failed in the process before this one, the
/// cache has it, takes it for written, and would not write it.
fn write_again(log: &LogFile, begin: u64, end: u64) -> Result<()> {
    let mut salvage = Salvage::default();
    let mut at = begin.max(FIRST_RECORD.into());
    while at < end {
        let bytes = salvage.read(log, at, CHUNK_BYTES.min((end - at) as usize))?;
        let behind = at + bytes.len() as u64;
        for part in salvage.readable(at..behind) {
            let bytes = &bytes[(part.start - at) as usize..(part.end - at) as usize];
            log.file
                .write_all_at(&[IoSlice::new(bytes)], part.start)
                .map_err(|e| Error::io(&log.name, "write", e))?;
        }
        at = behind;
    }
    Ok(())
}

/// Decides where the log ends: before its torn end, or behind all that was ever written, if some of that cannot be read. How
/// many bytes are cut.
fn end_log(log: &LogFile, scan: &mut Scan, written: u64, may_be_marked: bool) -> Result<u64> {
    let (tail, proven) = (scan.end, scan.synced_through());
    let is_readable = scan.salvage.is_readable(&(proven..tail));
    let end = if is_readable { end_of_log(log, scan)? } else { tail };
    let unwritten = is_unwritten(log, &mut scan.salvage, tail, written)?;
    let may_go_on = if may_be_marked {
        // The mark may say that what looks torn was acknowledged, or that an earlier recovery left out an end that it could
        // not read, and the log goes on behind it.
        end < tail || !unwritten || scan.salvage.fails_behind(tail)
    } else {
        // Where nothing was written, it ends.
        !unwritten && scan.salvage.fails_behind(proven)
    };
    if may_go_on {
        // Never right behind a record: numbers would not follow there.
        let behind = (last_used(log, tail, written)? + 1).next_multiple_of(PAGE_BYTES);
        scan.extend(behind.min(written));
        return Ok(0);
    }
    scan.cut(end);
    let used = if unwritten { tail } else { last_used(log, tail, written)? };
    Ok(used - scan.end)
}

/// Whether no record was ever written at `at`: what was not written is 0.
fn is_unwritten(log: &LogFile, salvage: &mut Salvage, at: u64, written: u64) -> Result<bool> {
    let header = at..(at + RECORD_HEADER_BYTES as u64).min(written.max(at));
    if header.is_empty() {
        return Ok(true);
    }
    let bytes = salvage.read(log, at, (header.end - header.start) as usize)?;
    Ok(salvage.is_readable(&header) && bytes.iter().all(|byte| *byte == 0))
}

/// Where the last byte ends that is not 0, or cannot be read.
fn last_used(log: &LogFile, begin: u64, end: u64) -> Result<u64> {
    let mut salvage = Salvage::default();
    let (mut at, mut used) = (begin, begin);
    while at < end {
        let bytes = salvage.read(log, at, CHUNK_BYTES.min((end - at) as usize))?;
        let written = bytes.iter().rposition(|byte| *byte != 0);
        let written = written.map_or(0, |last| at + last as u64 + 1);
        let behind = at + bytes.len() as u64;
        let failed = salvage.end_of_unreadable(at..behind).unwrap_or(0);
        used = used.max(written).max(failed);
        at = behind;
    }
    Ok(used)
}

/// Where the first record begins that is not whole and that nobody can prove to have been synced. One whose body cannot be
/// read may be whole.
fn end_of_log(log: &LogFile, scan: &Scan) -> Result<u64> {
    let synced = scan.synced_through();
    let torn = scan.gaps.iter().map(|&(begin, _)| begin).find(|&begin| begin >= synced);
    let end = torn.unwrap_or(scan.end);
    let unproven = scan.records.iter().map(|(offset, _)| *offset);
    for offset in unproven.filter(|&offset| (synced..end).contains(&u64::from(offset))) {
        match log.verified_record(offset) {
            Ok(_) | Err(Error::Unreadable { .. }) => {}
            Err(Error::Damaged { .. }) => return Ok(offset.into()),
            Err(other) => return Err(other),
        }
    }
    Ok(end)
}

fn assemble(
    directory: Arc<dyn Directory>,
    options: Options,
    (clock, identities): (Arc<dyn Clock>, Arc<dyn Identities>),
    mut manifest: Manifest,
    sealed: Vec<Arc<SealedSegment>>,
    found: Active,
) -> (Shared, Writer) {
    let Active { log, scan, first_sequence, next_sequence, full } = found;
    let partition = manifest.partition;
    let is_format_1 = manifest.replica.is_none();
    // Nobody has noted which tombstones are gone; and as long as this is not on the disk, it is another incarnation each time.
    let unknown =
        || ReplicaState { incarnation: identities.uuid(), tombstone_horizon: next_sequence };
    manifest.replica.get_or_insert_with(unknown);
    let active = Arc::new(log);
    let tail = scan.end.max(FIRST_RECORD.into()) as u32;
    let visible = Visible {
        view: Arc::new(View { sealed, active: active.clone() }),
        recent: index_of(&scan),
        journal: journal_of(&scan, first_sequence, options.journal_records),
        synced_sequence: next_sequence,
        tail,
        used_bytes: 0,
        read_only: false,
        retired: Vec::new(),
    };
    let shared = Shared::new(partition, visible);
    let mut writer = Writer {
        directory,
        clock,
        identities,
        options,
        manifest,
        is_format_1,
        active,
        tail,
        synced: tail,
        next_sequence,
        first_sequence,
        noted: FIRST_RECORD,
        records: scan.records.len(),
        unpublished: Vec::new(),
    };
    writer.publish(&shared);
    let threshold =
        percent_of(writer.manifest.capacity_bytes, writer.options.read_only_above_percent);
    shared.write().read_only = writer.used_bytes() >= threshold;
    if let Some(error) = full {
        shared.fail(error);
    }
    (shared, writer)
}

fn index_of(scan: &Scan) -> BTreeMap<(Uuid, u32), IndexEntry> {
    let entry = |(offset, header): &(u32, RecordHeader)| {
        ((header.id.uuid, *offset), IndexEntry::of(header, *offset))
    };
    scan.records.iter().map(entry).collect()
}

fn journal_of(scan: &Scan, first_sequence: u64, capacity: usize) -> Journal {
    let mut journal = Journal::new(first_sequence, capacity);
    for (offset, header) in &scan.records {
        let entry = IndexEntry::of(header, *offset);
        journal.push(Change::of(header.sequence, header.id.partition, &entry));
    }
    journal
}
