//! The index of a sealed log segment: its records, sorted by UUID and offset, on pages of 4 KiB.
//!
//! ```text
//!  +--------+--------+--------+------+--------+--------+-----+--------+
//!  | header | filter | fences | 0... | page 0 | page 1 | ... | page n |
//!  +--------+--------+--------+------+--------+--------+-----+--------+
//!  0        96                       4096 * h
//! ```
//!
//! In memory are the filter and the fences, the first UUID of each page: a look-up reads one page of a segment that
//! has the blob. All of it can be computed from the log segment.
//!
//! Format 2 is written. Format 1, which is read, has a Bloom filter, and divides the records of a blob among two pages where
//! one is full: a look-up then reads both.

use uuid::Uuid;

use crate::bloom::BloomFilter;
use crate::checksum::crc32c_of;
use crate::error::{FormatError, Result};
use crate::fields::Fields;
use crate::fuse::{FuseFilter, Shape};
use crate::id::PartitionId;
use crate::record::{FOLLOWS, MAX_RECORD_BYTES, RECORD_HEADER_BYTES, RecordHeader, RecordKind};
use crate::segment::SEGMENT_HEADER_BYTES;

/// Bytes of a page.
pub const PAGE_BYTES: usize = 4096;

/// Entries on a full page.
pub const ENTRIES_PER_PAGE: usize = 85;

/// The most entries of one index segment.
pub const MAX_ENTRIES: usize = 1 << 20;

/// Bytes of the header.
pub const INDEX_HEADER_BYTES: usize = 96;

/// No filter is longer, whatever a header says.
const FILTER_BYTES_MAX: usize = 4 * MAX_ENTRIES;
const FENCE_BYTES: usize = 16;
const MAGIC: &[u8; 8] = b"AFTRBIDX";
const WHAT: &str = "index segment";
const WHAT_PAGE: &str = "index page";

/// One record, as the index has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexEntry {
    /// The blob.
    pub uuid: Uuid,
    /// Where the record begins in its segment.
    pub offset: u32,
    /// Bytes of the record.
    pub length: u32,
    /// As in the record: [`RecordHeader::expires_ms`].
    pub expires_ms: u64,
    /// As in the record.
    pub time_ms: u64,
    /// As in the record.
    pub life: u32,
    /// As in the record.
    pub kind: RecordKind,
    /// As in the record: [`RecordHeader::follows`].
    pub follows: bool,
}

impl IndexEntry {
    /// The entry of a record at `offset`.
    pub fn of(header: &RecordHeader, offset: u32) -> Self {
        IndexEntry {
            uuid: header.id.uuid,
            offset,
            length: header.record_bytes(),
            expires_ms: header.expires_ms,
            time_ms: header.time_ms,
            life: header.life,
            kind: header.kind,
            follows: header.follows,
        }
    }

    /// Where the next record begins.
    pub fn end(&self) -> u64 {
        u64::from(self.offset) + u64::from(self.length)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.uuid.as_bytes());
        out.extend_from_slice(&self.offset.to_be_bytes());
        out.extend_from_slice(&self.length.to_be_bytes());
        out.extend_from_slice(&self.expires_ms.to_be_bytes());
        out.extend_from_slice(&self.time_ms.to_be_bytes());
        out.extend_from_slice(&self.life.to_be_bytes());
        let flags = if self.follows { FOLLOWS } else { 0 };
        out.extend_from_slice(&[self.kind as u8, flags, 0, 0]);
    }

    fn parse(fields: &mut Fields<'_>) -> Result<Self> {
        let uuid = Uuid::from_bytes(fields.array()?);
        let (offset, length) = (fields.u32()?, fields.u32()?);
        let (expires_ms, time_ms) = (fields.u64()?, fields.u64()?);
        let life = fields.u32()?;
        let [kind, flags, zeros @ ..] = fields.array::<4>()?;
        fields.require("last bytes of an entry", kind.into(), zeros == [0; 2])?;
        let unknown = FormatError::Field { what: WHAT_PAGE, field: "kind", found: kind.into() };
        let kind = RecordKind::from_number(kind).ok_or(unknown)?;
        let follows = flags == FOLLOWS;
        let possible = flags == 0 || follows && kind == RecordKind::Put;
        fields.require("flags of an entry", flags.into(), possible)?;
        let possible = RECORD_HEADER_BYTES..=MAX_RECORD_BYTES;
        fields.require(
            "length of a record",
            length.into(),
            possible.contains(&(length as usize)),
        )?;
        fields.require("offset", offset.into(), offset as usize >= SEGMENT_HEADER_BYTES)?;
        Ok(IndexEntry { uuid, offset, length, expires_ms, time_ms, life, kind, follows })
    }
}

