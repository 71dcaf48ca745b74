//! Sealed segments: their log, and their index.

use std::borrow::Cow;
use std::io::IoSlice;
use std::sync::Arc;

use afterbay_blob_format::{
    FormatError, INDEX_HEADER_BYTES, IndexDirectory, IndexEntry, IndexedSegment, PAGE_BYTES,
    SegmentHeader, encode_index,
};
use uuid::Uuid;

use crate::directory::{Directory, StoreFile, Wait};
use crate::error::{Error, Result};
use crate::log_file::{FIRST_RECORD, LogFile, number_before};

const SUFFIX: &str = ".index";

pub(crate) fn index_name(number: u64) -> String {
    format!("{number:016x}{SUFFIX}")
}

/// The number of the log segment in its index's name.
pub(crate) fn index_number(name: &str) -> Option<u64> {
    number_before(SUFFIX, name)
}

/// A log segment that does not grow any more.
#[derive(Debug)]
pub(crate) struct SealedSegment {
    pub(crate) log: Arc<LogFile>,
    /// Bytes of it that count.
    pub(crate) length: u32,
    pub(crate) next_sequence: u64,
    pub(crate) compacted: bool,
    pub(crate) index: SealedIndex,
}

impl SealedSegment {
    /// Whether its records lie one behind the other from the first byte to the last: nothing in it is lost.
    pub(crate) fn is_whole(&self, by_offset: &[IndexEntry]) -> bool {
        is_gapless(by_offset, self.length)
    }
}

/// Whether records lie one behind the other up to `length`.
pub(crate) fn is_gapless(by_offset: &[IndexEntry], length: u32) -> bool {
    let mut at = u64::from(FIRST_RECORD);
    let adjoining = by_offset.iter().all(|entry| {
        let adjoins = u64::from(entry.offset) == at;
        at = entry.end();
        adjoins
    });
    adjoining && at == u64::from(length)
}

/// The index of a sealed segment. Pages are in a file; in memory only if the file could not be written.
#[derive(Debug)]
pub(crate) struct SealedIndex {
    name: String,
    directory: IndexDirectory,
    pages: Pages,
}

#[derive(Debug)]
enum Pages {
    File(Arc<dyn StoreFile>),
    Memory(Vec<u8>),
}

impl SealedIndex {
    /// Opens the index of `of`, if its file is there, whole, and of this very segment.
    pub(crate) fn open(directory: &dyn Directory, of: &LogFile, length: u32) -> Option<Self> {
        let name = index_name(of.header.number);
        let file = directory.open(&name).ok()?;
        let mut header = vec![0; INDEX_HEADER_BYTES];
        file.read_exact_at(&mut header, 0).ok()?;
        let mut resident = vec![0; IndexDirectory::resident_bytes(&header).ok()?];
        file.read_exact_at(&mut resident, 0).ok()?;
        let index = IndexDirectory::parse(&resident).ok()?;
        let pages = u64::from(index.pages().end);
        let whole = file.length().ok()? >= index.page_offset(0) + pages * PAGE_BYTES as u64;
        let fits = index.segment == of.header.segment && index.covers == length;
        (whole && fits).then_some(SealedIndex { name, directory: index, pages: Pages::File(file) })
    }

    /// Writes the index of a segment of `length` bytes, which begins with the record `first_sequence`. Not synced: what is
    /// lost is computed again. If it cannot be written, it stays in memory; also if it does not have all records, since some
    /// could not be read: it must not be taken for the whole one later.
    pub(crate) fn build(
        directory: &dyn Directory,
        log: &LogFile,
        length: u32,
        first_sequence: u64,
        mut entries: Vec<IndexEntry>,
    ) -> Result<Self> {
        entries.sort_unstable_by_key(|entry| (entry.uuid, entry.offset));
        let SegmentHeader { partition, segment, number, .. } = log.header;
        let of = IndexedSegment { partition, segment, number, covers: length, first_sequence };
        let bytes = encode_index(&of, &entries);
        let name = index_name(number);
        let index = IndexDirectory::parse(&bytes).map_err(|e| Error::damaged(&name, 0, e))?;
        let written = match log.unknown() {
            None => write_file(directory, &name, &bytes),
            Some(_) => Err(std::io::Error::other("some records cannot be read")),
        };
        let pages = match written {
            Ok(file) => Pages::File(file),
            Err(error) => {
                tracing::warn!(file = name, %error, "index stays in memory");
                Pages::Memory(bytes)
            }
        };
        Ok(SealedIndex { name, directory: index, pages })
    }

