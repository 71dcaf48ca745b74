//! The manifest of a partition: which segments its log consists of, in which order.
//!
//! ```text
//!  0          8      12       16         24             40          48        56      64       68
//!  +----------+------+--------+----------+--------------+-----------+---------+-------+--------+---
//!  |"AFTRBMAN"|format|segments|partition | log identity |generation | capacity| next  |segment | 0
//!  |          |      |        |          |              |           |         |number |capacity|
//!  +----------+------+--------+----------+--------------+-----------+---------+-------+--------+---
//!  72, in format 2:
//!  +-------------+--------------------+
//!  | incarnation | tombstone horizon  |
//!  +-------------+--------------------+
//!  96, or 72 in format 1, for each segment, in the order of the log, 40 bytes:
//!  +--------+------------------+--------+-------+---------------+
//!  | number | segment identity | length | flags | next sequence |
//!  +--------+------------------+--------+-------+---------------+
//!  then: crc of all before it
//! ```

use uuid::Uuid;

use crate::checksum::crc32c_of;
use crate::error::{FormatError, Result};
use crate::fields::Fields;
use crate::id::PartitionId;
use crate::segment::SEGMENT_HEADER_BYTES;

/// The most segments of a partition.
pub const MAX_SEGMENTS: usize = 1 << 16;

const WHAT: &str = "manifest";
const MAGIC: &[u8; 8] = b"AFTRBMAN";
const HEAD_BYTES: usize = 72;
const REPLICA_BYTES: usize = 24;
const SEGMENT_BYTES: usize = 40;
const COMPACTED: u32 = 1;

/// The manifest of one replica of a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The partition.
    pub partition: PartitionId,
    /// The replica's log. See [`crate::segment::SegmentHeader::log`].
    pub log: Uuid,
    /// One more with each manifest that is published.
    pub generation: u64,
    /// Bytes that the segments may have together.
    pub capacity_bytes: u64,
    /// The number of the next segment. Greater than that of any segment before.
    pub next_number: u64,
    /// Bytes that a segment may have.
    pub segment_bytes: u32,
    /// What other replicas go by; `None` in format 1.
    pub replica: Option<ReplicaState>,
    /// The segments in the order of the log. The last one is active, all others are sealed.
    pub segments: Vec<ManifestSegment>,
}

/// What other replicas have to know of this one to go on where they were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplicaState {
    /// Which life of the replica: random; another one when it is made, or restored from a backup.
    pub incarnation: Uuid,
    /// Records with a lower sequence number that say that a blob is gone may be gone themselves.
    pub tombstone_horizon: u64,
}

/// One segment, as the manifest has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestSegment {
    /// Its number.
    pub number: u64,
    /// Its identity.
    pub segment: Uuid,
    /// Its bytes, header included, once it is sealed; 0 as long as it is active.
    pub length: u32,
    /// Written by a compaction: sequence numbers may be missing.
    pub compacted: bool,
    /// Sealed: no record in it or in a segment before it has this number or a greater one. Active: its first
    /// record has this number.
    pub next_sequence: u64,
}

impl Manifest {
    /// The stored form.
    pub fn encode(&self) -> Vec<u8> {
        let head = HEAD_BYTES + REPLICA_BYTES;
        let mut out = Vec::with_capacity(head + self.segments.len() * SEGMENT_BYTES + 4);
        out.extend_from_slice(MAGIC);
        let format: u32 = if self.replica.is_some() { 2 } else { 1 };
        out.extend_from_slice(&format.to_be_bytes());
        // A store refuses to have more than MAX_SEGMENTS.
        out.extend_from_slice(&(self.segments.len() as u32).to_be_bytes());
        out.extend_from_slice(&self.partition.0.to_be_bytes());
        out.extend_from_slice(self.log.as_bytes());
        out.extend_from_slice(&self.generation.to_be_bytes());
        out.extend_from_slice(&self.capacity_bytes.to_be_bytes());
        out.extend_from_slice(&self.next_number.to_be_bytes());
        out.extend_from_slice(&self.segment_bytes.to_be_bytes());
        out.extend_from_slice(&0u32.to_be_bytes());
        if let Some(replica) = &self.replica {
            out.extend_from_slice(replica.incarnation.as_bytes());
            out.extend_from_slice(&replica.tombstone_horizon.to_be_bytes());
        }
        for segment in &self.segments {
            out.extend_from_slice(&segment.number.to_be_bytes());
            out.extend_from_slice(segment.segment.as_bytes());
            out.extend_from_slice(&segment.length.to_be_bytes());
            out.extend_from_slice(&u32::from(segment.compacted).to_be_bytes());
            out.extend_from_slice(&segment.next_sequence.to_be_bytes());
        }
        let crc = crc32c_of(&[&out]);
        out.extend_from_slice(&crc.to_be_bytes());
        out
    }

