//! Reads a segment around what the disk cannot read.
//!
//! What fails as a whole is read again in steps of a sector, the least that a disk can fail to read. A sector that failed is
//! not asked for again: each time may take seconds.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::log_file::LogFile;

const SECTOR_BYTES: u64 = 512;

/// After so many sectors that failed, all others that are in doubt count as unreadable: a disk that fails as a whole would
/// keep a partition from being opened for hours.
const FAILURES_MAX: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct Salvage {
    /// Bytes that cannot be read.
    unreadable: Vec<Range<u64>>,
    failures: usize,
}

impl Salvage {
    /// The `length` bytes from `at` on; those that cannot be read are 0.
    pub(crate) fn read(&mut self, log: &LogFile, at: u64, length: usize) -> Result<Vec<u8>> {
        if self.is_readable(&(at..at + length as u64)) {
            match log.read(at, length) {
                Err(Error::Unreadable { .. }) => {}
                other => return other,
            }
        }
        self.read_in_steps(log, at, length)
    }

    fn read_in_steps(&mut self, log: &LogFile, at: u64, length: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        let end = at + length as u64;
        let mut from = at;
        while from < end {
            if let Some(behind) = self.behind_unreadable(from) {
                from = behind;
                continue;
            }
            let to = ((from / SECTOR_BYTES + 1) * SECTOR_BYTES).min(end);
            match log.read(from, (to - from) as usize) {
                Ok(read) => bytes[(from - at) as usize..(to - at) as usize].copy_from_slice(&read),
                Err(Error::Unreadable { .. }) => self.note(from),
                Err(other) => return Err(other),
            }
            from = to;
        }
        Ok(bytes)
    }

    /// The sector in which `at` is cannot be read.
    fn note(&mut self, at: u64) {
        let begin = at / SECTOR_BYTES * SECTOR_BYTES;
        self.failures += 1;
        let end = if self.failures < FAILURES_MAX { begin + SECTOR_BYTES } else { u64::MAX };
        self.unreadable.push(begin..end);
    }

    fn behind_unreadable(&self, at: u64) -> Option<u64> {
        self.unreadable.iter().find(|range| range.contains(&at)).map(|range| range.end)
    }

    /// Whether all of these bytes could be read, as far as they were asked for.
    pub(crate) fn is_readable(&self, bytes: &Range<u64>) -> bool {
        !self.unreadable.iter().any(|range| range.start < bytes.end && bytes.start < range.end)
    }

    /// Whether bytes behind `from` could not be read.
    pub(crate) fn fails_behind(&self, from: u64) -> bool {
        !self.is_readable(&(from..u64::MAX))
    }

    /// Where the last of `bytes` ends that could not be read.
    pub(crate) fn end_of_unreadable(&self, bytes: Range<u64>) -> Option<u64> {
        let hit = self
            .unreadable
            .iter()
            .filter(|range| range.start < bytes.end && bytes.start < range.end);
        hit.map(|range| range.end.min(bytes.end)).max()
    }

    /// The parts of `bytes` that could be read.
    pub(crate) fn readable(&self, bytes: Range<u64>) -> Vec<Range<u64>> {
        let mut parts = Vec::new();
        let mut from = bytes.start;
        while from < bytes.end {
            if let Some(behind) = self.behind_unreadable(from) {
                from = behind;
                continue;
            }
            let begins = self.unreadable.iter().map(|range| range.start);
            let to = begins.filter(|&begin| begin > from).min().unwrap_or(u64::MAX).min(bytes.end);
            parts.push(from..to);
            from = to;
        }
        parts
    }
}
