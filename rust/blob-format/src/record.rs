//! Records of the log.
//!
//! ```text
//!  0      4 5 6   8         16                        32         40   44   48         56
//!  +------+-+-+---+---------+-------------------------+----------+----+----+----------+
//!  |"ABLR"|v|k| f |partition|          UUID           | sequence |sync|life|   time   |
//!  +------+-+-+---+---------+-----+------+------+-----+----------+----+----+----------+
//!  |  expiry  |container|properties|crc | body |crc  | crc |
//!  +----------+---------+----------+----+------+-----+-----+
//!  56         64        68        72   76     80    84    88
//!  then: properties | checksums of the body's blocks | body
//! ```
//! Bit 0 of f (flags): [`RecordHeader::follows`].
//!
//! The header's own checksum begins with the identity of the log, which no client ever sees: bytes of a body that
//! look like a record are none, even when a damaged log is searched for the next record.

use std::ops::Range;

use crate::checksum::{CHECKSUM_BYTES, block_count, crc32c_of};
use crate::error::{FormatError, Result};
use crate::fields::Fields;
use crate::id::{BlobId, PartitionId};
use crate::properties::MAX_PROPERTIES_BYTES;
use uuid::Uuid;

/// Bytes of a record's header.
pub const RECORD_HEADER_BYTES: usize = 88;

/// The longest body of one record. Larger blobs are chunked.
pub const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

/// The longest record.
pub const MAX_RECORD_BYTES: usize = RECORD_HEADER_BYTES
    + MAX_PROPERTIES_BYTES
    + MAX_BODY_BYTES.div_ceil(crate::checksum::BLOCK_BYTES) * CHECKSUM_BYTES
    + MAX_BODY_BYTES;

/// The first bytes of each record.
pub const RECORD_MAGIC: [u8; 4] = *b"ABLR";

const WHAT: &str = "record header";
const VERSION: u8 = 1;
const CHECKED_BYTES: usize = RECORD_HEADER_BYTES - 4;
/// In the flags of a record, and of its entry in an index.
pub(crate) const FOLLOWS: u8 = 1;

/// What a record says about its blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum RecordKind {
    /// Here it is: properties and body follow.
    Put = 1,
    /// It is deleted.
    Delete = 2,
    /// It expires at another time.
    TtlUpdate = 3,
    /// It is not deleted after all.
    Undelete = 4,
}

impl RecordKind {
    /// The kind with this number.
    pub fn from_number(number: u8) -> Option<Self> {
        [RecordKind::Put, RecordKind::Delete, RecordKind::TtlUpdate, RecordKind::Undelete]
            .into_iter()
            .find(|kind| *kind as u8 == number)
    }
}

/// The header of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordHeader {
    /// What it says.
    pub kind: RecordKind,
    /// Of a put: other records of the blob may come before it in the log. Without it, a search for older ones ends here.
    pub follows: bool,
    /// About which blob.
    pub id: BlobId,
    /// Its number in the log of this replica: one more than that of the record written before it. A record keeps
    /// it when it is compacted, so that it is a position in the log that lasts.
    pub sequence: u64,
    /// When it was written, its segment was on disk up to this offset at least. What is damaged before it was
    /// acknowledged once; what is damaged behind the last such offset may be the torn end of the log.
    pub synced_through: u32,
    /// How often the blob had been undeleted (after this record, if it is an undelete).
    pub life: u32,
    /// When, in milliseconds since 1970, by the clock of who asked for it.
    pub time_ms: u64,
    /// From when on the blob is expired, in milliseconds since 1970; 0 is never. Of puts and TTL updates only.
    pub expires_ms: u64,
    /// The container it belongs to: whose rights and durability class hold.
    pub container: u32,
    /// Bytes of the properties.
    pub properties_bytes: u32,
    /// CRC32C of the properties.
    pub properties_crc: u32,
    /// Bytes of the body.
    pub body_bytes: u32,
    /// CRC32C of the checksums of the body's blocks.
    pub checksums_crc: u32,
}

