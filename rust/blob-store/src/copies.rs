//! The segments that a compaction writes: what stays of others, as it is.

use std::io::IoSlice;
use std::sync::Arc;

use afterbay_blob_format::{IndexEntry, RecordHeader};

use crate::blob_state::Place;
use crate::compaction::Pacer;
use crate::directory::Directory;
use crate::error::{Error, Result};
use crate::garbage::Run;
use crate::log_file::{FIRST_RECORD, LogFile, log_name, no_room_or};
use crate::partition::Partition;
use crate::sealed::{SealedIndex, SealedSegment, index_name};
use crate::sync_point::SyncPoint;
use crate::writer::read_back;

/// Why a compaction could not go on.
pub(crate) enum Stopped {
    /// A record of the segment with this number is not what was written, or cannot be read.
    Damage(u64, Error),
    Error(Error),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Stopped::Error(error)
    }
}

/// The segments that a compaction writes.
#[derive(Default)]
pub(crate) struct Copies {
    current: Option<Copy>,
    pub(crate) finished: Vec<Copy>,
}

pub(crate) struct Copy {
    log: Arc<LogFile>,
    tail: u32,
    entries: Vec<IndexEntry>,
    first_sequence: u64,
    next_sequence: u64,
}

impl Copies {
    /// False if the pacer ended it.
    pub(crate) fn copy(
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
        partition.writer().sync_entries(SyncPoint::CompactedEntry)?;
        Ok(self.verify(pacer)?)
    }

    fn add(
        &mut self,
        partition: &Partition,
        entry: &IndexEntry,
        header: &RecordHeader,
        bytes: &[u8],
    ) -> Result<()> {
        let capacity = partition.writer().manifest.segment_bytes;
        let full = |copy: &Copy| {
            let records_max = partition.writer().options.segment_records_max;
            u64::from(copy.tail) + u64::from(entry.length) > u64::from(capacity)
                || copy.entries.len() >= records_max
        };
        if self.current.as_ref().is_some_and(full) {
            self.finish_current()?;
        }
        let copy = match &mut self.current {
            Some(copy) => copy,
            none => {
                let log = Arc::new(partition.writer().new_segment(capacity)?);
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
            .write_all_at(&[IoSlice::new(bytes)], copy.tail.into())
            .map_err(|e| no_room_or(&copy.log.name, "write", e))?;
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

    pub(crate) fn bytes(&self) -> u64 {
        self.finished.iter().map(|copy| u64::from(copy.tail)).sum()
    }

    pub(crate) fn seal(
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
    pub(crate) fn discard(&self, partition: &Partition) {
        let directory = partition.writer().directory.clone();
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
        let (log, length, next_sequence) = (self.log.clone(), self.tail, self.next_sequence);
        let entries = self.entries.clone();
        let index = SealedIndex::build(directory, &log, length, self.first_sequence, entries)?;
        Ok(SealedSegment { log, length, next_sequence, compacted: true, index })
    }
}
