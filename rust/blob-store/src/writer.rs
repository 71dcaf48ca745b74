//! Writes groups of requests to the log. One thread at a time: the leader of the group.

use std::io::IoSlice;
use std::sync::Arc;

use afterbay_blob_format::{
    IndexEntry, MAX_SEGMENTS, Manifest, ManifestSegment, RecordHeader, RecordKind, SegmentHeader,
    SyncedMark,
};
use bytes::Bytes;

use crate::blob_state::{BlobState, Place};
use crate::clock::Clock;
use crate::decide::{Before, Decision, decide};
use crate::directory::{Directory, Wait};
use crate::error::{Error, Result};
use crate::identities::Identities;
use crate::journal::Change;
use crate::log_file::{FIRST_RECORD, LogFile};
use crate::manifest_file;
use crate::mark_file;
use crate::options::{Durability, Options, Origin};
use crate::repair::{repair_index, repairing};
use crate::request::{Action, Request};
use crate::sealed::{SealedIndex, SealedSegment};
use crate::shared::{Shared, View};
use crate::sync_point::SyncPoint;

/// What became of a request, before its acknowledgement.
#[derive(Debug)]
pub(crate) enum Outcome {
    Wrote(Place),
    Nothing,
    /// The caller compares: that is not the group's business.
    Taken(Place),
}

#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) directory: Arc<dyn Directory>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) identities: Arc<dyn Identities>,
    pub(crate) options: Options,
    pub(crate) manifest: Manifest,
    /// The manifest on the disk is of format 1.
    pub(crate) is_format_1: bool,
    pub(crate) active: Arc<LogFile>,
    /// Where the next record begins.
    pub(crate) tail: u32,
    /// What of the active segment is on the disk.
    pub(crate) synced: u32,
    pub(crate) next_sequence: u64,
    pub(crate) first_sequence: u64,
    /// What of the active segment the mark says is on the disk.
    pub(crate) noted: u32,
    /// Records of the active segment.
    pub(crate) records: usize,
    /// The newest records: written, and not yet visible.
    pub(crate) unpublished: Vec<IndexEntry>,
}

impl Writer {
    /// Carries out a group, and syncs it if anyone in it asks for that. After an error that leaves the disk in doubt, all
    /// of the group fails.
    pub(crate) fn run(&mut self, shared: &Shared, group: &[Request]) -> Vec<Result<Outcome>> {
        let mut results: Vec<_> = group.iter().map(|request| self.apply(shared, request)).collect();
        let settled = shared.check_writable().and_then(|()| self.settle(shared, group, &results));
        if let Err(error) = settled {
            self.unpublished.clear();
            // Refusals too: they may come from a record that is not there after all.
            results.iter_mut().for_each(|result| *result = Err(error.clone()));
        }
        results
    }

    /// Syncs what was written without, and makes it visible to other replicas.
    pub(crate) fn flush(&mut self, shared: &Shared, point: SyncPoint) -> Result<()> {
        shared.check_writable()?;
        if self.synced < self.tail {
            self.active.sync(point).map_err(|e| shared.fail(e))?;
            self.synced = self.tail;
        }
        self.publish(shared);
        Ok(())
    }

    /// Writes the mark, if all of the active segment is on the disk, and not all of it is marked.
    pub(crate) fn note_synced(&mut self, shared: &Shared) -> Result<()> {
        shared.check_writable()?;
        if self.synced < self.tail || self.noted == self.synced {
            return Ok(());
        }
        let SegmentHeader { partition, log, segment, .. } = self.active.header;
        let (synced_through, next_sequence) = (self.synced, self.next_sequence);
        let mark = SyncedMark { partition, log, segment, synced_through, next_sequence };
        mark_file::write(&*self.directory, &mark)?;
        self.noted = synced_through;
        Ok(())
    }

    fn apply(&mut self, shared: &Shared, request: &Request) -> Result<Outcome> {
        shared.check_writable()?;
        let before = self.before(shared, request)?;
        match decide(request, &before, self.clock.now_ms())? {
            Decision::Nothing => Ok(Outcome::Nothing),
            Decision::Taken(place) => Ok(Outcome::Taken(place)),
            Decision::Write(header) => self.append(shared, header, request).map(Outcome::Wrote),
        }
    }

    fn before(&self, shared: &Shared, request: &Request) -> Result<Before> {
        let uuid = request.id.uuid;
        if request.fresh {
            let mut state = BlobState::default();
            shared.find_in_active(uuid, &self.unpublished, &mut state);
            return Ok(Before { state, unknown: false });
        }
        let state = repairing(
            || shared.find(uuid, &self.unpublished, Wait::ForDisk),
            |number| repair_index(&*self.directory, shared, number),
        )?;
        if request.origin == Origin::Client {
            shared.check_all_known(&state)?;
        }
        // What another replica says holds whatever else is known.
        let unknown = shared.read().view.unknown().is_some();
        Ok(Before { state, unknown })
    }