impl RecordHeader {
    /// The header of a record without properties and body.
    pub fn new(kind: RecordKind, id: BlobId, time_ms: u64) -> Self {
        RecordHeader {
            kind,
            follows: false,
            id,
            sequence: 0,
            synced_through: 0,
            life: 0,
            time_ms,
            expires_ms: 0,
            container: 0,
            properties_bytes: 0,
            properties_crc: 0,
            body_bytes: 0,
            checksums_crc: 0,
        }
    }

    /// The stored form, in a log with the identity `log`.
    pub fn encode(&self, log: Uuid) -> [u8; RECORD_HEADER_BYTES] {
        let mut out = Vec::with_capacity(RECORD_HEADER_BYTES);
        out.extend_from_slice(&RECORD_MAGIC);
        let flags = if self.follows { FOLLOWS } else { 0 };
        out.extend_from_slice(&[VERSION, self.kind as u8, 0, flags]);
        out.extend_from_slice(&self.id.partition.0.to_be_bytes());
        out.extend_from_slice(self.id.uuid.as_bytes());
        out.extend_from_slice(&self.sequence.to_be_bytes());
        out.extend_from_slice(&self.synced_through.to_be_bytes());
        out.extend_from_slice(&self.life.to_be_bytes());
        out.extend_from_slice(&self.time_ms.to_be_bytes());
        out.extend_from_slice(&self.expires_ms.to_be_bytes());
        for field in [
            self.container,
            self.properties_bytes,
            self.properties_crc,
            self.body_bytes,
            self.checksums_crc,
        ] {
            out.extend_from_slice(&field.to_be_bytes());
        }
        let crc = crc32c_of(&[log.as_bytes(), &out]);
        out.extend_from_slice(&crc.to_be_bytes());
        let mut header = [0; RECORD_HEADER_BYTES];
        header.copy_from_slice(&out);
        header
    }

    /// Reads the stored form. `bytes` may be longer than a header.
    pub fn parse(bytes: &[u8], log: Uuid) -> Result<Self> {
        let mut fields = Fields::new(WHAT, bytes);
        let checked = Fields::new(WHAT, bytes).bytes(CHECKED_BYTES)?;
        fields.magic(&RECORD_MAGIC)?;
        let version = fields.u8()?;
        fields.version(version.into())?;
        let kind = fields.u8()?;
        let flags = fields.u16()?;
        let header = RecordHeader {
            follows: flags == u16::from(FOLLOWS),
            id: BlobId {
                partition: PartitionId(fields.u64()?),
                uuid: Uuid::from_bytes(fields.array()?),
            },
            sequence: fields.u64()?,
            synced_through: fields.u32()?,
            life: fields.u32()?,
            time_ms: fields.u64()?,
            expires_ms: fields.u64()?,
            container: fields.u32()?,
            properties_bytes: fields.u32()?,
            properties_crc: fields.u32()?,
            body_bytes: fields.u32()?,
            checksums_crc: fields.u32()?,
            // Before the checksum is found right, no value is worth an error of its own.
            kind: RecordKind::from_number(kind).unwrap_or(RecordKind::Put),
        };
        let crc = fields.u32()?;
        fields.checksum(crc, crc32c_of(&[log.as_bytes(), checked]))?;
        let is_put = kind == RecordKind::Put as u8;
        fields.require("flags", flags.into(), flags == 0 || is_put && header.follows)?;
        fields.require("kind", kind.into(), RecordKind::from_number(kind).is_some())?;
        header.check()?;
        Ok(header)
    }

    /// What no reader may rely on a writer for.
    fn check(&self) -> Result<()> {
        let refuse = |field, found: u64| Err(FormatError::Field { what: WHAT, field, found });
        let is_put = self.kind == RecordKind::Put;
        if self.properties_bytes as usize > if is_put { MAX_PROPERTIES_BYTES } else { 0 } {
            return refuse("length of the properties", self.properties_bytes.into());
        }
        if self.body_bytes as usize > if is_put { MAX_BODY_BYTES } else { 0 } {
            return refuse("length of the body", self.body_bytes.into());
        }
        if self.expires_ms != 0 && !is_put && self.kind != RecordKind::TtlUpdate {
            return refuse("expiry", self.expires_ms);
        }
        Ok(())
    }

