//! Finds the records of a segment by going through its file.
//!
//! A record whose header is damaged hides where the next one begins. The search for it cannot be misled by bodies,
//! since their authors do not know the identity of the log, which is part of each header's checksum.

use afterbay_blob_format::{MAX_RECORD_BYTES, RECORD_HEADER_BYTES, RECORD_MAGIC, RecordHeader};

use crate::error::{Error, Result};
use crate::log_file::{FIRST_RECORD, LogFile};

const CHUNK_BYTES: usize = 1 << 20;

/// Bytes of a segment in which no record can be found, or only a damaged one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedRange {
    /// The segment's file.
    pub file: String,
    /// Its first byte.
    pub begin: u64,
    /// The byte behind its last one.
    pub end: u64,
}

/// Records of a segment, in their order.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub(crate) records: Vec<(u32, RecordHeader)>,
    /// Where a record should be and is none, and where the next one is.
    pub(crate) gaps: Vec<(u64, u64)>,
    /// Where the last record ends.
    pub(crate) end: u64,
}

impl Scan {
    /// What was on disk for certain: the highest offset that any record says was synced before it.
    pub(crate) fn synced_through(&self) -> u64 {
        self.records.iter().map(|(_, header)| u64::from(header.synced_through)).max().unwrap_or(0)
    }

    /// Forgets what begins at `end` or behind it.
    pub(crate) fn cut(&mut self, end: u64) {
        self.records.retain(|(offset, _)| u64::from(*offset) < end);
        self.gaps.retain(|(begin, _)| *begin < end);
        self.end = self.end.min(end);
    }
}

/// What sequence numbers a segment may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sequences {
    /// Each one more than that before it, from this one on, if it is known.
    Following(Option<u64>),
    /// Growing: others were compacted away.
    Growing,
}

/// All records between the segment's header and `end`.
pub(crate) fn scan(log: &LogFile, end: u64, sequences: Sequences) -> Result<Scan> {
    let mut scan = Scan { end: FIRST_RECORD.into(), ..Scan::default() };
    let mut expected = match sequences {
        Sequences::Following(first) => first,
        Sequences::Growing => None,
    };
    let mut at = u64::from(FIRST_RECORD);
    let mut last = None;
    loop {
        let fits = |header: &RecordHeader| {
            at + u64::from(header.record_bytes()) <= end
                && expected.is_none_or(|sequence| sequence == header.sequence)
                && last.is_none_or(|sequence| sequence < header.sequence)
        };
        if let Some(header) = header_at(log, at, end)?.filter(fits) {
            (expected, last) = match sequences {
                Sequences::Following(_) => (Some(header.sequence + 1), Some(header.sequence)),
                Sequences::Growing => (None, Some(header.sequence)),
            };
            let offset = at as u32;
            at += u64::from(header.record_bytes());
            scan.records.push((offset, header));
            scan.end = at;
        } else if let Some(next) = find_record(log, at + 1, end, last)? {
            scan.gaps.push((at, next));
            (at, expected) = (next, None);
        } else {
            return Ok(scan);
        }
    }
}

fn header_at(log: &LogFile, at: u64, end: u64) -> Result<Option<RecordHeader>> {
    if at + RECORD_HEADER_BYTES as u64 > end {
        return Ok(None);
    }
    match log.record_header(at as u32) {
        Ok(header) => Ok(Some(header)),
        Err(Error::Damaged { .. }) => Ok(None),
        Err(other) => Err(other),
    }
}

/// Where the next record begins, from `from` on, which lies in a record: so it is not farther than the longest one.
fn find_record(log: &LogFile, from: u64, end: u64, last: Option<u64>) -> Result<Option<u64>> {
    let search_end = end.min(from + MAX_RECORD_BYTES as u64);
    let mut at = from;
    while at + RECORD_HEADER_BYTES as u64 <= search_end {
        let chunk = log.read(at, CHUNK_BYTES.min((search_end - at) as usize))?;
        for offset in magics(&chunk).map(|i| at + i as u64) {
            let fits = |header: &RecordHeader| {
                offset + u64::from(header.record_bytes()) <= end
                    && last.is_none_or(|sequence| sequence < header.sequence)
            };
            if header_at(log, offset, end)?.is_some_and(|header| fits(&header)) {
                return Ok(Some(offset));
            }
        }
        // The last bytes of a chunk may be the first ones of a magic.
        at += (chunk.len() - (RECORD_MAGIC.len() - 1)) as u64;
    }
    Ok(None)
}

fn magics(chunk: &[u8]) -> impl Iterator<Item = usize> {
    let first = RECORD_MAGIC[0];
    let starts = chunk.iter().enumerate().filter(move |(_, byte)| **byte == first);
    starts.map(|(i, _)| i).filter(|&i| chunk[i..].starts_with(&RECORD_MAGIC))
}
