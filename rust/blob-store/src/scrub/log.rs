//! The log of a segment, record by record.

use std::io::ErrorKind;
use std::ops::Range;
use std::sync::Arc;

use afterbay_blob_format::{
    BLOCK_BYTES, ChecksumTable, FormatError, IndexEntry, RECORD_HEADER_BYTES, RecordHeader,
    SEGMENT_HEADER_BYTES, SegmentHeader, crc32c_of,
};

use super::window::Window;
use super::{Flaw, Halt, Owner, Scrub, Step, Wrong};
use crate::directory::StoreFile;
use crate::error::Error;
use crate::log_file::{FIRST_RECORD, LogFile};

/// A log that is gone through.
struct Walk<'a> {
    log: &'a Arc<LogFile>,
    window: Window<'a>,
}

pub(super) fn damaged(error: &FormatError) -> Wrong {
    (Flaw::Damaged, error.to_string())
}

impl Scrub<'_> {
    /// The log of a segment with these records, in its order, and which has `end` bytes that count.
    pub(super) fn log(&mut self, log: &Arc<LogFile>, end: u64, entries: &[IndexEntry]) -> Step<()> {
        let number = log.header.number;
        let Some(file) = self.open(&log.name, number)? else {
            let wrong = (Flaw::Damaged, "log segment: the file is not there".to_owned());
            self.report(&log.name, 0..end, wrong, Owner::Unknown);
            return Ok(());
        };
        let mut walk = Walk { log, window: Window::new(file, &log.name, number, end) };
        walk.segment_header(self)?;
        let mut at = u64::from(FIRST_RECORD);
        for entry in entries {
            if at < entry.offset.into() {
                walk.gap(self, at..entry.offset.into())?;
            }
            walk.record(self, entry)?;
            at = at.max(entry.end());
        }
        if at < end { walk.gap(self, at..end) } else { Ok(()) }
    }

    /// `None` if there is no such file, although its segment is here.
    pub(super) fn open(&self, name: &str, number: u64) -> Step<Option<Arc<dyn StoreFile>>> {
        match self.directory.open_medium(name) {
            Ok(file) => Ok(Some(file)),
            Err(_) if !self.is_here(number) => Err(Halt::Compacted),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io(name, "open", error).into()),
        }
    }
}

