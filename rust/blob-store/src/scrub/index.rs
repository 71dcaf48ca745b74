//! The manifest, and the indexes of sealed segments.

use std::ops::Range;
use std::sync::Arc;

use afterbay_blob_format::{INDEX_HEADER_BYTES, IndexDirectory, IndexEntry, PAGE_BYTES};

use super::log::{damaged, named};
use super::window::Window;
use super::{Flaw, Halt, Owner, Scrub, Step, Wrong, merged};
use crate::error::Error;
use crate::manifest_file;
use crate::scan::{Sequences, scan};
use crate::sealed::SealedSegment;

const WHAT: &str = "index segment";

/// What is wrong with an index, and where.
type Wrongs = Vec<(Range<u64>, Wrong)>;

impl Scrub<'_> {
    /// As long as it is open, the partition does without its manifest, and writes a new one with the next segment.
    pub(super) fn manifest(&mut self) -> Step<()> {
        let (log, id) = (self.partition.writer().manifest.log, self.partition.id());
        let wrong = match manifest_file::read_medium(&*self.directory) {
            Ok(manifest) if (manifest.partition, manifest.log) == (id, log) => return Ok(()),
            Ok(_) => (Flaw::Damaged, "manifest: of another partition".to_owned()),
            Err(Error::Unreadable { source, .. }) => {
                (Flaw::Unreadable, format!("manifest: cannot be read: {source}"))
            }
            Err(Error::NotAPartition { reason, .. }) => (Flaw::Damaged, reason),
            Err(other) => return Err(other.into()),
        };
        let name = manifest_file::NAME;
        let length = self.directory.open(name).and_then(|file| file.length()).unwrap_or(0);
        self.report(name, 0..length, wrong, Owner::Unknown);
        Ok(())
    }

    /// Verifies the index of a segment. Its entries, in the order of the log.
    pub(super) fn index(&mut self, segment: Arc<SealedSegment>) -> Step<Vec<IndexEntry>> {
        let mut segment = segment;
        if segment.index.file_bytes() > 0 {
            let number = segment.log.header.number;
            let wrongs = self.wrongs(&segment)?;
            // Who repairs one has the writer: a file that is half written is not found below.
            let here = {
                let _writer = self.partition.writer();
                self.sealed(number)
            };
            let here = here.ok_or(Halt::Compacted)?;
            if Arc::ptr_eq(&here, &segment) {
                for (bytes, wrong) in wrongs {
                    self.report(segment.index.name(), bytes, wrong, Owner::Spare);
                }
            }
            // Else it was computed anew a moment ago.
            segment = here;
        }
        segment.index.by_offset().or_else(|error| {
            if error.is_damage() { self.computed(&segment) } else { Err(error.into()) }
        })
    }

    /// What an index has that can still be read, and what the log says itself.
    fn computed(&self, segment: &SealedSegment) -> Step<Vec<IndexEntry>> {
        let SealedSegment { log, length, compacted, .. } = segment;
        let sequences = if *compacted { Sequences::Growing } else { Sequences::Following(None) };
        let read = scan(log, (*length).into(), (*length).into(), sequences)?.records;
        let read = read.iter().map(|(offset, header)| IndexEntry::of(header, *offset));
        Ok(merged(segment.index.readable_entries(), read.collect()))
    }

    fn wrongs(&mut self, segment: &SealedSegment) -> Step<Wrongs> {
        let (index, number) = (&segment.index, segment.log.header.number);
        let end = index.file_bytes();
        let Some(file) = self.open(index.name(), number)? else {
            return Ok(vec![(0..end, (Flaw::Damaged, format!("{WHAT}: the file is not there")))]);
        };
        let mut window = Window::new(file, index.name(), number, end);
        let mut wrongs = Vec::new();
        let head = 0..index.directory().page_offset(0);
        if let Err(wrong) = self.head(&mut window, index.directory())? {
            wrongs.push((head, wrong));
        }
        for page in index.directory().pages() {
            let begin = index.directory().page_offset(page);
            let bytes = begin..begin + PAGE_BYTES as u64;
            let read = window.read(self, bytes.clone())?.map_err(|wrong| named(WHAT, wrong));
            let parsed = read.and_then(|bytes| {
                index.directory().parse_page(page, bytes).map_err(|e| damaged(&e))
            });
            if let Err(wrong) = parsed {
                wrongs.push((bytes, wrong));
            }
        }
        Ok(wrongs)
    }

    /// Header, filter and fences.
    fn head(
        &mut self,
        window: &mut Window<'_>,
        expected: &IndexDirectory,
    ) -> Step<Result<(), Wrong>> {
        let header = window.read(self, 0..INDEX_HEADER_BYTES as u64)?;
        let length = header
            .map_err(|wrong| named(WHAT, wrong))
            .and_then(|bytes| IndexDirectory::resident_bytes(bytes).map_err(|e| damaged(&e)));
        let length = match length {
            Ok(length) if length as u64 <= expected.page_offset(0) => length as u64,
            Ok(_) => return Ok(Err(other_segment())),
            Err(wrong) => return Ok(Err(wrong)),
        };
        let read = window.read(self, 0..length)?.map_err(|wrong| named(WHAT, wrong));
        Ok(read.and_then(|bytes| {
            let parsed = IndexDirectory::parse(bytes).map_err(|e| damaged(&e))?;
            if parsed == *expected { Ok(()) } else { Err(other_segment()) }
        }))
    }
}

fn other_segment() -> Wrong {
    (Flaw::Damaged, format!("{WHAT}: of another segment"))
}
