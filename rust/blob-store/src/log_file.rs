//! The file of one log segment.

use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use afterbay_blob_format::{
    ChecksumTable, FormatError, RECORD_HEADER_BYTES, RecordHeader, SEGMENT_HEADER_BYTES,
    SegmentHeader,
};

use crate::directory::{Directory, StoreFile, Wait};
use crate::error::{Error, Result, is_disk_full};
use crate::sync_point::SyncPoint;

/// Where the first record of a segment begins.
pub(crate) const FIRST_RECORD: u32 = SEGMENT_HEADER_BYTES as u32;

const SUFFIX: &str = ".log";

pub(crate) fn log_name(number: u64) -> String {
    format!("{number:016x}{SUFFIX}")
}

/// The number in a log segment's name.
pub(crate) fn log_number(name: &str) -> Option<u64> {
    number_before(SUFFIX, name)
}

/// The number of a segment in a name with this suffix.
pub(crate) fn number_before(suffix: &str, name: &str) -> Option<u64> {
    let digits = name.strip_suffix(suffix).filter(|digits| digits.len() == 16)?;
    u64::from_str_radix(digits, 16).ok()
}

#[derive(Debug)]
pub(crate) struct LogFile {
    pub(crate) file: Arc<dyn StoreFile>,
    pub(crate) name: String,
    pub(crate) header: SegmentHeader,
    /// Where the first records begin of which nobody knows what they are, since they could not be read, and where the last
    /// ones end; 0 if there are none.
    unknown: [AtomicU64; 2],
}

impl LogFile {
    /// Makes a segment with room for `capacity` bytes and its header on the disk. On an error no file is left, if that
    /// can be helped.
    pub(crate) fn create(
        directory: &dyn Directory,
        header: SegmentHeader,
        capacity: u32,
    ) -> Result<Self> {
        let name = log_name(header.number);
        let created = directory.create(&name).map_err(|e| (e, "create")).and_then(|file| {
            file.preallocate(capacity.into()).map_err(|e| (e, "reserve room"))?;
            file.write_all_at(&[IoSlice::new(&header.encode())], 0).map_err(|e| (e, "write"))?;
            Ok(file)
        });
        match created {
            Ok(file) => Ok(Self::of(file, name, header)),
            Err((error, action)) => {
                // An orphan otherwise, which the next recovery removes.
                let _ = directory.remove(&name);
                Err(no_room_or(&name, action, error))
            }
        }
    }

    /// Opens the segment that the manifest names. Its header says the same; if it cannot be read or is damaged, the manifest
    /// is believed: each record and the index say themselves what they belong to.
    pub(crate) fn open(directory: &dyn Directory, expected: SegmentHeader) -> Result<Self> {
        let name = log_name(expected.number);
        let file = directory.open(&name).map_err(|e| Error::io(&name, "open", e))?;
        match read_header(&*file, &name) {
            Ok(header) if header == expected => {}
            Ok(_) => {
                let reason = format!("{name} is not the segment that the manifest names");
                return Err(Error::NotAPartition { place: directory.place(), reason });
            }
            Err(
                error @ (Error::Unreadable { .. }
                | Error::Damaged { source: FormatError::Checksum { .. }, .. }),
            ) => tracing::error!(%error, "header of a segment; what the manifest says is used"),
            Err(other) => return Err(other),
        }
        Ok(Self::of(file, name, expected))
    }

    fn of(file: Arc<dyn StoreFile>, name: String, header: SegmentHeader) -> Self {
        LogFile { file, name, header, unknown: Default::default() }
    }

    /// Notes in which gaps there may be records that could not be read and that no index has.
    pub(crate) fn note_unknown(&self, gaps: &[(u64, u64)]) {
        let from = gaps.first().map_or(0, |gap| gap.0);
        let to = gaps.last().map_or(0, |gap| gap.1);
        self.unknown[0].store(from, Ordering::Relaxed);
        self.unknown[1].store(to, Ordering::Relaxed);
    }

    /// From where to where there are such records: see [`LogFile::note_unknown`].
    pub(crate) fn unknown(&self) -> Option<(u64, u64)> {
        let [from, to] = self.unknown.each_ref().map(|offset| offset.load(Ordering::Relaxed));
        (from != 0).then_some((from, to))
    }

    pub(crate) fn length(&self) -> Result<u64> {
        self.file.length().map_err(|e| Error::io(&self.name, "length", e))
    }

    pub(crate) fn sync(&self, point: SyncPoint) -> Result<()> {
        self.file.sync_data(point).map_err(|e| Error::sync(&self.name, point, e))
    }

    pub(crate) fn read(&self, offset: u64, length: usize) -> Result<Vec<u8>> {
        self.read_or_not(offset, length, Wait::ForDisk)
    }

    pub(crate) fn read_or_not(&self, offset: u64, length: usize, wait: Wait) -> Result<Vec<u8>> {
        let read = self.file.read_at(length, offset, wait);
        read.map_err(|e| Error::read(&self.name, offset, e))
    }

    pub(crate) fn damaged(&self, offset: u64, source: FormatError) -> Error {
        Error::damaged(&self.name, offset, source)
    }

    /// The header of the record at `offset`, if it is one of this log and partition.
    pub(crate) fn record_header(&self, offset: u32) -> Result<RecordHeader> {
        let bytes = self.read(offset.into(), RECORD_HEADER_BYTES)?;
        self.parse_header(&bytes).map_err(|e| self.damaged(offset.into(), e))
    }

    pub(crate) fn parse_header(
        &self,
        bytes: &[u8],
    ) -> std::result::Result<RecordHeader, FormatError> {
        let header = RecordHeader::parse(bytes, self.header.log)?;
        if header.id.partition == self.header.partition {
            Ok(header)
        } else {
            let (what, field) = ("record header", "partition");
            Err(FormatError::Field { what, field, found: header.id.partition.0 })
        }
    }

    /// All bytes of the record at `offset`, each verified.
    pub(crate) fn verified_record(&self, offset: u32) -> Result<(RecordHeader, Vec<u8>)> {
        let header = self.record_header(offset)?;
        let bytes = self.read(offset.into(), header.record_bytes() as usize)?;
        verify_record(&header, &bytes).map_err(|e| self.damaged(offset.into(), e))?;
        Ok((header, bytes))
    }
}

fn read_header(file: &dyn StoreFile, name: &str) -> Result<SegmentHeader> {
    let mut bytes = [0; SEGMENT_HEADER_BYTES];
    file.read_exact_at(&mut bytes, 0).map_err(|e| Error::read(name, 0, e))?;
    SegmentHeader::parse(&bytes).map_err(|e| Error::damaged(name, 0, e))
}

/// Whether `bytes`, a whole record, are what `header` says.
fn verify_record(header: &RecordHeader, bytes: &[u8]) -> std::result::Result<(), FormatError> {
    let layout = header.layout();
    if afterbay_blob_format::crc32c_of(&[&bytes[layout.properties]]) != header.properties_crc {
        return Err(FormatError::Checksum { what: "properties of a blob" });
    }
    let stored = bytes[layout.checksums].to_vec();
    let table = ChecksumTable::parse(stored, header.body_bytes as usize, header.checksums_crc)?;
    table.verify(0, &bytes[layout.body])
}

/// A full disk is an error of its own: it passes.
pub(crate) fn no_room_or(name: &str, action: &'static str, error: std::io::Error) -> Error {
    if is_disk_full(&error) {
        Error::DiskFull { file: name.to_owned() }
    } else {
        Error::io(name, action, error)
    }
}