    /// Where the parts of the record are, from its first byte on.
    pub fn layout(&self) -> RecordLayout {
        let properties_end = RECORD_HEADER_BYTES + self.properties_bytes as usize;
        let body = properties_end + block_count(self.body_bytes as usize) * CHECKSUM_BYTES;
        RecordLayout {
            properties: RECORD_HEADER_BYTES..properties_end,
            checksums: properties_end..body,
            body: body..body + self.body_bytes as usize,
        }
    }

    /// Bytes of the whole record; at most [`MAX_RECORD_BYTES`].
    pub fn record_bytes(&self) -> u32 {
        // A parsed or encoded header's lengths are bounded, and so is their sum.
        u32::try_from(self.layout().body.end).unwrap_or(u32::MAX)
    }
}

/// Where the parts of a record are, in bytes from its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordLayout {
    /// The properties.
    pub properties: Range<usize>,
    /// The checksums of the body's blocks.
    pub checksums: Range<usize>,
    /// The body.
    pub body: Range<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: Uuid = Uuid::from_u128(7);

    fn put() -> RecordHeader {
        RecordHeader {
            sequence: 5,
            expires_ms: 9,
            properties_bytes: 3,
            body_bytes: 70_000,
            ..RecordHeader::new(RecordKind::Put, BlobId::random(PartitionId(1)), 8)
        }
    }

    /// Bytes with a right checksum, as a writer that does not keep to the format would write them.
    fn sealed(mut bytes: [u8; RECORD_HEADER_BYTES]) -> [u8; RECORD_HEADER_BYTES] {
        let crc = crc32c_of(&[LOG.as_bytes(), &bytes[..CHECKED_BYTES]]);
        bytes[CHECKED_BYTES..].copy_from_slice(&crc.to_be_bytes());
        bytes
    }

    #[test]
    fn stored_and_back() {
        let header = put();
        assert_eq!(RecordHeader::parse(&header.encode(LOG), LOG), Ok(header));
        let follows = RecordHeader { follows: true, ..put() };
        assert_eq!(RecordHeader::parse(&follows.encode(LOG), LOG), Ok(follows));
    }

    #[test]
    fn each_bit_counts() {
        let stored = put().encode(LOG);
        for bit in 0..8 * RECORD_HEADER_BYTES {
            let mut damaged = stored;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(RecordHeader::parse(&damaged, LOG).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn a_record_of_another_log_is_none() {
        let stored = put().encode(LOG);
        assert_eq!(
            RecordHeader::parse(&stored, Uuid::from_u128(8)),
            Err(FormatError::Checksum { what: WHAT })
        );
    }

    #[test]
    fn the_parts_follow_each_other() {
        let layout = put().layout();
        assert_eq!((layout.properties, layout.checksums), (88..91, 91..99));
        assert_eq!(layout.body, 99..70_099);
        assert_eq!(put().record_bytes(), 70_099);
    }

    #[test]
    fn what_the_format_does_not_allow_is_refused() {
        let refused = |change: fn(&mut [u8; RECORD_HEADER_BYTES])| {
            let mut bytes = RecordHeader::new(RecordKind::Delete, put().id, 1).encode(LOG);
            change(&mut bytes);
            matches!(RecordHeader::parse(&sealed(bytes), LOG), Err(FormatError::Field { .. }))
        };
        assert!(!refused(|_| ()));
        assert!(refused(|b| b[5] = 9), "kind");
        assert!(refused(|b| b[6] = 1), "flags");
        assert!(refused(|b| b[7] = 1), "a delete that follows");
        assert!(refused(|b| (b[5], b[7]) = (1, 2)), "flags of a put");
        assert!(refused(|b| b[63] = 1), "a delete that expires");
        assert!(refused(|b| b[71] = 1), "a delete with properties");
        assert!(refused(|b| b[79] = 1), "a delete with a body");
        assert!(refused(|b| (b[5], b[76]) = (1, 0xff)), "a body of gigabytes");
    }

    #[test]
    fn other_versions_are_named() {
        let mut bytes = put().encode(LOG);
        bytes[4] = 2;
        assert_eq!(
            RecordHeader::parse(&bytes, LOG),
            Err(FormatError::Version { what: WHAT, found: 2 })
        );
    }
}
