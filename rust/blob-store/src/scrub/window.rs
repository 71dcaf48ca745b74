//! A file that is read from its first byte to its last, step by step.

use std::ops::Range;
use std::sync::Arc;

use super::{Flaw, Halt, Scrub, Step, Wrong};
use crate::directory::StoreFile;
use crate::error::Error;

/// Bytes that are read at once, aligned as disks are read.
const STEP_BYTES: u64 = 1 << 20;
const ALIGNMENT_BYTES: u64 = 4096;

pub(super) struct Window<'a> {
    file: Arc<dyn StoreFile>,
    name: &'a str,
    /// The segment that it belongs to.
    number: u64,
    /// Behind the last byte that counts.
    end: u64,
    /// Where the bytes begin that were read.
    begin: u64,
    bytes: Vec<u8>,
    /// Behind the last byte that the pacer was asked about.
    paced: u64,
}

impl<'a> Window<'a> {
    pub(super) fn new(file: Arc<dyn StoreFile>, name: &'a str, number: u64, end: u64) -> Self {
        Window { file, name, number, end, begin: 0, bytes: Vec::new(), paced: 0 }
    }

    /// The bytes of a range, which is no longer than a step and does not begin before one that was read before.
    pub(super) fn read(
        &mut self,
        scrub: &mut Scrub<'_>,
        range: Range<u64>,
    ) -> Step<std::result::Result<&[u8], Wrong>> {
        if let Err(wrong) = self.load(scrub, &range)? {
            return Ok(Err(wrong));
        }
        let from = (range.start - self.begin) as usize;
        let read = self.bytes.get(from..from + (range.end - range.start) as usize);
        Ok(read.ok_or_else(|| (Flaw::Damaged, "not there: the file ends before".to_owned())))
    }

    fn load(
        &mut self,
        scrub: &mut Scrub<'_>,
        range: &Range<u64>,
    ) -> Step<std::result::Result<(), Wrong>> {
        let have = self.begin..self.begin + self.bytes.len() as u64;
        if have.start <= range.start && range.end <= have.end {
            return Ok(Ok(()));
        }
        let begin = range.start / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
        let end = (begin + STEP_BYTES).min(self.end).max(range.end);
        if end > self.paced {
            scrub.pace(end - self.paced, Some(self.number))?;
            self.paced = end;
        }
        // Of a step that cannot be read as a whole, perhaps only another part cannot be.
        if self.fill(begin..end).is_ok() {
            return Ok(Ok(()));
        }
        match self.fill(range.clone()) {
            Ok(()) => Ok(Ok(())),
            Err(Error::Unreadable { source, .. }) => {
                Ok(Err((Flaw::Unreadable, format!("cannot be read: {source}"))))
            }
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::UnexpectedEof => {
                Ok(Err((Flaw::Damaged, "not there: the file ends before".to_owned())))
            }
            Err(other) => Err(Halt::Error(other)),
        }
    }

    fn fill(&mut self, range: Range<u64>) -> Result<(), Error> {
        let length = range.end - range.start;
        self.bytes.clear();
        self.file
            .drop_cached(range.start, length)
            .map_err(|e| Error::io(self.name, "drop from the cache", e))?;
        self.bytes.resize(length as usize, 0);
        let read = self.file.read_exact_at(&mut self.bytes, range.start);
        self.begin = range.start;
        read.map_err(|e| {
            self.bytes.clear();
            Error::read(self.name, range.start, e)
        })
    }
}