/// What stays in memory of an index segment, and how its pages are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexDirectory {
    /// The partition.
    pub partition: PartitionId,
    /// Identity of the log segment that it is the index of.
    pub segment: Uuid,
    /// The number of that segment.
    pub number: u64,
    /// Bytes of the log segment that it covers: all.
    pub covers: u32,
    /// Entries.
    pub entries: u32,
    /// The lowest sequence number of the records; 0 if there are none.
    pub first_sequence: u64,
    filter: Filter,
    fences: Vec<Uuid>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Filter {
    /// Of format 1.
    Bloom(BloomFilter),
    Fuse(FuseFilter),
}

impl Filter {
    fn may_contain(&self, uuid: Uuid) -> bool {
        match self {
            Filter::Bloom(filter) => filter.may_contain(uuid),
            Filter::Fuse(filter) => filter.may_contain(uuid),
        }
    }

    fn memory_bytes(&self) -> usize {
        match self {
            Filter::Bloom(filter) => filter.memory_bytes(),
            Filter::Fuse(filter) => filter.stored().len(),
        }
    }
}

/// What is known of a log segment beside its entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedSegment {
    /// The partition.
    pub partition: PartitionId,
    /// Identity of the log segment.
    pub segment: Uuid,
    /// Its number.
    pub number: u64,
    /// Its bytes.
    pub covers: u32,
    /// The lowest sequence number of its records; 0 if there are none.
    pub first_sequence: u64,
}

/// The stored form of the index of `of`, whose entries are sorted by UUID and offset, and at most [`MAX_ENTRIES`].
pub fn encode_index(of: &IndexedSegment, entries: &[IndexEntry]) -> Vec<u8> {
    let filter = FuseFilter::of(entries.iter().map(|entry| entry.uuid), of.segment);
    let pages = divide(entries);
    let Shape { seed, starts, exponent } = filter.shape();
    // As many as entries at most.
    let more = [seed, starts, exponent, pages.len() as u32, 0];
    encode(of, 2, filter.stored(), more, &pages)
}

/// The same in format 1, as it was written before: for tests of what reads it.
pub fn encode_index_1(of: &IndexedSegment, entries: &[IndexEntry]) -> Vec<u8> {
    let mut filter = BloomFilter::new(entries.len(), of.segment);
    entries.iter().for_each(|entry| filter.insert(entry.uuid));
    let pages: Vec<_> = entries.chunks(ENTRIES_PER_PAGE).collect();
    encode(of, 1, &filter.encode(), [0; 5], &pages)
}

/// Entries by page. Those of a blob are on one, or, if they are too many, on several that begin with it.
fn divide(entries: &[IndexEntry]) -> Vec<&[IndexEntry]> {
    let mut pages = Vec::with_capacity(entries.len() / ENTRIES_PER_PAGE + 1);
    let (mut begin, mut end) = (0, 0);
    for blob in entries.chunk_by(|a, b| a.uuid == b.uuid) {
        if end > begin && end - begin + blob.len() > ENTRIES_PER_PAGE {
            pages.push(&entries[begin..end]);
            begin = end;
        }
        end += blob.len();
        while end - begin > ENTRIES_PER_PAGE {
            pages.push(&entries[begin..begin + ENTRIES_PER_PAGE]);
            begin += ENTRIES_PER_PAGE;
        }
    }
    if end > begin {
        pages.push(&entries[begin..end]);
    }
    pages
}

fn encode(
    of: &IndexedSegment,
    format: u32,
    filter: &[u8],
    more: [u32; 5],
    pages: &[&[IndexEntry]],
) -> Vec<u8> {
    let entries: usize = pages.iter().map(|page| page.len()).sum();
    debug_assert!(pages.concat().is_sorted_by_key(|entry| (entry.uuid, entry.offset)));
    let fences: Vec<u8> = pages.iter().flat_map(|page| *page[0].uuid.as_bytes()).collect();
    let mut out = Vec::with_capacity((pages.len() + 2) * PAGE_BYTES + filter.len());
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&format.to_be_bytes());
    out.extend_from_slice(&0u32.to_be_bytes());
    out.extend_from_slice(&of.partition.0.to_be_bytes());
    out.extend_from_slice(of.segment.as_bytes());
    out.extend_from_slice(&of.number.to_be_bytes());
    out.extend_from_slice(&of.covers.to_be_bytes());
    out.extend_from_slice(&(entries as u32).to_be_bytes());
    out.extend_from_slice(&of.first_sequence.to_be_bytes());
    out.extend_from_slice(&(filter.len() as u32).to_be_bytes());
    out.extend_from_slice(&crc32c_of(&[filter, &fences]).to_be_bytes());
    more.iter().for_each(|field| out.extend_from_slice(&field.to_be_bytes()));
    let crc = crc32c_of(&[&out]);
    out.extend_from_slice(&crc.to_be_bytes());
    out.extend_from_slice(filter);
    out.extend_from_slice(&fences);
    out.resize(out.len().next_multiple_of(PAGE_BYTES), 0);
    for (number, page) in pages.iter().enumerate() {
        out.extend_from_slice(&encode_page(of.segment, number as u32, page));
    }
    out
}

