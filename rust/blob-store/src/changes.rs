//! Changes that are not in the journal any more, from the log.
//!
//! A reader goes through the log page by page. Where a page ended is kept, so that the next one begins there: one header is
//! read for each record, or many at once where records are small. Only who begins somewhere else costs a search: the index
//! of one segment, which says where its records begin, and a header for each halving.
//!
//! A record whose header is damaged is told of as the index has it, under a number that lies between its neighbours'. So what
//! comes behind it is not held up.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use afterbay_blob_format::{FormatError, IndexEntry, RECORD_HEADER_BYTES, RecordHeader};
use uuid::Uuid;

use crate::commit::lock;
use crate::error::{Error, Result};
use crate::journal::Change;
use crate::log_file::{FIRST_RECORD, LogFile};
use crate::partition::Partition;
use crate::sealed::SealedSegment;

/// Readers that go on where they were; those who came first are forgotten, and search once.
const READERS_MAX: usize = 64;
/// Read at once where records are small.
const WINDOW_BYTES: usize = 64 << 10;
/// Records up to this length are.
const SMALL_RECORD_BYTES: u32 = 2048;

/// Where a page ended.
#[derive(Debug, Clone, Copy)]
struct Cursor {
    /// What its reader asks for next.
    sequence: u64,
    segment: Uuid,
    offset: u32,
}

/// Where readers are, the last one first.
#[derive(Debug, Default)]
pub(crate) struct Cursors(Mutex<VecDeque<Cursor>>);

impl Cursors {
    fn find(&self, sequence: u64) -> Option<Cursor> {
        lock(&self.0).iter().find(|cursor| cursor.sequence == sequence).copied()
    }

    fn keep(&self, cursor: Cursor) {
        let mut cursors = lock(&self.0);
        cursors.retain(|other| other.sequence != cursor.sequence);
        cursors.push_front(cursor);
        cursors.truncate(READERS_MAX);
    }
}

/// Records from `sequence` on and before `end`, at most `limit`, and what to ask for next.
pub(crate) fn changes_in_log(
    partition: &Partition,
    sequence: u64,
    end: u64,
    limit: usize,
) -> Result<(Vec<Change>, u64)> {
    let (view, tail) = {
        let visible = partition.shared.read();
        (visible.view.clone(), visible.tail)
    };
    let from = partition.cursors.find(sequence);
    let mut walk = Walk { partition, from, sequence, end, limit, next: 1, changes: Vec::new() };
    let mut stopped = None;
    for segment in &view.sealed {
        if segment.next_sequence > sequence {
            stopped = walk.segment(&segment.log, segment.length, Some(segment))?;
        }
        if stopped.is_some() {
            break;
        }
        walk.next = segment.next_sequence;
    }
    if stopped.is_none() {
        stopped = walk.segment(&view.active, tail, None)?;
    }
    let (segment, offset) = stopped.unwrap_or((view.active.header.segment, tail));
    let last = walk.changes.last().filter(|_| walk.is_enough());
    let next_sequence = last.map_or(end.max(sequence), |change| change.sequence + 1);
    partition.cursors.keep(Cursor { sequence: next_sequence, segment, offset });
    Ok((walk.changes, next_sequence))
}

/// Goes through segments in the order of the log.
struct Walk<'a> {
    partition: &'a Partition,
    from: Option<Cursor>,
    sequence: u64,
    end: u64,
    limit: usize,
    /// No record from here on has a lower number.
    next: u64,
    changes: Vec<Change>,
}

