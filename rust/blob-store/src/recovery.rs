//! Opens a partition, after whatever ended the last process that had it open.
//!
//! 1. The manifest says which segments there are. Without it nothing is opened, and nothing deleted.
//! 2. The directory is synced; then what the manifest does not name goes: half-made segments, compacted ones.
//! 3. An index that is missing or damaged is computed from its segment.
//! 4. The active segment is gone through. What is damaged before an offset that a later record says was synced was
//!    acknowledged once: it is reported, and stays. What is damaged behind all of those is the torn end of the log: it is
//!    cut, zeroed, and the rest synced before anybody can read it.

use std::collections::BTreeMap;
use std::io::IoSlice;
use std::sync::Arc;

use afterbay_blob_format::{
    IndexEntry, IndexedSegment, Manifest, ManifestSegment, RecordHeader, SegmentHeader,
};
use uuid::Uuid;

use crate::clock::Clock;
use crate::directory::{Directory, SyncPoint};
use crate::error::{Error, Result};
use crate::journal::{Change, Journal};
use crate::log_file::{FIRST_RECORD, LogFile, log_number};
use crate::manifest_file;
use crate::options::Options;
use crate::scan::{DamagedRange, Scan, Sequences, scan};
use crate::sealed::{SealedIndex, SealedSegment, index_number};
use crate::shared::{Shared, View, Visible};
use crate::writer::{Writer, percent_of};

const CHUNK_BYTES: usize = 1 << 20;

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
) -> Result<()> {
    options.check()?;
    let names = directory.list().map_err(|e| Error::io(&directory.place(), "list", e))?;
    if names.iter().any(|name| name == manifest_file::NAME || log_number(name).is_some()) {
        let reason = "there is one already; open it, or remove its files".to_owned();
        return Err(Error::NotAPartition { place: directory.place(), reason });
    }
    let header =
        SegmentHeader { partition, log: Uuid::new_v4(), segment: Uuid::new_v4(), number: 1 };
    let first = LogFile::create(directory, header, options.segment_bytes)?;
    first.sync(SyncPoint::SegmentData)?;
    sync_directory(directory, SyncPoint::SegmentEntry)?;
    let manifest = Manifest {
        partition,
        log: first.header.log,
        generation: 1,
        capacity_bytes: options.capacity_bytes,
        next_number: 2,
        segment_bytes: options.segment_bytes,
        segments: vec![ManifestSegment {
            number: 1,
            segment: first.header.segment,
            length: 0,
            compacted: false,
            next_sequence: 1,
        }],
    };
    manifest_file::stage(directory, &manifest)?;
    manifest_file::publish_staged(directory)
}

pub(crate) fn open(
    directory: Arc<dyn Directory>,
    options: Options,
    clock: Arc<dyn Clock>,
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
    let (shared, writer) = assemble(directory, options, clock, manifest, view, found);
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
    let log = LogFile::open(directory, segment.number)?;
    let expected = SegmentHeader {
        partition: manifest.partition,
        log: manifest.log,
        segment: segment.segment,
        number: segment.number,
    };
    if log.header == expected && log.length()? >= segment.length.into() {
        return Ok(log);
    }
    let reason = format!("{} is not the segment that the manifest names, or shorter", log.name);
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
            let (index, damaged) = rebuild(directory, &log, segment.length, segment.compacted)?;
            recovery.damaged.extend(damaged);
            index
        }
    };
    let ManifestSegment { length, next_sequence, compacted, .. } = *segment;
    Ok(SealedSegment { log, length, next_sequence, compacted, index })
}

/// Computes the index of a sealed segment from its log.
pub(crate) fn rebuild(
    directory: &dyn Directory,
    log: &LogFile,
    length: u32,
    compacted: bool,
) -> Result<(SealedIndex, Vec<DamagedRange>)> {
    tracing::info!(file = log.name, "computes the index from the log");
    let sequences = if compacted { Sequences::Growing } else { Sequences::Following(None) };
    let mut scan = scan(log, length.into(), sequences)?;
    if scan.end < length.into() {
        scan.gaps.push((scan.end, length.into()));
    }
    let of = IndexedSegment {
        partition: log.header.partition,
        segment: log.header.segment,
        number: log.header.number,
        covers: length,
        first_sequence: scan.records.first().map_or(0, |(_, header)| header.sequence),
    };
    let entries = scan.records.iter().map(|(offset, header)| IndexEntry::of(header, *offset));
    let index = SealedIndex::build(directory, &of, entries.collect())?;
    Ok((index, damaged_ranges(log, &scan)))
}

