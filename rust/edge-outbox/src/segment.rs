//! One file of entries.
//!
//! ```text
//!  0        4        8          16
//!  +--------+--------+----------+---------+
//!  | bytes  | CRC32C | position | payload |   …again
//!  | u32    | u32    | u64      |         |
//!  +--------+--------+----------+---------+
//! ```
//! Big-endian. The checksum is of position and payload.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use crate::age::Age;
use crate::error::{OutboxError, Result};

pub(crate) const HEAD_BYTES: usize = 16;
/// An entry is a frame.
pub(crate) const PAYLOAD_BYTES_MAX: usize = (16 << 20) + 256;

/// A file, and what is in it.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) path: PathBuf,
    /// Position of its first entry.
    pub(crate) first: u64,
    /// Position behind its last entry.
    pub(crate) end: u64,
    pub(crate) bytes: u64,
    /// Since its first entry was written; if it is older than this process, its last one.
    pub(crate) began: Age,
    /// Since its last entry was written.
    pub(crate) written: Age,
}

pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> OutboxError + '_ {
    move |source| OutboxError::Io { path: path.to_owned(), source }
}

pub(crate) fn name(first: u64) -> String {
    format!("{first:020}.log")
}

/// The position in a name.
pub(crate) fn first_of(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".log")?;
    let right = digits.len() == 20 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if right { digits.parse().ok() } else { None }
}

pub(crate) fn encode(position: u64, payload: &[u8]) -> Vec<u8> {
    let mut record = Vec::with_capacity(HEAD_BYTES + payload.len());
    // The length has been checked: it is below 2^32.
    record.extend_from_slice(&(payload.len() as u32).to_be_bytes());
    record.extend_from_slice(&[0; 4]);
    record.extend_from_slice(&position.to_be_bytes());
    record.extend_from_slice(payload);
    let checksum = crc_fast::crc32_iscsi(&record[8..]).to_be_bytes();
    record[4..8].copy_from_slice(&checksum);
    record
}

/// Entries of a file, until its end or the first that is not right.
#[derive(Debug)]
pub(crate) struct Entries {
    file: BufReader<File>,
    path: PathBuf,
    next: u64,
    /// Bytes of the entries so far.
    pub(crate) read: u64,
}

impl Entries {
    pub(crate) fn open(path: &Path, first: u64) -> Result<Self> {
        Self::with_buffer(path, first, 8 << 10)
    }

    /// Reads no byte ahead: what is behind an entry may still change.
    pub(crate) fn unbuffered(path: &Path, first: u64) -> Result<Self> {
        Self::with_buffer(path, first, 0)
    }

    fn with_buffer(path: &Path, first: u64, bytes: usize) -> Result<Self> {
        let file = BufReader::with_capacity(bytes, File::open(path).map_err(io(path))?);
        Ok(Self { file, path: path.to_owned(), next: first, read: 0 })
    }

    /// The next entry; none at the end and at what is not right.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, Vec<u8>)>> {
        let mut head = [0; HEAD_BYTES];
        if !self.fill(&mut head)? {
            return Ok(None);
        }
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let checksum = [head[4], head[5], head[6], head[7]];
        if length > PAYLOAD_BYTES_MAX || head[8..] != self.next.to_be_bytes() {
            return Ok(None);
        }
        let mut rest = vec![0; 8 + length];
        rest[..8].copy_from_slice(&head[8..]);
        if !self.fill(&mut rest[8..])? || crc_fast::crc32_iscsi(&rest).to_be_bytes() != checksum {
            return Ok(None);
        }
        let position = self.next;
        self.next += 1;
        self.read += (HEAD_BYTES + length) as u64;
        Ok(Some((position, rest.split_off(8))))
    }

    /// False if there are not so many bytes.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<bool> {
        match self.file.read_exact(buffer) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(io(&self.path)(error)),
        }
    }
}