    fn settle(
        &mut self,
        shared: &Shared,
        group: &[Request],
        results: &[Result<Outcome>],
    ) -> Result<()> {
        let asked = group.iter().map(|request| request.durability).max().unwrap_or_default();
        if asked > Durability::Fast {
            self.flush(shared, SyncPoint::Commit)?;
        } else {
            self.publish(shared);
        }
        for (request, result) in group.iter().zip(results) {
            if let (Durability::Paranoid, Ok(Outcome::Wrote(place))) = (request.durability, result)
            {
                read_back(place).map_err(|e| shared.fail(e))?;
            }
        }
        Ok(())
    }

    fn append(
        &mut self,
        shared: &Shared,
        header: RecordHeader,
        request: &Request,
    ) -> Result<Place> {
        let bytes = header.record_bytes();
        self.check_room(shared, &header, request.origin)?;
        if header.follows && self.is_format_1 {
            // Versions that know format 1 alone would take the record for damage.
            self.publish_manifest(shared, self.manifest.clone())?;
        }
        if u64::from(self.tail) + u64::from(bytes) > u64::from(self.manifest.segment_bytes)
            || self.records >= self.options.segment_records_max
        {
            self.roll(shared)?;
        }
        let (sequence, synced_through) = (self.next_sequence, self.synced);
        let header = RecordHeader { sequence, synced_through, ..header };
        self.write_record(&header, &request.action).map_err(|e| shared.fail(e))?;
        let entry = IndexEntry::of(&header, self.tail);
        self.unpublished.push(entry);
        self.tail += bytes;
        self.next_sequence += 1;
        self.records += 1;
        Ok(Place { log: self.active.clone(), entry })
    }

    fn write_record(&self, header: &RecordHeader, action: &Action) -> Result<()> {
        let empty = Bytes::new();
        let [properties, checksums, body] = match action {
            Action::Put(put) => [&put.properties, &put.checksums, &put.body],
            _ => [&empty; 3],
        };
        let header = header.encode(self.manifest.log);
        let parts: [&[u8]; 4] = [&header, properties, checksums, body];
        self.active
            .file
            .write_all_at(&parts.map(IoSlice::new), self.tail.into())
            .map_err(|e| Error::io(&self.active.name, "write", e))
    }

    fn check_room(&mut self, shared: &Shared, header: &RecordHeader, origin: Origin) -> Result<()> {
        let (id, partition) = (header.id, self.manifest.partition);
        let (bytes, capacity) = (u64::from(header.record_bytes()), self.manifest.capacity_bytes);
        let most = u64::from(self.manifest.segment_bytes) - u64::from(FIRST_RECORD);
        if bytes > most {
            return Err(Error::TooLarge { id, bytes, most });
        }
        let used = self.used_bytes();
        let new_blob = header.kind == RecordKind::Put && origin == Origin::Client;
        let threshold = percent_of(capacity, self.options.read_only_above_percent);
        if new_blob && (shared.read().read_only || used + bytes > threshold) {
            shared.write().read_only = true;
            return Err(Error::ReadOnly { partition, used, capacity });
        }
        // A full segment takes another one's header with it.
        if used + bytes + u64::from(FIRST_RECORD) > capacity {
            return Err(Error::Full(partition));
        }
        Ok(())
    }

    /// Bytes in all segments.
    pub(crate) fn used_bytes(&self) -> u64 {
        let sealed: u64 =
            self.manifest.segments.iter().map(|segment| u64::from(segment.length)).sum();
        sealed + u64::from(self.tail)
    }

    /// Lets readers see what was written.
    pub(crate) fn publish(&mut self, shared: &Shared) {
        let synced_sequence = (self.synced == self.tail).then_some(self.next_sequence);
        let used_bytes = self.used_bytes();
        let writable =
            percent_of(self.manifest.capacity_bytes, self.options.writable_below_percent);
        let first = self.next_sequence - self.unpublished.len() as u64;
        let mut visible = shared.write();
        for (sequence, entry) in (first..).zip(self.unpublished.drain(..)) {
            visible.recent.insert((entry.uuid, entry.offset), entry);
            visible.journal.push(Change::of(sequence, shared.partition, &entry));
        }
        visible.tail = self.tail;
        visible.synced_sequence = synced_sequence.unwrap_or(visible.synced_sequence);
        visible.used_bytes = used_bytes;
        visible.read_only &= used_bytes >= writable;
    }

