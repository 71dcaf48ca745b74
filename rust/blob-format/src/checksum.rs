//! Checksums of bodies: CRC32C of each block of 64 KiB, in a table of its own in front of the body.
//!
//! The table is outside the body so that a server can send the body straight from the page cache and the client
//! can verify it, and so that a range is verified without the rest.

use crc_fast::{CrcAlgorithm, Digest};

use crate::error::{FormatError, Result};

/// Bytes of a body that have one checksum. The last block may be shorter.
pub const BLOCK_BYTES: usize = 64 * 1024;

/// Bytes of one checksum in the table.
pub const CHECKSUM_BYTES: usize = 4;

/// CRC32C (Castagnoli's polynomial; CRC-32/ISCSI of the catalogue) of bytes that come in pieces.
#[derive(Debug, Clone, Copy)]
pub struct Crc32c(Digest);

impl Crc32c {
    /// Of nothing.
    pub fn new() -> Self {
        Crc32c(Digest::new(CrcAlgorithm::Crc32Iscsi))
    }

    /// The next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Of what came so far.
    pub fn value(&self) -> u32 {
        // It has 32 bits.
        self.0.finalize() as u32
    }
}

impl Default for Crc32c {
    fn default() -> Self {
        Crc32c::new()
    }
}

/// CRC32C of `parts`, one behind the other.
pub fn crc32c_of(parts: &[&[u8]]) -> u32 {
    if let [all] = parts {
        return crc_fast::crc32_iscsi(all);
    }
    let mut crc = Crc32c::new();
    parts.iter().for_each(|part| crc.update(part));
    crc.value()
}

/// How many blocks a body of `body_bytes` has.
pub fn block_count(body_bytes: usize) -> usize {
    body_bytes.div_ceil(BLOCK_BYTES)
}

/// The checksums of a body's blocks, as they are stored and sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChecksumTable(Vec<u8>);

impl ChecksumTable {
    /// Computes the table of `body`.
    pub fn of(body: &[u8]) -> Self {
        ChecksumTable(
            body.chunks(BLOCK_BYTES).flat_map(|b| crc32c_of(&[b]).to_be_bytes()).collect(),
        )
    }

    /// Takes over a stored table of a body of `body_bytes`, if `crc` is its checksum.
    pub fn parse(stored: Vec<u8>, body_bytes: usize, crc: u32) -> Result<Self> {
        let needed = block_count(body_bytes) * CHECKSUM_BYTES;
        if stored.len() != needed {
            let what = "checksums of a body";
            return Err(FormatError::TooShort { what, needed, found: stored.len() });
        }
        let table = ChecksumTable(stored);
        if table.crc() == crc {
            Ok(table)
        } else {
            Err(FormatError::Checksum { what: "checksums of a body" })
        }
    }

    /// The bytes as they are stored and sent.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The checksum of the table itself, which is in the record's header.
    pub fn crc(&self) -> u32 {
        crc32c_of(&[&self.0])
    }

    /// Whether `blocks`, whole blocks of the body from block number `first` on, are what was written.
    pub fn verify(&self, first: usize, blocks: &[u8]) -> Result<()> {
        for (i, block) in blocks.chunks(BLOCK_BYTES).enumerate() {
            if self.get(first + i) != Some(crc32c_of(&[block])) {
                return Err(FormatError::Checksum { what: "body" });
            }
        }
        Ok(())
    }

    fn get(&self, block: usize) -> Option<u32> {
        let at = block.checked_mul(CHECKSUM_BYTES)?;
        let stored = self.0.get(at..at.checked_add(CHECKSUM_BYTES)?)?;
        Some(u32::from_be_bytes(stored.try_into().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_block_is_verified() {
        let mut body = vec![7; 2 * BLOCK_BYTES + 1];
        let table = ChecksumTable::of(&body);
        assert_eq!(table.as_bytes().len(), 12);
        assert_eq!(table.verify(0, &body), Ok(()));
        assert_eq!(table.verify(2, &body[2 * BLOCK_BYTES..]), Ok(()));
        body[BLOCK_BYTES] ^= 1;
        assert!(table.verify(0, &body).is_err());
        assert_eq!(table.verify(0, &body[..BLOCK_BYTES]), Ok(()));
        assert!(table.verify(3, &body[..1]).is_err(), "behind the end");
    }

    #[test]
    fn a_table_of_another_length_or_content_is_refused() {
        let table = ChecksumTable::of(&[1; 70_000]);
        let stored = table.as_bytes().to_vec();
        assert_eq!(ChecksumTable::parse(stored.clone(), 70_000, table.crc()), Ok(table.clone()));
        assert!(ChecksumTable::parse(stored.clone(), 60_000, table.crc()).is_err());
        assert!(ChecksumTable::parse(stored, 70_000, table.crc() ^ 1).is_err());
    }

    /// Vectors of RFC 3720, B.4, and the check value of the catalogue; and lengths around those at which the library changes
    /// its way of computing, against the definition bit by bit.
    #[test]
    fn crc32c_is_that_of_the_standard() {
        assert_eq!(crc32c_of(&[b"123456789"]), 0xe306_9283);
        assert_eq!(crc32c_of(&[&[0; 32]]), 0x8a91_36aa);
        assert_eq!(crc32c_of(&[&[0xff; 32]]), 0x62a8_ab43);
        let bytes: Vec<u8> = (0..5000u32).map(|i| (i * i / 3) as u8).collect();
        let mut remainder = u32::MAX;
        for length in 0..bytes.len() {
            let all = &bytes[..length];
            let (first, second) = all.split_at(length / 3);
            assert_eq!(crc32c_of(&[all]), !remainder, "{length} bytes");
            assert_eq!(crc32c_of(&[first, second]), !remainder, "{length} bytes in two parts");
            remainder ^= u32::from(bytes[length]);
            for _ in 0..8 {
                remainder = (remainder >> 1) ^ (0x82f6_3b78 & (remainder & 1).wrapping_neg());
            }
        }
    }

    #[test]
    fn an_empty_body_has_an_empty_table() {
        assert_eq!(ChecksumTable::of(&[]).as_bytes(), b"");
        assert_eq!(ChecksumTable::of(&[]).crc(), 0);
    }
}