    /// All records of a blob in this segment, in the order of the log.
    pub(crate) fn find(&self, uuid: Uuid, wait: Wait) -> Result<Vec<IndexEntry>> {
        let mut found = Vec::new();
        if self.directory.may_contain(uuid) {
            for page in self.directory.pages_of(uuid) {
                found.extend(self.page(page, wait)?.into_iter().filter(|entry| entry.uuid == uuid));
            }
        }
        Ok(found)
    }

    /// The records on one page, sorted by blob and offset.
    pub(crate) fn page_entries(&self, page: u32) -> Result<Vec<IndexEntry>> {
        self.page(page, Wait::ForDisk)
    }

    /// All records in the order of the log.
    pub(crate) fn by_offset(&self) -> Result<Vec<IndexEntry>> {
        let mut entries = Vec::with_capacity(self.directory.entries as usize);
        for page in self.directory.pages() {
            entries.extend(self.page(page, Wait::ForDisk)?);
        }
        entries.sort_unstable_by_key(|entry| entry.offset);
        Ok(entries)
    }

    /// The records on all pages that can be read and are not damaged.
    pub(crate) fn readable_entries(&self) -> Vec<IndexEntry> {
        let pages = self.directory.pages();
        pages.filter_map(|page| self.page(page, Wait::ForDisk).ok()).flatten().collect()
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn directory(&self) -> &IndexDirectory {
        &self.directory
    }

    /// Bytes of its file; 0 if it has none.
    pub(crate) fn file_bytes(&self) -> u64 {
        match self.pages {
            Pages::File(_) => self.directory.page_offset(self.directory.pages().end),
            Pages::Memory(_) => 0,
        }
    }

    pub(crate) fn entries(&self) -> u32 {
        self.directory.entries
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let pages = if let Pages::Memory(bytes) = &self.pages { bytes.len() } else { 0 };
        self.directory.memory_bytes() + pages
    }

    fn page(&self, page: u32, wait: Wait) -> Result<Vec<IndexEntry>> {
        let offset = self.directory.page_offset(page);
        let bytes = self.page_bytes(offset, wait)?;
        self.directory.parse_page(page, &bytes).map_err(|e| Error::damaged(&self.name, offset, e))
    }

    fn page_bytes(&self, offset: u64, wait: Wait) -> Result<Cow<'_, [u8]>> {
        match &self.pages {
            Pages::File(file) => file
                .read_at(PAGE_BYTES, offset, wait)
                .map(Cow::Owned)
                .map_err(|e| Error::read(&self.name, offset, e)),
            Pages::Memory(all) => {
                let begin = offset as usize;
                let (needed, found) = (begin + PAGE_BYTES, all.len());
                let end = FormatError::TooShort { what: "index page", needed, found };
                let page = all.get(begin..needed).map(Cow::Borrowed);
                page.ok_or_else(|| Error::damaged(&self.name, offset, end))
            }
        }
    }
}

fn write_file(
    directory: &dyn Directory,
    name: &str,
    bytes: &[u8],
) -> std::io::Result<Arc<dyn StoreFile>> {
    // Of an earlier segment with this number that no manifest ever named, or damaged.
    let _ = directory.remove(name);
    let file = directory.create(name)?;
    match file.write_all_at(&[IoSlice::new(bytes)], 0) {
        Ok(()) => Ok(file),
        Err(error) => {
            let _ = directory.remove(name);
            Err(error)
        }
    }
}
