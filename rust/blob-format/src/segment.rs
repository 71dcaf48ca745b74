//! The first bytes of a log segment's file.
//!
//! ```text
//!  0          8       12  16         24              40                  56       64    68
//!  +----------+-------+---+----------+---------------+-------------------+--------+-----+
//!  |"AFTRBLOG"|format | 0 |partition | log identity  | segment identity  | number | crc | records
//!  +----------+-------+---+----------+---------------+-------------------+--------+-----+
//! ```

use uuid::Uuid;

use crate::checksum::crc32c_of;
use crate::error::Result;
use crate::fields::Fields;
use crate::id::PartitionId;

/// Bytes of a segment's header; the first record follows.
pub const SEGMENT_HEADER_BYTES: usize = 68;

/// A segment is no longer than this: offsets are 32 bits.
pub const MAX_SEGMENT_BYTES: u32 = u32::MAX;

const WHAT: &str = "log segment header";
const MAGIC: &[u8; 8] = b"AFTRBLOG";

/// What a segment's file says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentHeader {
    /// Whose log it is part of.
    pub partition: PartitionId,
    /// The replica's log: random, made with the replica. Never sent to a client.
    pub log: Uuid,
    /// This segment: random. A file of another segment that had the same number does not have it.
    pub segment: Uuid,
    /// Its number, and its file's name.
    pub number: u64,
}

impl SegmentHeader {
    /// The stored form.
    pub fn encode(&self) -> [u8; SEGMENT_HEADER_BYTES] {
        let mut out = Vec::with_capacity(SEGMENT_HEADER_BYTES);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&1u32.to_be_bytes());
        out.extend_from_slice(&0u32.to_be_bytes());
        out.extend_from_slice(&self.partition.0.to_be_bytes());
        out.extend_from_slice(self.log.as_bytes());
        out.extend_from_slice(self.segment.as_bytes());
        out.extend_from_slice(&self.number.to_be_bytes());
        let crc = crc32c_of(&[&out]);
        out.extend_from_slice(&crc.to_be_bytes());
        let mut header = [0; SEGMENT_HEADER_BYTES];
        header.copy_from_slice(&out);
        header
    }

    /// Reads the stored form. `bytes` may be longer than a header.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let checked = Fields::new(WHAT, bytes).bytes(SEGMENT_HEADER_BYTES - 4)?;
        let mut fields = Fields::new(WHAT, bytes);
        fields.magic(MAGIC)?;
        let version = fields.u32()?;
        fields.version(version)?;
        let zero = fields.u32()?;
        let header = SegmentHeader {
            partition: PartitionId(fields.u64()?),
            log: Uuid::from_bytes(fields.array()?),
            segment: Uuid::from_bytes(fields.array()?),
            number: fields.u64()?,
        };
        let crc = fields.u32()?;
        fields.checksum(crc, crc32c_of(&[checked]))?;
        fields.zero("bytes 12 to 15", zero.into())?;
        Ok(header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_and_back_and_each_bit_counts() {
        let header = SegmentHeader {
            partition: PartitionId(3),
            log: Uuid::from_u128(1),
            segment: Uuid::from_u128(2),
            number: 4,
        };
        let stored = header.encode();
        assert_eq!(SegmentHeader::parse(&stored), Ok(header));
        for bit in 0..8 * SEGMENT_HEADER_BYTES {
            let mut damaged = stored;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(SegmentHeader::parse(&damaged).is_err(), "bit {bit}");
        }
    }
}