fn damaged_ranges(log: &LogFile, scan: &Scan) -> Vec<DamagedRange> {
    let range = |&(begin, end)| DamagedRange { file: log.name.clone(), begin, end };
    let ranges: Vec<_> = scan.gaps.iter().map(range).collect();
    for damaged in &ranges {
        tracing::error!(file = damaged.file, damaged.begin, damaged.end, "no record where one was");
    }
    ranges
}

/// The active segment as recovery leaves it.
struct Active {
    log: LogFile,
    scan: Scan,
    first_sequence: u64,
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
    let mut scan = scan(&log, written, Sequences::Following(Some(first_sequence)))?;
    let before = scan.end;
    let end = end_of_log(&log, &scan)?;
    scan.cut(end);
    recovery.active_records = scan.records.len() as u64;
    recovery.cut_bytes = before - scan.end;
    recovery.damaged.extend(damaged_ranges(&log, &scan));
    // What lies behind the end would look like records again as soon as new ones reach it.
    log.file.truncate(scan.end).map_err(|e| Error::io(&log.name, "cut", e))?;
    let full = log.file.preallocate(manifest.segment_bytes.into()).err();
    let full = full.map(|e| crate::log_file::no_room_or(&log.name, "reserve room", e));
    write_again(&log, scan.synced_through(), scan.end)?;
    log.sync(SyncPoint::RecoveredData)?;
    Ok(Active { log, scan, first_sequence, full })
}

/// Writes what may only be in the operating system's cache once more. If a sync failed in the process before this one, the
/// cache has it, takes it for written, and would not write it.
fn write_again(log: &LogFile, begin: u64, end: u64) -> Result<()> {
    let mut at = begin.max(FIRST_RECORD.into());
    while at < end {
        let bytes = log.read(at, CHUNK_BYTES.min((end - at) as usize))?;
        log.file
            .write_all_at(&[IoSlice::new(&bytes)], at)
            .map_err(|e| Error::io(&log.name, "write", e))?;
        at += bytes.len() as u64;
    }
    Ok(())
}

/// Where the first record begins that is not whole and that nobody can prove to have been synced.
fn end_of_log(log: &LogFile, scan: &Scan) -> Result<u64> {
    let synced = scan.synced_through();
    let torn = scan.gaps.iter().map(|&(begin, _)| begin).find(|&begin| begin >= synced);
    let end = torn.unwrap_or(scan.end);
    let unproven = scan.records.iter().map(|(offset, _)| *offset);
    for offset in unproven.filter(|&offset| (synced..end).contains(&u64::from(offset))) {
        match log.verified_record(offset) {
            Ok(_) => {}
            Err(Error::Damaged { .. }) => return Ok(offset.into()),
            Err(other) => return Err(other),
        }
    }
    Ok(end)
}

fn assemble(
    directory: Arc<dyn Directory>,
    options: Options,
    clock: Arc<dyn Clock>,
    manifest: Manifest,
    sealed: Vec<Arc<SealedSegment>>,
    found: Active,
) -> (Shared, Writer) {
    let Active { log, scan, first_sequence, full } = found;
    let partition = manifest.partition;
    let active = Arc::new(log);
    let next_sequence = scan.records.last().map_or(first_sequence, |(_, h)| h.sequence + 1);
    let tail = scan.end.max(FIRST_RECORD.into()) as u32;
    let visible = Visible {
        view: Arc::new(View { sealed, active: active.clone() }),
        recent: index_of(&scan),
        journal: journal_of(&scan, first_sequence, options.journal_records),
        synced_sequence: next_sequence,
        used_bytes: 0,
        read_only: false,
        retired: Vec::new(),
    };
    let shared = Shared::new(partition, visible);
    let mut writer = Writer {
        directory,
        clock,
        options,
        manifest,
        active,
        tail,
        synced: tail,
        next_sequence,
        first_sequence,
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
    for &(_, RecordHeader { sequence, id, kind, .. }) in &scan.records {
        journal.push(Change { sequence, id, kind });
    }
    journal
}
