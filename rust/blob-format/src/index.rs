//! The index of a sealed log segment: its records, sorted by UUID and offset, on pages of 4 KiB.
//!
//! ```text
//!  +--------+--------------+--------+------+--------+--------+-----+--------+
//!  | header | Bloom filter | fences | 0... | page 0 | page 1 | ... | page n |
//!  +--------+--------------+--------+------+--------+--------+-----+--------+
//!  0        96                             4096 * h
//! ```
//!
//! In memory are the filter and the fences, the first UUID of each page: a look-up reads one page of a segment that
//! has the blob. All of it can be computed from the log segment.

use uuid::Uuid;

use crate::bloom::BloomFilter;
use crate::checksum::crc32c_of;
use crate::error::{FormatError, Result};
use crate::fields::Fields;
use crate::id::PartitionId;
use crate::record::{MAX_RECORD_BYTES, RECORD_HEADER_BYTES, RecordHeader, RecordKind};
use crate::segment::SEGMENT_HEADER_BYTES;

/// Bytes of a page.
pub const PAGE_BYTES: usize = 4096;

/// Entries on a full page.
pub const ENTRIES_PER_PAGE: usize = 85;

/// The most entries of one index segment.
pub const MAX_ENTRIES: usize = 1 << 20;

/// Bytes of the header.
pub const INDEX_HEADER_BYTES: usize = 96;

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
        out.extend_from_slice(&[self.kind as u8, 0, 0, 0]);
    }

    fn parse(fields: &mut Fields<'_>) -> Result<Self> {
        let uuid = Uuid::from_bytes(fields.array()?);
        let (offset, length) = (fields.u32()?, fields.u32()?);
        let (expires_ms, time_ms) = (fields.u64()?, fields.u64()?);
        let life = fields.u32()?;
        let [kind, zeros @ ..] = fields.array::<4>()?;
        fields.require("last bytes of an entry", kind.into(), zeros == [0; 3])?;
        let unknown = FormatError::Field { what: WHAT_PAGE, field: "kind", found: kind.into() };
        let kind = RecordKind::from_number(kind).ok_or(unknown)?;
        let possible = RECORD_HEADER_BYTES..=MAX_RECORD_BYTES;
        fields.require(
            "length of a record",
            length.into(),
            possible.contains(&(length as usize)),
        )?;
        fields.require("offset", offset.into(), offset as usize >= SEGMENT_HEADER_BYTES)?;
        Ok(IndexEntry { uuid, offset, length, expires_ms, time_ms, life, kind })
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
    filter: BloomFilter,
    fences: Vec<Uuid>,
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
    debug_assert!(entries.is_sorted_by_key(|entry| (entry.uuid, entry.offset)));
    let mut filter = BloomFilter::new(entries.len(), of.segment);
    entries.iter().for_each(|entry| filter.insert(entry.uuid));
    let mut resident = filter.encode();
    let filter_bytes = resident.len() as u32;
    for page in entries.chunks(ENTRIES_PER_PAGE) {
        resident.extend_from_slice(page[0].uuid.as_bytes());
    }
    let mut out = encode_header(of, entries.len() as u32, filter_bytes, crc32c_of(&[&resident]));
    out.extend_from_slice(&resident);
    out.resize(out.len().next_multiple_of(PAGE_BYTES), 0);
    for (number, page) in entries.chunks(ENTRIES_PER_PAGE).enumerate() {
        out.extend_from_slice(&encode_page(of.segment, number as u32, page));
    }
    out
}

fn encode_header(of: &IndexedSegment, entries: u32, filter_bytes: u32, crc: u32) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&1u32.to_be_bytes());
    out.extend_from_slice(&0u32.to_be_bytes());
    out.extend_from_slice(&of.partition.0.to_be_bytes());
    out.extend_from_slice(of.segment.as_bytes());
    out.extend_from_slice(&of.number.to_be_bytes());
    out.extend_from_slice(&of.covers.to_be_bytes());
    out.extend_from_slice(&entries.to_be_bytes());
    out.extend_from_slice(&of.first_sequence.to_be_bytes());
    out.extend_from_slice(&filter_bytes.to_be_bytes());
    out.extend_from_slice(&crc.to_be_bytes());
    out.resize(INDEX_HEADER_BYTES - 4, 0);
    let crc = crc32c_of(&[&out]);
    out.extend_from_slice(&crc.to_be_bytes());
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

impl IndexDirectory {
    /// How many bytes from the start of the file [`IndexDirectory::parse`] needs, by its first
    /// [`INDEX_HEADER_BYTES`].
    pub fn resident_bytes(header: &[u8]) -> Result<usize> {
        let (_, filter_bytes, _, pages) = Self::parse_header(header)?;
        Ok(INDEX_HEADER_BYTES + filter_bytes + pages * FENCE_BYTES)
    }

