//! What a simulated disk has of a file: what reads return, what is durable, what is on its way, and which sectors are bad.

use std::collections::BTreeSet;
use std::io;
use std::ops::Range;

use rustix::io::Errno;

/// Bytes that are written whole or not at all.
pub const SECTOR_BYTES: usize = 512;

#[derive(Debug, Default)]
pub(super) struct Inode {
    pub(super) is_directory: bool,
    /// What reads return: the page cache.
    pub(super) cached: Vec<u8>,
    pub(super) durable: Vec<u8>,
    pub(super) pending: Vec<Change>,
    /// Bytes whose lowest bit is wrong on the disk.
    pub(super) wrong: Vec<usize>,
    /// Numbers of sectors that cannot be read.
    pub(super) bad: BTreeSet<usize>,
}

#[derive(Debug, Clone)]
pub(super) enum Change {
    Write(usize, Vec<u8>),
    Resize(usize),
}

/// Numbers of the sectors in which these bytes lie.
pub(super) fn sectors_of(bytes: &Range<usize>) -> Range<usize> {
    bytes.start / SECTOR_BYTES..bytes.end.div_ceil(SECTOR_BYTES)
}

/// The parts of a write that lie in different sectors.
pub(super) fn sectors(offset: usize, data: &[u8]) -> Vec<(usize, &[u8])> {
    let mut parts = Vec::new();
    let (mut at, mut rest) = (offset, data);
    while !rest.is_empty() {
        let (part, behind) = rest.split_at(rest.len().min(SECTOR_BYTES - at % SECTOR_BYTES));
        parts.push((at, part));
        (at, rest) = (at + part.len(), behind);
    }
    parts
}

impl Inode {
    /// What reads return, durable.
    pub(super) fn copy(&self) -> Self {
        let (cached, durable) = (self.cached.clone(), self.cached.clone());
        Inode { is_directory: self.is_directory, cached, durable, ..Inode::default() }
    }

    /// An error if one of these bytes is in a bad sector.
    pub(super) fn check_readable(&self, bytes: &Range<usize>) -> io::Result<()> {
        let bad = self.bad.range(sectors_of(bytes)).next().is_some();
        if bad { Err(Errno::IO.into()) } else { Ok(()) }
    }

    /// Sectors that are written as a whole get well. One of which a part is written would have to be read for that.
    pub(super) fn overwrite_bad(&mut self, bytes: &Range<usize>) -> io::Result<()> {
        let end = bytes.end;
        let is_whole = |sector: &usize| {
            sector * SECTOR_BYTES >= bytes.start && (sector + 1) * SECTOR_BYTES <= end
        };
        let hit: Vec<_> = self.bad.range(sectors_of(bytes)).copied().collect();
        if !hit.iter().all(is_whole) {
            return Err(Errno::IO.into());
        }
        hit.iter().for_each(|sector| {
            self.bad.remove(sector);
        });
        Ok(())
    }

    pub(super) fn resize(&mut self, length: usize) -> io::Result<()> {
        if !length.is_multiple_of(SECTOR_BYTES) && length < self.cached.len() {
            // The rest of the sector becomes 0.
            self.check_readable(&(length..length + 1))?;
        }
        self.bad.retain(|sector| sector * SECTOR_BYTES < length);
        self.change(Change::Resize(length));
        Ok(())
    }

    pub(super) fn change(&mut self, change: Change) {
        apply(&mut self.cached, &change);
        self.pending.push(change);
    }

    pub(super) fn make_durable(&mut self, change: Change) {
        match change {
            Change::Write(offset, data) => self.write_durable(offset, &data),
            Change::Resize(_) => apply(&mut self.durable, &change),
        }
    }

    pub(super) fn write_durable(&mut self, offset: usize, data: &[u8]) {
        apply(&mut self.durable, &Change::Write(offset, data.to_vec()));
        let written = offset..offset + data.len();
        let durable = &mut self.durable;
        self.wrong.retain(|at| {
            let hit = written.contains(at);
            if hit {
                durable[*at] ^= 1;
            }
            !hit
        });
    }

    pub(super) fn sync(&mut self) {
        for change in std::mem::take(&mut self.pending) {
            self.make_durable(change);
        }
    }
}

fn apply(content: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Resize(length) => {
            content.truncate(*length);
            grow(content, *length);
        }
        Change::Write(offset, data) => {
            let end = offset + data.len();
            grow(content, end);
            content[*offset..end].copy_from_slice(data);
        }
    }
}

/// `Vec::resize` writes byte by byte unless it is optimised, and most tests spend their time here.
fn grow(content: &mut Vec<u8>, length: usize) {
    if content.len() < length {
        content.extend_from_slice(&vec![0; length - content.len()]);
    }
}