impl Walk<'_> {
    fn is_enough(&self) -> bool {
        self.changes.len() >= self.limit
    }

    /// Where it stopped, if that is in this segment.
    fn segment(
        &mut self,
        log: &Arc<LogFile>,
        length: u32,
        sealed: Option<&Arc<SealedSegment>>,
    ) -> Result<Option<(Uuid, u32)>> {
        let mut entries = Entries { partition: self.partition, sealed, by_offset: None };
        let mut window = Window::new(log, length);
        let mut at = self.first(log, &mut entries)?;
        while at < length {
            if self.is_enough() {
                return Ok(Some((log.header.segment, at)));
            }
            let (sequence, entry) = match window.header(at) {
                Ok(header) => (header.sequence, IndexEntry::of(&header, at)),
                Err(error) if error.is_damage() => match entries.from(at)? {
                    Some(entry) if entry.offset == at => (self.next, entry),
                    Some(entry) => {
                        at = entry.offset;
                        continue;
                    }
                    None => return Ok(None),
                },
                Err(other) => return Err(other),
            };
            if sequence >= self.end {
                return Ok(Some((log.header.segment, at)));
            }
            if sequence >= self.sequence {
                self.changes.push(Change::of(sequence, self.partition.id(), &entry));
            }
            self.next = sequence + 1;
            at += entry.length;
        }
        Ok(None)
    }

    /// Where to begin in a segment: before the record that was asked for.
    fn first(&mut self, log: &LogFile, entries: &mut Entries<'_>) -> Result<u32> {
        if let Some(cursor) = self.from.take_if(|cursor| cursor.segment == log.header.segment) {
            self.next = self.next.max(self.sequence);
            return Ok(cursor.offset);
        }
        let begins = entries.first_sequence(log);
        if self.sequence <= self.next.max(begins) {
            return Ok(FIRST_RECORD);
        }
        let entries = entries.all()?;
        let (mut low, mut high) = (0, entries.len());
        while low < high {
            let middle = low.midpoint(high);
            match log.record_header(entries[middle].offset) {
                Ok(header) if header.sequence < self.sequence => low = middle + 1,
                Ok(_) => high = middle,
                // Nobody knows on which side: all of them are looked at.
                Err(error) if error.is_damage() => return Ok(FIRST_RECORD),
                Err(other) => return Err(other),
            }
        }
        match entries.get(low) {
            // Damage may lie before it.
            Some(entry) if low > 0 && entries[low - 1].end() < entry.offset.into() => {
                Ok(entries[low - 1].offset)
            }
            Some(entry) => {
                self.next = self.next.max(self.sequence);
                Ok(entry.offset)
            }
            None => Ok(entries.last().map_or(FIRST_RECORD, |last| last.offset)),
        }
    }
}

/// The records of a segment in their order, if somebody needs them.
struct Entries<'a> {
    partition: &'a Partition,
    /// `None`: it is the active one.
    sealed: Option<&'a Arc<SealedSegment>>,
    by_offset: Option<Vec<IndexEntry>>,
}

impl Entries<'_> {
    fn all(&mut self) -> Result<&[IndexEntry]> {
        if self.by_offset.is_none() {
            self.by_offset = Some(match self.sealed {
                Some(segment) => segment.index.by_offset()?,
                None => self.of_active(),
            });
        }
        Ok(self.by_offset.as_deref().unwrap_or_default())
    }

    fn of_active(&self) -> Vec<IndexEntry> {
        let visible = self.partition.shared.read();
        let mut recent: Vec<_> = visible.recent.values().copied().collect();
        drop(visible);
        recent.sort_unstable_by_key(|entry| entry.offset);
        recent
    }

    /// The first record at `at` or behind it.
    fn from(&mut self, at: u32) -> Result<Option<IndexEntry>> {
        let entries = self.all()?;
        let i = entries.partition_point(|entry| entry.offset < at);
        Ok(entries.get(i).copied())
    }

    /// No record of the segment has a lower number. Of the active one it is read.
    fn first_sequence(&self, log: &LogFile) -> u64 {
        match self.sealed {
            Some(segment) => segment.index.directory().first_sequence,
            None => log.record_header(FIRST_RECORD).map_or(0, |header| header.sequence),
        }
    }
}

/// Reads headers one behind the other.
struct Window<'a> {
    log: &'a LogFile,
    length: u32,
    begin: u32,
    bytes: Vec<u8>,
    is_small: bool,
}

impl<'a> Window<'a> {
    fn new(log: &'a LogFile, length: u32) -> Self {
        Window { log, length, begin: 0, bytes: Vec::new(), is_small: false }
    }

    /// The header of the record at `at`, which ends in the segment.
    fn header(&mut self, at: u32) -> Result<RecordHeader> {
        let damaged = |source| self.log.damaged(at.into(), source);
        let (needed, left) = (RECORD_HEADER_BYTES, (self.length - at) as usize);
        if left < needed {
            return Err(damaged(FormatError::TooShort { what: "record", needed, found: left }));
        }
        if at < self.begin || (at - self.begin) as usize + needed > self.bytes.len() {
            self.bytes = self.read(at, left)?;
            self.begin = at;
        }
        let header = self.log.parse_header(&self.bytes[(at - self.begin) as usize..]);
        let header = header.map_err(|source| self.log.damaged(at.into(), source))?;
        let bytes = header.record_bytes();
        if bytes as usize > left {
            let (what, needed) = ("record", bytes as usize);
            let error = FormatError::TooShort { what, needed, found: left };
            return Err(self.log.damaged(at.into(), error));
        }
        self.is_small = bytes <= SMALL_RECORD_BYTES;
        Ok(header)
    }

    fn read(&self, at: u32, left: usize) -> Result<Vec<u8>> {
        if self.is_small {
            match self.log.read(at.into(), WINDOW_BYTES.min(left)) {
                // Perhaps only what comes later cannot be.
                Err(Error::Unreadable { .. }) => {}
                other => return other,
            }
        }
        self.log.read(at.into(), RECORD_HEADER_BYTES)
    }
}