    /// Seals the active segment and goes on in a new one. An error before the new manifest holds changes nothing, and
    /// the next request tries again.
    pub(crate) fn roll(&mut self, shared: &Shared) -> Result<()> {
        self.flush(shared, SyncPoint::Seal)?;
        let log = self.new_segment(self.manifest.segment_bytes)?;
        let mut next = self.manifest.clone();
        next.generation += 1;
        if let Some(last) = next.segments.last_mut() {
            (last.length, last.next_sequence) = (self.tail, self.next_sequence);
        }
        next.segments.push(ManifestSegment {
            number: log.header.number,
            segment: log.header.segment,
            length: 0,
            compacted: false,
            next_sequence: self.next_sequence,
        });
        let staged = log
            .sync(SyncPoint::SegmentData)
            .and_then(|()| self.sync_entries(SyncPoint::SegmentEntry))
            .and_then(|()| self.stage(&next, SyncPoint::ManifestData));
        if let Err(error) = staged {
            let _ = self.directory.remove(&log.name);
            return Err(error);
        }
        self.publish_staged(shared, next, SyncPoint::ManifestEntry)?;
        self.go_on_in(shared, log)
    }

    /// Lets another manifest hold that names the same segments.
    pub(crate) fn publish_manifest(&mut self, shared: &Shared, manifest: Manifest) -> Result<()> {
        let next = Manifest { generation: self.manifest.generation + 1, ..manifest };
        self.stage(&next, SyncPoint::ReplicaManifestData)?;
        self.publish_staged(shared, next, SyncPoint::ReplicaManifestEntry)
    }

    /// Lets the manifest hold that was staged.
    pub(crate) fn publish_staged(
        &mut self,
        shared: &Shared,
        next: Manifest,
        entry: SyncPoint,
    ) -> Result<()> {
        manifest_file::publish_staged(&*self.directory, entry).map_err(|e| shared.fail(e))?;
        self.manifest = next;
        self.is_format_1 = false;
        Ok(())
    }

    /// A new segment's file, which no manifest names yet.
    pub(crate) fn new_segment(&mut self, capacity: u32) -> Result<LogFile> {
        let number = self.manifest.next_number;
        // Never given out again, even if nothing comes of it.
        self.manifest.next_number += 1;
        let Manifest { partition, log, .. } = self.manifest;
        let header = SegmentHeader { partition, log, segment: self.identities.uuid(), number };
        LogFile::create(&*self.directory, header, capacity)
    }

    pub(crate) fn sync_entries(&self, point: SyncPoint) -> Result<()> {
        self.directory.sync(point).map_err(|e| Error::sync(&self.directory.place(), point, e))
    }

    pub(crate) fn stage(&self, next: &Manifest, data: SyncPoint) -> Result<()> {
        if next.segments.len() > MAX_SEGMENTS {
            return Err(Error::Full(next.partition));
        }
        manifest_file::stage(&*self.directory, next, data)
    }

    fn go_on_in(&mut self, shared: &Shared, log: LogFile) -> Result<()> {
        let sealed = self.seal(shared).map_err(|e| shared.fail(e))?;
        self.active = Arc::new(log);
        (self.tail, self.synced, self.records) = (FIRST_RECORD, FIRST_RECORD, 0);
        (self.first_sequence, self.noted) = (self.next_sequence, FIRST_RECORD);
        let used_bytes = self.used_bytes();
        let mut visible = shared.write();
        let mut segments = visible.view.sealed.clone();
        segments.push(sealed);
        visible.view = Arc::new(View { sealed: segments, active: self.active.clone() });
        visible.recent.clear();
        visible.tail = FIRST_RECORD;
        visible.used_bytes = used_bytes;
        Ok(())
    }

    /// The active segment as a sealed one, with its index.
    fn seal(&self, shared: &Shared) -> Result<Arc<SealedSegment>> {
        let log = self.active.clone();
        // The room that is left goes back to the disk; if not now, with the segment.
        if let Err(error) = log.file.truncate(self.tail.into()) {
            tracing::warn!(file = log.name, %error, "sealed segment keeps the room reserved for it");
        }
        let entries = shared.read().recent.values().copied().collect();
        let (length, next_sequence) = (self.tail, self.next_sequence);
        let index =
            SealedIndex::build(&*self.directory, &log, length, self.first_sequence, entries)?;
        Ok(Arc::new(SealedSegment { log, length, next_sequence, compacted: false, index }))
    }
}

pub(crate) fn percent_of(whole: u64, percent: u8) -> u64 {
    // Of a capacity of exabytes, a wide product is needed.
    (u128::from(whole) * u128::from(percent) / 100) as u64
}

/// Reads a record from the disk, as far as the operating system lets us, and verifies it.
pub(crate) fn read_back(place: &Place) -> Result<RecordHeader> {
    let (log, entry) = (&place.log, &place.entry);
    log.file
        .drop_cached(entry.offset.into(), entry.length.into())
        .map_err(|e| Error::io(&log.name, "drop from the cache", e))?;
    let not_written =
        || Error::NotWhatWasWritten { file: log.name.clone(), offset: entry.offset.into() };
    match log.verified_record(entry.offset) {
        Ok((header, _)) if IndexEntry::of(&header, entry.offset) == *entry => Ok(header),
        Ok(_) | Err(Error::Damaged { .. }) => Err(not_written()),
        Err(other) => Err(other),
    }
}
