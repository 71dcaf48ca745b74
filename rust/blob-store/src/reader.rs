//! A blob that is open for reading.

use std::ops::Range;
use std::os::fd::BorrowedFd;

use afterbay_blob_format::{
    BLOCK_BYTES, BlobId, ChecksumTable, FormatError, Properties, RECORD_HEADER_BYTES, RecordHeader,
    crc32c_of,
};
use bytes::Bytes;

use crate::blob_state::Place;
use crate::directory::Wait;
use crate::error::{Error, Result};

/// Most heads of records fit into so many bytes, so that one read is enough.
const HEAD_BYTES: usize = 4096;

/// A blob that is open for reading. Its bytes stay where they are as long as this lives, whatever is deleted or
/// compacted meanwhile.
#[derive(Debug)]
pub struct BlobReader {
    place: Place,
    header: RecordHeader,
    properties: Bytes,
    checksums: ChecksumTable,
    expires_ms: u64,
}

/// Where bytes are in a file, for a zero-copy transfer.
#[derive(Debug)]
pub struct FileRange<'a> {
    /// The file; `None` on a simulated disk.
    pub file: Option<BorrowedFd<'a>>,
    /// Their first byte.
    pub offset: u64,
    /// How many.
    pub length: u64,
}

impl BlobReader {
    pub(crate) fn open(id: BlobId, place: Place, expires_ms: u64, wait: Wait) -> Result<Self> {
        let log = &place.log;
        let damaged = |source| log.damaged(place.entry.offset.into(), source);
        let length = place.entry.length as usize;
        let read = |length| log.read_or_not(place.entry.offset.into(), length, wait);
        let mut head = match read(length.min(HEAD_BYTES)) {
            // Perhaps only a part of the body cannot be.
            Err(Error::Unreadable { .. }) => read(RECORD_HEADER_BYTES)?,
            other => other?,
        };
        let header = log.parse_header(&head).map_err(damaged)?;
        if header.id != id || header.record_bytes() != place.entry.length {
            let (what, field) = ("record header", "blob or length");
            let found = header.record_bytes().into();
            return Err(damaged(FormatError::Field { what, field, found }));
        }
        let layout = header.layout();
        if layout.body.start > head.len() {
            head = read(layout.body.start)?;
        }
        let head = Bytes::from(head);
        let properties = head.slice(layout.properties);
        if crc32c_of(&[&properties]) != header.properties_crc {
            return Err(damaged(FormatError::Checksum { what: "properties of a blob" }));
        }
        let stored = head[layout.checksums].to_vec();
        let checksums =
            ChecksumTable::parse(stored, header.body_bytes as usize, header.checksums_crc)
                .map_err(damaged)?;
        Ok(BlobReader { place, header, properties, checksums, expires_ms })
    }

    /// The blob.
    pub fn id(&self) -> BlobId {
        self.header.id
    }

    /// Bytes of the body.
    pub fn body_bytes(&self) -> u32 {
        self.header.body_bytes
    }

    /// When it was put, in milliseconds since 1970.
    pub fn created_ms(&self) -> u64 {
        self.header.time_ms
    }

    /// From when on it is expired, in milliseconds since 1970; 0 is never.
    pub fn expires_ms(&self) -> u64 {
        self.expires_ms
    }

    /// The container it belongs to.
    pub fn container(&self) -> u32 {
        self.header.container
    }

    /// The properties, verified.
    pub fn properties(&self) -> Result<Properties> {
        Properties::parse(&self.properties)
            .map_err(|e| self.place.log.damaged(self.offset(RECORD_HEADER_BYTES), e))
    }

    /// The properties as they are stored, verified.
    pub fn stored_properties(&self) -> &Bytes {
        &self.properties
    }

    /// The checksums of the body's blocks, for a client that verifies what it gets by [`BlobReader::body_range`].
    pub fn checksums(&self) -> &ChecksumTable {
        &self.checksums
    }

    /// Where the body is, for `sendfile`. Nobody has verified it: send the checksums with it.
    pub fn body_range(&self) -> FileRange<'_> {
        let body = self.header.layout().body;
        FileRange {
            file: self.place.log.file.descriptor(),
            offset: self.offset(body.start),
            length: body.len() as u64,
        }
    }

    /// The body, verified.
    pub fn read(&self) -> Result<Bytes> {
        self.read_range(0..self.header.body_bytes)
    }

    /// A part of the body, verified. Reads the whole blocks that it touches. An empty answer for what is behind the end.
    pub fn read_range(&self, range: Range<u32>) -> Result<Bytes> {
        self.read_or_not(range, Wait::ForDisk)
    }

    /// The same, if it is in memory and as it should be; else ask [`BlobReader::read_range`], which may wait.
    pub fn read_range_cached(&self, range: Range<u32>) -> Option<Bytes> {
        self.read_or_not(range, Wait::Never).ok()
    }

    fn read_or_not(&self, range: Range<u32>, wait: Wait) -> Result<Bytes> {
        let body = self.header.layout().body;
        let (begin, end) = (range.start as usize, (range.end as usize).min(body.len()));
        if begin >= end {
            return Ok(Bytes::new());
        }
        let first = begin / BLOCK_BYTES;
        let from = first * BLOCK_BYTES;
        let to = end.next_multiple_of(BLOCK_BYTES).min(body.len());
        let at = self.offset(body.start + from);
        let blocks = self.place.log.read_or_not(at, to - from, wait)?;
        self.checksums.verify(first, &blocks).map_err(|e| self.place.log.damaged(at, e))?;
        Ok(Bytes::from(blocks).slice(begin - from..end - from))
    }

    /// Whether it is this blob, byte for byte.
    pub(crate) fn is_same(&self, properties: &[u8], body: &[u8]) -> Result<bool> {
        let lengths =
            self.header.body_bytes as usize == body.len() && self.properties == properties;
        Ok(lengths && self.read()? == body)
    }

    fn offset(&self, in_record: usize) -> u64 {
        u64::from(self.place.entry.offset) + in_record as u64
    }
}
