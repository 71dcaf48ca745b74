//! Finds the records of a segment by going through its file.
//!
//! A record whose header is damaged hides where the next one begins. The search for it cannot be misled by bodies,
//! since their authors do not know the identity of the log, which is part of each header's checksum. A header that cannot be
//! read is none, and is searched around in the same way.

use afterbay_blob_format::{MAX_RECORD_BYTES, RECORD_HEADER_BYTES, RECORD_MAGIC, RecordHeader};

use memchr::memmem;

use crate::error::Result;
use crate::log_file::{FIRST_RECORD, LogFile};
use crate::salvage::Salvage;

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
    /// Whether some of them could not be read. What was there may be there again another time, and is not taken for lost.
    pub unreadable: bool,
}

/// Records of a segment, in their order.
#[derive(Debug)]
pub(crate) struct Scan {
    pub(crate) records: Vec<(u32, RecordHeader)>,
    /// Where a record should be and is none, and where the next one is.
    pub(crate) gaps: Vec<(u64, u64)>,
    /// Where the last record ends.
    pub(crate) end: u64,
    /// Something else than a record says that all before this was on disk.
    pub(crate) marked: u64,
    /// What could not be read.
    pub(crate) salvage: Salvage,
    sequences: Sequences,
    /// The number that the next record must have, if it is known.
    expected: Option<u64>,
}

impl Scan {
    fn new(marked: u64, sequences: Sequences) -> Self {
        let expected = match sequences {
            Sequences::Following(first) => first,
            Sequences::Growing => None,
        };
        let (records, gaps, salvage) = (Vec::new(), Vec::new(), Salvage::default());
        let end = FIRST_RECORD.into();
        Scan { records, gaps, end, marked, salvage, sequences, expected }
    }

    fn add(&mut self, at: u64, header: RecordHeader) {
        self.expected = match self.sequences {
            Sequences::Following(_) => Some(header.sequence + 1),
            Sequences::Growing => None,
        };
        self.end = at + u64::from(header.record_bytes());
        self.records.push((at as u32, header));
    }

    /// The number of the last record.
    pub(crate) fn last_sequence(&self) -> Option<u64> {
        self.records.last().map(|(_, header)| header.sequence)
    }

    fn is_newer(&self, header: &RecordHeader) -> bool {
        self.last_sequence().is_none_or(|last| last < header.sequence)
    }

    fn follows(&self, header: &RecordHeader) -> bool {
        self.is_newer(header) && self.expected.is_none_or(|expected| expected == header.sequence)
    }

    /// The header at `at`, if there is one whose record ends before `end`.
    fn header_at(&mut self, log: &LogFile, at: u64, end: u64) -> Result<Option<RecordHeader>> {
        if at + RECORD_HEADER_BYTES as u64 > end {
            return Ok(None);
        }
        let bytes = self.salvage.read(log, at, RECORD_HEADER_BYTES)?;
        let header = log.parse_header(&bytes).ok();
        Ok(header.filter(|header| at + u64::from(header.record_bytes()) <= end))
    }

    /// Where the next record begins, from `from` on and before `search_end`.
    fn find_record(
        &mut self,
        log: &LogFile,
        from: u64,
        search_end: u64,
        end: u64,
    ) -> Result<Option<u64>> {
        let mut at = from;
        while at + RECORD_HEADER_BYTES as u64 <= search_end {
            let chunk = self.salvage.read(log, at, CHUNK_BYTES.min((search_end - at) as usize))?;
            for offset in magics(&chunk).map(|i| at + i as u64) {
                let header = self.header_at(log, offset, end)?;
                if header.is_some_and(|header| self.is_newer(&header)) {
                    return Ok(Some(offset));
                }
            }
            // The last bytes of a chunk may be the first ones of a magic.
            at += (chunk.len() - (RECORD_MAGIC.len() - 1)) as u64;
        }
        Ok(None)
    }

    /// Whether some bytes of a gap could not be read.
    pub(crate) fn is_unreadable(&self, gap: &(u64, u64)) -> bool {
        !self.salvage.is_readable(&(gap.0..gap.1))
    }

    /// Adds a gap up to `end`.
    pub(crate) fn extend(&mut self, end: u64) {
        let begin = match self.gaps.pop_if(|gap| gap.1 == self.end) {
            Some((begin, _)) => begin,
            None => self.end,
        };
        self.gaps.push((begin, end));
        self.end = end;
    }

    /// What was on disk for certain: the highest offset that any record says was synced before it, or the mark.
    pub(crate) fn synced_through(&self) -> u64 {
        let said = self.records.iter().map(|(_, header)| u64::from(header.synced_through)).max();
        said.unwrap_or(0).max(self.marked)
    }

    /// There are no records behind the last one: what was on disk for certain from there on is damaged.
    fn end(mut self) -> Self {
        if self.end < self.marked {
            self.extend(self.marked);
        }
        self
    }

    /// Whether it ends with damage, in which there were records.
    pub(crate) fn ends_in_gap(&self) -> bool {
        self.gaps.last().is_some_and(|&(_, end)| end == self.end)
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

/// All records between the segment's header and `end`, of which everything before `marked` was on disk once.
pub(crate) fn scan(log: &LogFile, end: u64, marked: u64, sequences: Sequences) -> Result<Scan> {
    let mut scan = Scan::new(marked, sequences);
    let mut at = u64::from(FIRST_RECORD);
    loop {
        let header = scan.header_at(log, at, end)?;
        if let Some(header) = header.filter(|header| scan.follows(header)) {
            scan.add(at, header);
            at = scan.end;
        } else {
            // It lies in a record, so the next one is not farther than the longest, unless several are damaged.
            let longest = (MAX_RECORD_BYTES + RECORD_HEADER_BYTES) as u64;
            let search_end = end.min(marked.max(at + longest));
            let Some(next) = scan.find_record(log, at + 1, search_end, end)? else {
                return Ok(scan.end());
            };
            scan.gaps.push((at, next));
            (at, scan.expected) = (next, None);
        }
    }
}

/// Where the magic is. It has no letter twice, so that no two of them overlap.
fn magics(chunk: &[u8]) -> impl Iterator<Item = usize> {
    memmem::find_iter(chunk, &RECORD_MAGIC)
}