fn encode_page(segment: Uuid, number: u32, entries: &[IndexEntry]) -> Vec<u8> {
    let mut page = Vec::with_capacity(PAGE_BYTES);
    page.extend_from_slice(&(entries.len() as u32).to_be_bytes());
    entries.iter().for_each(|entry| entry.encode(&mut page));
    page.resize(PAGE_BYTES - 4, 0);
    let crc = page_crc(segment, number, &page);
    page.extend_from_slice(&crc.to_be_bytes());
    page
}

fn page_crc(segment: Uuid, number: u32, checked: &[u8]) -> u32 {
    crc32c_of(&[segment.as_bytes(), &number.to_be_bytes(), checked])
}

/// What the header of an index segment says.
struct Header {
    /// Without filter and fences.
    directory: IndexDirectory,
    /// `None` in format 1.
    shape: Option<Shape>,
    filter_bytes: usize,
    resident_crc: u32,
    pages: usize,
}

impl Header {
    fn parse(bytes: &[u8]) -> Result<Self> {
        let checked = Fields::new(WHAT, bytes).bytes(INDEX_HEADER_BYTES - 4)?;
        let mut fields = Fields::new(WHAT, bytes);
        fields.magic(MAGIC)?;
        let format = fields.u32()?;
        fields.version_to(format, 2)?;
        let zero = fields.u32()?;
        let partition = PartitionId(fields.u64()?);
        let segment = Uuid::from_bytes(fields.array()?);
        let number = fields.u64()?;
        let (covers, entries) = (fields.u32()?, fields.u32()?);
        let first_sequence = fields.u64()?;
        let (filter_bytes, resident_crc) = (fields.u32()?, fields.u32()?);
        let [seed, starts, exponent] = [fields.u32()?, fields.u32()?, fields.u32()?];
        let (pages, last) = (fields.u32()?, fields.u32()?);
        let crc = fields.u32()?;
        fields.checksum(crc, crc32c_of(&[checked]))?;
        fields.zero("bytes 12 to 15", zero.into())?;
        fields.zero("bytes 88 to 91", last.into())?;
        fields.require("entries", entries.into(), entries as usize <= MAX_ENTRIES)?;
        let filter_bytes = filter_bytes as usize;
        let shape = Shape { seed, starts, exponent };
        let (shape, pages, fits) = if format == 1 {
            fields.zero(
                "bytes 72 to 87",
                [seed, starts, exponent, pages].map(u64::from).iter().sum(),
            )?;
            (None, (entries as usize).div_ceil(ENTRIES_PER_PAGE), true)
        } else {
            (Some(shape), pages as usize, shape.stored_bytes() == Some(filter_bytes))
        };
        let fits = fits && filter_bytes <= FILTER_BYTES_MAX;
        fields.require("length of the filter", filter_bytes as u64, fits)?;
        let least = (entries as usize).div_ceil(ENTRIES_PER_PAGE);
        let possible = (least..=entries as usize).contains(&pages);
        fields.require("pages", pages as u64, possible)?;
        let filter = Filter::Bloom(BloomFilter::new(0, segment));
        let fences = Vec::new();
        let directory = IndexDirectory {
            partition,
            segment,
            number,
            covers,
            entries,
            first_sequence,
            filter,
            fences,
        };
        Ok(Header { directory, shape, filter_bytes, resident_crc, pages })
    }

    fn resident_bytes(&self) -> usize {
        INDEX_HEADER_BYTES + self.filter_bytes + self.pages * FENCE_BYTES
    }
}

