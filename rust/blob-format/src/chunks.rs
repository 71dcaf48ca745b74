//! The chunk list: the body of a composite blob's metadata blob, which says where the content is.
//!
//! ```text
//!  0          8      12      16             24                40
//!  +----------+------+-------+--------------+-----------------+---
//!  |"AFTRBCHK"|format|chunks | total length | upload identity | ...
//!  +----------+------+-------+--------------+-----------------+---
//!  40, for each chunk, in the order of the content, 28 bytes:
//!  +-----------+----------+--------+
//!  | partition |   UUID   | length |
//!  +-----------+----------+--------+
//!  then: crc of all before it
//! ```

use uuid::Uuid;

use crate::checksum::crc32c_of;
use crate::error::{FormatError, Result};
use crate::fields::Fields;
use crate::id::{BlobId, PartitionId};
use crate::record::MAX_BODY_BYTES;

/// The system property that makes a blob a composite one; its value is the length of the content, 8 bytes. The blob's
/// body is a [`ChunkList`] then.
pub const COMPOSITE_PROPERTY: &str = ".composite";

/// The system property of a blob that is a chunk of another one; its value is the identity of the upload, 16 bytes.
pub const CHUNK_PROPERTY: &str = ".chunk";

/// The most chunks of a blob: a list of them fits into 4 MiB.
pub const MAX_CHUNKS: usize = (4 * 1024 * 1024 - HEAD_BYTES - 4) / CHUNK_BYTES;

const WHAT: &str = "chunk list";
const MAGIC: &[u8; 8] = b"AFTRBCHK";
const HEAD_BYTES: usize = 40;
const CHUNK_BYTES: usize = 28;

/// Where the content of a composite blob is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkList {
    /// The upload that wrote the chunks. They carry it too, so that those of an upload that never ended can be told.
    pub upload: Uuid,
    /// The chunks in the order of the content.
    pub chunks: Vec<ChunkRef>,
}

/// One chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkRef {
    /// The blob that has it.
    pub id: BlobId,
    /// Its bytes, at least 1.
    pub length: u32,
}

impl ChunkList {
    /// Bytes of the content.
    pub fn content_bytes(&self) -> u64 {
        self.chunks.iter().map(|chunk| u64::from(chunk.length)).sum()
    }

    /// The stored form; an error if there are no chunks or more than [`MAX_CHUNKS`], or one has a length that the format
    /// does not allow.
    pub fn encode(&self) -> Result<Vec<u8>> {
        check_count(self.chunks.len())?;
        let mut out = Vec::with_capacity(HEAD_BYTES + self.chunks.len() * CHUNK_BYTES + 4);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&1u32.to_be_bytes());
        // Checked to be below 2^32.
        out.extend_from_slice(&(self.chunks.len() as u32).to_be_bytes());
        out.extend_from_slice(&self.content_bytes().to_be_bytes());
        out.extend_from_slice(self.upload.as_bytes());
        for chunk in &self.chunks {
            check_chunk(chunk.length)?;
            out.extend_from_slice(&chunk.id.partition.0.to_be_bytes());
            out.extend_from_slice(chunk.id.uuid.as_bytes());
            out.extend_from_slice(&chunk.length.to_be_bytes());
        }
        let crc = crc32c_of(&[&out]);
        out.extend_from_slice(&crc.to_be_bytes());
        Ok(out)
    }

    /// Reads the stored form, all of `bytes`.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut fields = Fields::new(WHAT, bytes);
        fields.magic(MAGIC)?;
        let version = fields.u32()?;
        fields.version(version)?;
        let (checked, crc) = bytes.split_last_chunk().ok_or(FormatError::TooShort {
            what: WHAT,
            needed: HEAD_BYTES + 4,
            found: bytes.len(),
        })?;
        fields.checksum(u32::from_be_bytes(*crc), crc32c_of(&[checked]))?;
        let count = fields.u32()? as usize;
        check_count(count)?;
        let content_bytes = fields.u64()?;
        let upload = Uuid::from_bytes(fields.array()?);
        let fits = fields.remaining() == count * CHUNK_BYTES + 4;
        fields.require("number of chunks", count as u64, fits)?;
        let mut chunks = Vec::with_capacity(count);
        for _ in 0..count {
            let partition = PartitionId(fields.u64()?);
            let uuid = Uuid::from_bytes(fields.array()?);
            let length = fields.u32()?;
            check_chunk(length)?;
            chunks.push(ChunkRef { id: BlobId { partition, uuid }, length });
        }
        let list = ChunkList { upload, chunks };
        fields.require(
            "length of the content",
            content_bytes,
            content_bytes == list.content_bytes(),
        )?;
        Ok(list)
    }
}

fn check_count(found: usize) -> Result<()> {
    if (1..=MAX_CHUNKS).contains(&found) {
        Ok(())
    } else {
        let field = "number of chunks";
        Err(FormatError::Field { what: WHAT, field, found: found as u64 })
    }
}

fn check_chunk(length: u32) -> Result<()> {
    if (1..=MAX_BODY_BYTES as u64).contains(&length.into()) {
        Ok(())
    } else {
        let field = "length of a chunk";
        Err(FormatError::Field { what: WHAT, field, found: length.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(lengths: &[u32]) -> ChunkList {
        let chunk = |(i, &length): (usize, &u32)| ChunkRef {
            id: BlobId { partition: PartitionId(7), uuid: Uuid::from_u128(i as u128) },
            length,
        };
        let chunks = lengths.iter().enumerate().map(chunk).collect();
        ChunkList { upload: Uuid::from_u128(9), chunks }
    }

    #[test]
    fn stored_and_back_and_each_bit_counts() {
        let stored = list(&[5, 5, 1]).encode().unwrap();
        assert_eq!(stored.len(), HEAD_BYTES + 3 * CHUNK_BYTES + 4);
        assert_eq!(ChunkList::parse(&stored), Ok(list(&[5, 5, 1])));
        for bit in 0..8 * stored.len() {
            let mut damaged = stored.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(ChunkList::parse(&damaged).is_err(), "bit {bit}");
        }
        for end in 0..stored.len() {
            assert!(ChunkList::parse(&stored[..end]).is_err(), "{end} bytes");
        }
    }

    #[test]
    fn what_the_format_does_not_allow_is_refused() {
        let forged = |change: fn(&mut Vec<u8>)| {
            let mut stored = list(&[5, 6]).encode().unwrap();
            stored.truncate(stored.len() - 4);
            change(&mut stored);
            let crc = crc32c_of(&[&stored]);
            stored.extend_from_slice(&crc.to_be_bytes());
            matches!(ChunkList::parse(&stored), Err(FormatError::Field { .. }))
        };
        assert!(!forged(|_| ()));
        assert!(forged(|s| s[15] = 3), "more chunks than there are");
        assert!(forged(|s| s[12] = 255), "more chunks than may be");
        assert!(forged(|s| s[23] = 12), "another length of the content");
        assert!(forged(|s| s[67] = 0), "an empty chunk");
        assert!(forged(|s| s.extend_from_slice(&[0; 28])), "more than the chunks");
        assert!(list(&[]).encode().is_err(), "no chunk");
        assert!(list(&[0]).encode().is_err(), "an empty chunk");
        assert!(list(&[1 << 27]).encode().is_err(), "a chunk longer than a record may be");
        assert!(list(&vec![1; MAX_CHUNKS + 1]).encode().is_err(), "too many");
        assert!(list(&vec![1; MAX_CHUNKS]).encode().unwrap().len() <= 4 << 20);
    }
}