    /// Reads header, filter and fences.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let (mut directory, filter_bytes, crc, pages) = Self::parse_header(bytes)?;
        let mut fields = Fields::new(WHAT, bytes);
        fields.bytes(INDEX_HEADER_BYTES)?;
        let filter = fields.bytes(filter_bytes)?;
        let fences = fields.bytes(pages * FENCE_BYTES)?;
        fields.checksum(crc, crc32c_of(&[filter, fences]))?;
        directory.filter =
            BloomFilter::parse(filter, directory.segment).ok_or(FormatError::Field {
                what: WHAT,
                field: "length of the filter",
                found: filter_bytes as u64,
            })?;
        let mut fences = Fields::new(WHAT, fences);
        for _ in 0..pages {
            directory.fences.push(Uuid::from_bytes(fences.array()?));
        }
        fields.require("order of the fences", 0, directory.fences.is_sorted())?;
        Ok(directory)
    }

    /// The header: itself, bytes of the filter, checksum of what stays in memory, pages.
    fn parse_header(bytes: &[u8]) -> Result<(Self, usize, u32, usize)> {
        let checked = Fields::new(WHAT, bytes).bytes(INDEX_HEADER_BYTES - 4)?;
        let mut fields = Fields::new(WHAT, bytes);
        fields.magic(MAGIC)?;
        let version = fields.u32()?;
        fields.version(version)?;
        let zero = fields.u32()?;
        let partition = PartitionId(fields.u64()?);
        let segment = Uuid::from_bytes(fields.array()?);
        let number = fields.u64()?;
        let (covers, entries) = (fields.u32()?, fields.u32()?);
        let first_sequence = fields.u64()?;
        let (filter_bytes, resident_crc) = (fields.u32()?, fields.u32()?);
        let zeros = fields.bytes(INDEX_HEADER_BYTES - 4 - 72)?;
        let crc = fields.u32()?;
        fields.checksum(crc, crc32c_of(&[checked]))?;
        fields.zero("bytes 12 to 15", zero.into())?;
        fields.zero("bytes 72 to 91", zeros.iter().map(|&b| u64::from(b)).sum())?;
        fields.require("entries", entries.into(), entries as usize <= MAX_ENTRIES)?;
        let most = BloomFilter::new(MAX_ENTRIES, segment).memory_bytes();
        let fits = filter_bytes as usize <= most;
        fields.require("length of the filter", filter_bytes.into(), fits)?;
        let filter = BloomFilter::new(0, segment);
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
        let pages = (entries as usize).div_ceil(ENTRIES_PER_PAGE);
        Ok((directory, filter_bytes as usize, resident_crc, pages))
    }

    /// False if no record of `uuid` is in the segment.
    pub fn may_contain(&self, uuid: Uuid) -> bool {
        self.filter.may_contain(uuid)
    }

    /// The pages that may have records of `uuid`; nearly always one.
    pub fn pages_of(&self, uuid: Uuid) -> std::ops::Range<u32> {
        // Records of one blob may begin at the end of the page before the first whose fence is the blob.
        let begin = self.fences.partition_point(|fence| *fence < uuid).saturating_sub(1);
        let end = self.fences.partition_point(|fence| *fence <= uuid);
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
        // Every blob has two records, so that some have one on each of two pages.
        (0..count)
            .map(|i| IndexEntry {
                uuid: Uuid::from_u128((i / 2) << 100),
                offset: 100 * (i as u32 + 1),
                length: 100,
                expires_ms: 0,
                time_ms: i as u64,
                life: 0,
                kind: if i % 2 == 0 { RecordKind::Put } else { RecordKind::Delete },
            })
            .collect()
    }

    fn read_page(directory: &IndexDirectory, stored: &[u8], page: u32) -> Vec<IndexEntry> {
        let at = directory.page_offset(page) as usize;
        directory.parse_page(page, &stored[at..at + PAGE_BYTES]).unwrap()
    }

    #[test]
    fn every_record_is_found_again() {
        let entries = entries(1001);
        let stored = encode_index(&of(), &entries);
        let directory = IndexDirectory::parse(&stored).unwrap();
        let all: Vec<_> =
            directory.pages().flat_map(|page| read_page(&directory, &stored, page)).collect();
        assert_eq!(all, entries);
        for entry in &entries {
            assert!(directory.may_contain(entry.uuid));
            let found: Vec<_> = directory
                .pages_of(entry.uuid)
                .flat_map(|page| read_page(&directory, &stored, page))
                .filter(|found| found.uuid == entry.uuid)
                .collect();
            let expected: Vec<_> =
                entries.iter().filter(|e| e.uuid == entry.uuid).copied().collect();
            assert_eq!(found, expected);
            assert!(directory.pages_of(entry.uuid).len() <= 2);
        }
        let needed = IndexDirectory::resident_bytes(&stored).unwrap();
        assert_eq!(IndexDirectory::parse(&stored[..needed]), Ok(directory));
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