impl IndexDirectory {
    /// How many bytes from the start of the file [`IndexDirectory::parse`] needs, by its first
    /// [`INDEX_HEADER_BYTES`].
    pub fn resident_bytes(header: &[u8]) -> Result<usize> {
        Ok(Header::parse(header)?.resident_bytes())
    }

    /// Reads header, filter and fences.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let header = Header::parse(bytes)?;
        let mut directory = header.directory;
        let mut fields = Fields::new(WHAT, bytes);
        fields.bytes(INDEX_HEADER_BYTES)?;
        let filter = fields.bytes(header.filter_bytes)?;
        let fences = fields.bytes(header.pages * FENCE_BYTES)?;
        fields.checksum(header.resident_crc, crc32c_of(&[filter, fences]))?;
        let parsed = match header.shape {
            None => BloomFilter::parse(filter, directory.segment).map(Filter::Bloom),
            Some(shape) => FuseFilter::parse(filter, shape, directory.segment).map(Filter::Fuse),
        };
        directory.filter = parsed.ok_or(FormatError::Field {
            what: WHAT,
            field: "length of the filter",
            found: header.filter_bytes as u64,
        })?;
        let mut fences = Fields::new(WHAT, fences);
        for _ in 0..header.pages {
            directory.fences.push(Uuid::from_bytes(fences.array()?));
        }
        fields.require("order of the fences", 0, directory.fences.is_sorted())?;
        Ok(directory)
    }

    /// False if no record of `uuid` is in the segment.
    pub fn may_contain(&self, uuid: Uuid) -> bool {
        self.entries > 0 && self.filter.may_contain(uuid)
    }

    /// The pages that may have records of `uuid`; nearly always one.
    pub fn pages_of(&self, uuid: Uuid) -> std::ops::Range<u32> {
        let first = self.fences.partition_point(|fence| *fence < uuid);
        let end = self.fences.partition_point(|fence| *fence <= uuid);
        // In format 1, records of one blob may begin at the end of the page before the first whose fence is the blob.
        let whole = matches!(self.filter, Filter::Fuse(_)) && first < end;
        let begin = if whole { first } else { first.saturating_sub(1) };
        begin as u32..end as u32
    }

    /// All pages.
    pub fn pages(&self) -> std::ops::Range<u32> {
        0..self.fences.len() as u32
    }

    /// Where a page begins in the file.
    pub fn page_offset(&self, page: u32) -> u64 {
        let resident =
            INDEX_HEADER_BYTES + self.filter.memory_bytes() + self.fences.len() * FENCE_BYTES;
        (resident.next_multiple_of(PAGE_BYTES) + page as usize * PAGE_BYTES) as u64
    }

    /// Reads a page: its entries, sorted by UUID and offset.
    pub fn parse_page(&self, number: u32, bytes: &[u8]) -> Result<Vec<IndexEntry>> {
        let checked = Fields::new(WHAT_PAGE, bytes).bytes(PAGE_BYTES - 4)?;
        let mut fields = Fields::new(WHAT_PAGE, bytes);
        let count = fields.u32()?;
        let mut last = Fields::new(WHAT_PAGE, bytes);
        last.bytes(PAGE_BYTES - 4)?;
        fields.checksum(last.u32()?, page_crc(self.segment, number, checked))?;
        fields.require("entries", count.into(), count as usize <= ENTRIES_PER_PAGE)?;
        let entries: Vec<_> =
            (0..count).map(|_| IndexEntry::parse(&mut fields)).collect::<Result<_>>()?;
        let inside = entries.iter().all(|entry| entry.end() <= u64::from(self.covers));
        fields.require("end of a record", self.covers.into(), inside)?;
        let sorted = entries.is_sorted_by_key(|entry| (entry.uuid, entry.offset));
        fields.require("order of the entries", 0, sorted)?;
        Ok(entries)
    }

    /// Bytes that it takes in memory.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.filter.memory_bytes() + self.fences.len() * FENCE_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of() -> IndexedSegment {
        IndexedSegment {
            partition: PartitionId(1),
            segment: Uuid::from_u128(99),
            number: 2,
            covers: u32::MAX,
            first_sequence: 7,
        }
    }

    fn entries(count: u128) -> Vec<IndexEntry> {
        // Every blob has two records, so that a page of 85 would have one of its last blob.
        (0..count)
            .map(|i| IndexEntry {
                uuid: Uuid::from_u128((i / 2) << 100),
                offset: 100 * (i as u32 + 1),
                length: 100,
                expires_ms: 0,
                time_ms: i as u64,
                life: 0,
                kind: if i % 2 == 0 { RecordKind::Put } else { RecordKind::Delete },
                follows: i % 4 == 0,
            })
            .collect()
    }

    fn read_page(directory: &IndexDirectory, stored: &[u8], page: u32) -> Vec<IndexEntry> {
        let at = directory.page_offset(page) as usize;
        directory.parse_page(page, &stored[at..at + PAGE_BYTES]).unwrap()
    }

    fn find(directory: &IndexDirectory, stored: &[u8], uuid: Uuid) -> Vec<IndexEntry> {
        let pages = directory.pages_of(uuid);
        let all = pages.flat_map(|page| read_page(directory, stored, page));
        all.filter(|found| found.uuid == uuid).collect()
    }

    fn all_are_found(stored: &[u8], entries: &[IndexEntry]) -> IndexDirectory {
        let directory = IndexDirectory::parse(stored).unwrap();
        let all: Vec<_> =
            directory.pages().flat_map(|page| read_page(&directory, stored, page)).collect();
        assert_eq!(all, entries);
        for blob in entries.chunk_by(|a, b| a.uuid == b.uuid) {
            assert!(directory.may_contain(blob[0].uuid));
            assert_eq!(find(&directory, stored, blob[0].uuid), blob);
        }
        let needed = IndexDirectory::resident_bytes(stored).unwrap();
        assert_eq!(IndexDirectory::parse(&stored[..needed]), Ok(directory.clone()));
        directory
    }

    #[test]
    fn every_record_is_found_again() {
        let entries = entries(1001);
        let directory = all_are_found(&encode_index(&of(), &entries), &entries);
        assert!(entries.iter().all(|entry| directory.pages_of(entry.uuid).len() == 1));
        assert!(directory.pages_of(Uuid::from_u128(1)).len() <= 1);
    }

    #[test]
    fn format_1_is_read() {
        let entries = entries(1001);
        let directory = all_are_found(&encode_index_1(&of(), &entries), &entries);
        assert!(entries.iter().all(|entry| directory.pages_of(entry.uuid).len() <= 2));
        assert!(entries.iter().any(|entry| directory.pages_of(entry.uuid).len() == 2));
    }

    #[test]
    fn a_blob_may_have_more_records_than_a_page() {
        let with = |before: usize, records: usize, behind: usize| {
            let blobs = (0..before).chain(std::iter::repeat_n(before, records));
            let blobs = blobs.chain(before + 1..=before + behind);
            let entry = |(i, blob): (usize, usize)| IndexEntry {
                uuid: Uuid::from_u128((blob as u128) << 64),
                offset: 100 * (i as u32 + 1),
                ..entries(1)[0]
            };
            let entries: Vec<_> = blobs.enumerate().map(entry).collect();
            all_are_found(&encode_index(&of(), &entries), &entries);
        };
        for before in [0, 1, 84, 85, 86] {
            for records in [1, 2, 84, 85, 86, 170, 171, 300] {
                with(before, records, 0);
                with(before, records, 100);
            }
        }
    }

    #[test]
    fn an_empty_index_has_no_pages() {
        let stored = encode_index(&of(), &[]);
        let directory = IndexDirectory::parse(&stored).unwrap();
        assert_eq!(directory.pages_of(Uuid::nil()), 0..0);
        assert!(!directory.may_contain(Uuid::nil()));
    }

    #[test]
    fn each_bit_counts() {
        let stored = encode_index(&of(), &entries(3));
        let directory = IndexDirectory::parse(&stored).unwrap();
        let resident = IndexDirectory::resident_bytes(&stored).unwrap();
        for bit in 0..8 * resident {
            let mut damaged = stored.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(IndexDirectory::parse(&damaged).is_err(), "bit {bit}");
        }
        let page = &stored[PAGE_BYTES..];
        for bit in 0..8 * PAGE_BYTES {
            let mut damaged = page.to_vec();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(directory.parse_page(0, &damaged).is_err(), "bit {bit}");
        }
        assert!(directory.parse_page(1, page).is_err(), "a page in another's place");
    }

    #[test]
    fn a_million_records_take_less_than_two_megabytes() {
        let entries: Vec<_> = (0..100_000u32)
            .map(|i| IndexEntry { uuid: Uuid::from_u128(u128::from(i) << 96), ..entries(1)[0] })
            .collect();
        let directory = IndexDirectory::parse(&encode_index(&of(), &entries)).unwrap();
        let bytes = directory.memory_bytes() * 10;
        assert!(bytes <= 2_000_000, "{bytes} bytes");
    }
}