impl Walk<'_> {
    fn found(&self, scrub: &mut Scrub<'_>, bytes: Range<u64>, wrong: Wrong, entry: &IndexEntry) {
        scrub.report(&self.log.name, bytes, wrong, Owner::Record(entry, self.log));
    }

    /// The manifest says the same.
    fn segment_header(&mut self, scrub: &mut Scrub<'_>) -> Step<()> {
        let bytes = 0..SEGMENT_HEADER_BYTES as u64;
        let expected = &self.log.header;
        let parsed = self.window.read(scrub, bytes.clone())?.and_then(|bytes| {
            let header = SegmentHeader::parse(bytes).map_err(|e| damaged(&e))?;
            let another = || (Flaw::Damaged, "log segment header: of another one".to_owned());
            if header == *expected { Ok(()) } else { Err(another()) }
        });
        if let Err(wrong) = parsed {
            scrub.report(&self.log.name, bytes, wrong, Owner::Spare);
        }
        Ok(())
    }

    /// Bytes in which no record is known. They are read to tell what cannot be.
    fn gap(&mut self, scrub: &mut Scrub<'_>, gap: Range<u64>) -> Step<()> {
        let mut wrong = (Flaw::Damaged, "no record where one was".to_owned());
        let mut at = gap.start;
        while at < gap.end {
            let part = at..(at + BLOCK_BYTES as u64).min(gap.end);
            at = part.end;
            if let Err((Flaw::Unreadable, what)) = self.window.read(scrub, part)? {
                wrong = (Flaw::Unreadable, format!("records: {what}"));
            }
        }
        scrub.report(&self.log.name, gap, wrong, Owner::Unknown);
        Ok(())
    }

    fn record(&mut self, scrub: &mut Scrub<'_>, entry: &IndexEntry) -> Step<()> {
        let at = u64::from(entry.offset);
        let header = match self.header(scrub, entry)? {
            Ok(header) => header,
            // What its other parts should be, nobody knows.
            Err(wrong) => {
                self.found(scrub, at..entry.end(), wrong, entry);
                return Ok(());
            }
        };
        let layout = header.layout();
        let place = |part: &Range<usize>| at + part.start as u64..at + part.end as u64;
        let properties = place(&layout.properties);
        if let Err(wrong) = self.properties(scrub, properties.clone(), header.properties_crc)? {
            self.found(scrub, properties, wrong, entry);
        }
        let body = place(&layout.body);
        match self.checksums(scrub, place(&layout.checksums), &header)? {
            Ok(table) => self.body(scrub, &table, body, entry),
            Err(wrong) => {
                self.found(scrub, place(&layout.checksums).start..body.end, wrong, entry);
                Ok(())
            }
        }
    }

    fn header(
        &mut self,
        scrub: &mut Scrub<'_>,
        entry: &IndexEntry,
    ) -> Step<Result<RecordHeader, Wrong>> {
        let at = u64::from(entry.offset);
        let log = self.log;
        let read = self.window.read(scrub, at..at + RECORD_HEADER_BYTES as u64)?;
        Ok(read.map_err(|wrong| named("record header", wrong)).and_then(|bytes| {
            let header = log.parse_header(bytes).map_err(|e| damaged(&e))?;
            if IndexEntry::of(&header, entry.offset) == *entry {
                Ok(header)
            } else {
                Err((Flaw::Damaged, "record header: the index says something else".to_owned()))
            }
        }))
    }

    fn properties(
        &mut self,
        scrub: &mut Scrub<'_>,
        bytes: Range<u64>,
        crc: u32,
    ) -> Step<Result<(), Wrong>> {
        let what = "properties of a blob";
        let read = self.window.read(scrub, bytes)?.map_err(|wrong| named(what, wrong));
        Ok(read.and_then(|bytes| {
            let is_same = crc32c_of(&[bytes]) == crc;
            if is_same { Ok(()) } else { Err(damaged(&FormatError::Checksum { what })) }
        }))
    }

    fn checksums(
        &mut self,
        scrub: &mut Scrub<'_>,
        bytes: Range<u64>,
        header: &RecordHeader,
    ) -> Step<Result<ChecksumTable, Wrong>> {
        let read = self.window.read(scrub, bytes)?;
        Ok(read.map_err(|wrong| named("checksums of a body", wrong)).and_then(|bytes| {
            let body_bytes = header.body_bytes as usize;
            ChecksumTable::parse(bytes.to_vec(), body_bytes, header.checksums_crc)
                .map_err(|e| damaged(&e))
        }))
    }

    /// Blocks that follow each other and have the same flaw are one finding.
    fn body(
        &mut self,
        scrub: &mut Scrub<'_>,
        table: &ChecksumTable,
        body: Range<u64>,
        entry: &IndexEntry,
    ) -> Step<()> {
        let mut run: Option<(Range<u64>, Wrong)> = None;
        let mut at = body.start;
        for number in 0.. {
            if at >= body.end {
                break;
            }
            let block = at..(at + BLOCK_BYTES as u64).min(body.end);
            at = block.end;
            let read = self.window.read(scrub, block.clone())?;
            let verified = read
                .map_err(|wrong| named("body", wrong))
                .and_then(|bytes| table.verify(number, bytes).map_err(|e| damaged(&e)));
            match (verified, &mut run) {
                (Err(wrong), Some((bytes, same))) if wrong == *same => bytes.end = block.end,
                (verified, run) => {
                    let next = verified.err().map(|wrong| (block, wrong));
                    if let Some((bytes, wrong)) = std::mem::replace(run, next) {
                        self.found(scrub, bytes, wrong, entry);
                    }
                }
            }
        }
        if let Some((bytes, wrong)) = run {
            self.found(scrub, bytes, wrong, entry);
        }
        Ok(())
    }
}

/// What cannot be read, with its name.
pub(super) fn named(part: &str, (flaw, what): Wrong) -> Wrong {
    (flaw, format!("{part}: {what}"))
}
