//! How far the active segment was certainly on the disk: what no record behind it says yet.
//!
//! ```text
//!  0          8       12       16         24              40                  56             64    68
//!  +----------+-------+--------+----------+---------------+-------------------+--------------+-----+
//!  |"AFTRBSYN"|format | synced |partition | log identity  | segment identity  |next sequence | crc |
//!  +----------+-------+--------+----------+---------------+-------------------+--------------+-----+
//! ```

use uuid::Uuid;

use crate::checksum::crc32c_of;
use crate::error::Result;
use crate::fields::Fields;
use crate::id::PartitionId;

/// Bytes of a mark.
pub const MARK_BYTES: usize = 68;

const WHAT: &str = "mark of what is synced";
const MAGIC: &[u8; 8] = b"AFTRBSYN";

/// Says that a segment was on the disk up to an offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncedMark {
    /// The partition.
    pub partition: PartitionId,
    /// The replica's log.
    pub log: Uuid,
    /// The identity of the segment.
    pub segment: Uuid,
    /// All bytes of it before this one were on the disk.
    pub synced_through: u32,
    /// The number of the record that begins there, or would.
    pub next_sequence: u64,
}

impl SyncedMark {
    /// The stored form.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(MARK_BYTES);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&1u32.to_be_bytes());
        out.extend_from_slice(&self.synced_through.to_be_bytes());
        out.extend_from_slice(&self.partition.0.to_be_bytes());
        out.extend_from_slice(self.log.as_bytes());
        out.extend_from_slice(self.segment.as_bytes());
        out.extend_from_slice(&self.next_sequence.to_be_bytes());
        let crc = crc32c_of(&[&out]);
        out.extend_from_slice(&crc.to_be_bytes());
        out
    }

    /// Reads the stored form. `bytes` may be longer.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let checked = Fields::new(WHAT, bytes).bytes(MARK_BYTES - 4)?;
        let mut fields = Fields::new(WHAT, bytes);
        fields.magic(MAGIC)?;
        let version = fields.u32()?;
        fields.version(version)?;
        let synced_through = fields.u32()?;
        let mark = SyncedMark {
            synced_through,
            partition: PartitionId(fields.u64()?),
            log: Uuid::from_bytes(fields.array()?),
            segment: Uuid::from_bytes(fields.array()?),
            next_sequence: fields.u64()?,
        };
        let crc = fields.u32()?;
        fields.checksum(crc, crc32c_of(&[checked]))?;
        Ok(mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_and_back_and_each_bit_counts() {
        let mark = SyncedMark {
            partition: PartitionId(3),
            log: Uuid::from_u128(1),
            segment: Uuid::from_u128(2),
            synced_through: 4000,
            next_sequence: 5,
        };
        let stored = mark.encode();
        assert_eq!((stored.len(), SyncedMark::parse(&stored)), (MARK_BYTES, Ok(mark)));
        for bit in 0..8 * MARK_BYTES {
            let mut damaged = stored.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(SyncedMark::parse(&damaged).is_err(), "bit {bit}");
        }
        for end in 0..MARK_BYTES {
            assert!(SyncedMark::parse(&stored[..end]).is_err(), "{end} bytes");
        }
    }
}
