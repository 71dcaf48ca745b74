//! The file `place`: how far rows are published.
//!
//! ```text
//!  0        4   5        9        17       25        33
//!  +--------+---+--------+--------+--------+---------+
//!  | "ABEP" | 1 | CRC32C | next   | sent   | dropped |      big-endian, u64 each; the checksum is of what is behind it
//!  +--------+---+--------+--------+--------+---------+
//! ```
//!
//! It is written over, and not synced: a place that is torn, or older than it was, means rows that are published again.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

pub(crate) const FILE: &str = "place";
const MAGIC: [u8; 5] = *b"ABEP\x01";
const HEAD_BYTES: usize = MAGIC.len() + 4;
const BYTES: usize = HEAD_BYTES + 3 * 8;

/// How far rows are published, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// The first row that the broker has not acknowledged, as far as is known.
    pub(crate) next: u64,
    /// Rows in front of this one may have been sent.
    pub(crate) sent: u64,
    /// Rows that were dropped so far.
    pub(crate) dropped: u64,
}

/// The file, open.
#[derive(Debug)]
pub(crate) struct PlaceFile(File);

impl PlaceFile {
    /// Opens it, and reads it if it has something.
    pub(crate) fn open(folder: &Path) -> std::io::Result<(Self, Option<Place>)> {
        let mut options = OpenOptions::new();
        let file =
            options.read(true).write(true).create(true).truncate(false).open(folder.join(FILE))?;
        let mut bytes = [0; BYTES];
        let place = match file.read_exact_at(&mut bytes, 0) {
            Ok(()) => decode(&bytes),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => None,
            Err(error) => return Err(error),
        };
        Ok((Self(file), place))
    }

    pub(crate) fn write(&self, place: Place) -> std::io::Result<()> {
        self.0.write_all_at(&encode(place), 0)
    }

    /// Makes what was written safe.
    pub(crate) fn sync(&self) -> std::io::Result<()> {
        self.0.sync_data()
    }
}

fn encode(place: Place) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    bytes[..MAGIC.len()].copy_from_slice(&MAGIC);
    for (index, number) in [place.next, place.sent, place.dropped].into_iter().enumerate() {
        let at = HEAD_BYTES + 8 * index;
        bytes[at..at + 8].copy_from_slice(&number.to_be_bytes());
    }
    let checksum = crc_fast::crc32_iscsi(&bytes[HEAD_BYTES..]).to_be_bytes();
    bytes[MAGIC.len()..HEAD_BYTES].copy_from_slice(&checksum);
    bytes
}

fn decode(bytes: &[u8; BYTES]) -> Option<Place> {
    let number = |index: usize| {
        let at = HEAD_BYTES + 8 * index;
        let bytes = bytes[at..at + 8].first_chunk::<8>();
        bytes.copied().map(u64::from_be_bytes)
    };
    let place = Place { next: number(0)?, sent: number(1)?, dropped: number(2)? };
    (encode(place) == *bytes).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_was_written_and_a_torn_one_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let (file, place) = PlaceFile::open(folder.path()).unwrap();
        assert_eq!(place, None);
        let place = Place { next: 1, sent: 201, dropped: 3 };
        file.write(place).unwrap();
        file.write(Place { next: 2, ..place }).unwrap();
        let (_, read) = PlaceFile::open(folder.path()).unwrap();
        assert_eq!(read, Some(Place { next: 2, ..place }));
        let bytes = encode(place);
        for index in 0..BYTES {
            let mut changed = bytes;
            changed[index] ^= 1;
            assert_eq!(decode(&changed), None, "byte {index}");
        }
    }
}