    /// Reads the stored form, all of `bytes`.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut fields = Fields::new(WHAT, bytes);
        fields.magic(MAGIC)?;
        let format = fields.u32()?;
        fields.version_to(format, 2)?;
        let (checked, crc) = bytes.split_last_chunk().ok_or(FormatError::TooShort {
            what: WHAT,
            needed: HEAD_BYTES + 4,
            found: bytes.len(),
        })?;
        fields.checksum(u32::from_be_bytes(*crc), crc32c_of(&[checked]))?;
        let count = fields.u32()? as usize;
        let mut manifest = Manifest {
            partition: PartitionId(fields.u64()?),
            log: Uuid::from_bytes(fields.array()?),
            generation: fields.u64()?,
            capacity_bytes: fields.u64()?,
            next_number: fields.u64()?,
            segment_bytes: fields.u32()?,
            replica: None,
            segments: Vec::new(),
        };
        let zero = fields.u32()?;
        fields.zero("bytes 68 to 71", zero.into())?;
        if format > 1 {
            let (incarnation, tombstone_horizon) = (fields.array()?, fields.u64()?);
            let incarnation = Uuid::from_bytes(incarnation);
            manifest.replica = Some(ReplicaState { incarnation, tombstone_horizon });
        }
        let fits = count <= MAX_SEGMENTS && fields.remaining() == count * SEGMENT_BYTES + 4;
        fields.require("number of segments", count as u64, fits && count > 0)?;
        for i in 0..count {
            let segment = parse_segment(&mut fields)?;
            manifest.check_segment(&segment, i + 1 == count)?;
            manifest.segments.push(segment);
        }
        Ok(manifest)
    }

    fn check_segment(&self, segment: &ManifestSegment, last: bool) -> Result<()> {
        let refuse = |field, found| Err(FormatError::Field { what: WHAT, field, found });
        let doubled = self.segments.iter().any(|other| other.number == segment.number);
        if segment.number >= self.next_number || doubled {
            return refuse("number of a segment", segment.number);
        }
        let sealed = segment.length as usize >= SEGMENT_HEADER_BYTES;
        if segment.length > self.segment_bytes
            || (last && segment.length != 0)
            || (!last && !sealed)
        {
            return refuse("length of a segment", segment.length.into());
        }
        if self.segments.last().is_some_and(|before| before.next_sequence > segment.next_sequence) {
            return refuse("sequence of a segment", segment.next_sequence);
        }
        Ok(())
    }
}

fn parse_segment(fields: &mut Fields<'_>) -> Result<ManifestSegment> {
    let number = fields.u64()?;
    let segment = Uuid::from_bytes(fields.array()?);
    let length = fields.u32()?;
    let flags = fields.u32()?;
    fields.require("flags of a segment", flags.into(), flags <= COMPACTED)?;
    let next_sequence = fields.u64()?;
    Ok(ManifestSegment { number, segment, length, compacted: flags == COMPACTED, next_sequence })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        let segment = |number, length| ManifestSegment {
            number,
            segment: Uuid::from_u128(number.into()),
            length,
            compacted: number == 3,
            next_sequence: 10,
        };
        Manifest {
            partition: PartitionId(1),
            log: Uuid::from_u128(2),
            generation: 3,
            capacity_bytes: 1 << 30,
            next_number: 5,
            segment_bytes: 1 << 20,
            replica: Some(ReplicaState { incarnation: Uuid::from_u128(6), tombstone_horizon: 8 }),
            segments: vec![segment(3, 1 << 20), segment(2, 68), segment(4, 0)],
        }
    }

    #[test]
    fn stored_and_back_and_each_bit_counts() {
        for replica in [manifest().replica, None] {
            each_bit_counts(&Manifest { replica, ..manifest() });
        }
    }

    fn each_bit_counts(manifest: &Manifest) {
        let stored = manifest.encode();
        assert_eq!(Manifest::parse(&stored).as_ref(), Ok(manifest));
        for bit in 0..8 * stored.len() {
            let mut damaged = stored.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(Manifest::parse(&damaged).is_err(), "bit {bit}");
        }
        for end in 0..stored.len() {
            assert!(Manifest::parse(&stored[..end]).is_err(), "{end} bytes");
        }
    }

    #[test]
    fn what_the_format_does_not_allow_is_refused() {
        let refused = |change: fn(&mut Manifest)| {
            let mut manifest = manifest();
            change(&mut manifest);
            matches!(Manifest::parse(&manifest.encode()), Err(FormatError::Field { .. }))
        };
        assert!(!refused(|_| ()));
        assert!(refused(|m| m.segments.clear()), "no segment");
        assert!(refused(|m| m.segments[2].length = 68), "no active segment");
        assert!(refused(|m| m.segments[0].length = 0), "two active segments");
        assert!(refused(|m| m.segments[0].length = u32::MAX), "longer than a segment may be");
        assert!(refused(|m| m.segments[0].number = 2), "a number twice");
        assert!(refused(|m| m.segments[0].number = 5), "a number that is not given out yet");
        assert!(refused(|m| m.segments[0].next_sequence = 11), "sequences that go back");
    }
}
