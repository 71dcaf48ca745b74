//! The file of one log segment.

use std::io::IoSlice;
use std::sync::Arc;

use afterbay_blob_format::{
    ChecksumTable, FormatError, RECORD_HEADER_BYTES, RecordHeader, SEGMENT_HEADER_BYTES,
    SegmentHeader,
};

use crate::directory::{Directory, StoreFile, SyncPoint, Wait};
use crate::error::{Error, Result, is_disk_full};

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
            Ok(file) => Ok(LogFile { file, name, header }),
            Err((error, action)) => {
                // An orphan otherwise, which the next recovery removes.
                let _ = directory.remove(&name);
                Err(no_room_or(&name, action, error))
            }
        }
    }

    /// Opens a segment. The caller checks the header against what it expects.
    pub(crate) fn open(directory: &dyn Directory, number: u64) -> Result<Self> {
        let name = log_name(number);
        let file = directory.open(&name).map_err(|e| Error::io(&name, "open", e))?;
        let mut bytes = [0; SEGMENT_HEADER_BYTES];
        file.read_exact_at(&mut bytes, 0).map_err(|e| Error::io(&name, "read", e))?;
        let header = SegmentHeader::parse(&bytes).map_err(|e| Error::damaged(&name, 0, e))?;
        Ok(LogFile { file, name, header })
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
        read.map_err(|e| Error::io(&self.name, "read", e))
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
