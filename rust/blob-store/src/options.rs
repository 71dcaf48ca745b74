//! Settings of a partition, and what requests consist of.

use afterbay_blob_format::{
    BlobId, MAX_ENTRIES, MAX_SEGMENT_BYTES, Properties, RECORD_HEADER_BYTES, SEGMENT_HEADER_BYTES,
};
use bytes::Bytes;

use crate::error::{Error, Result};

/// Settings of a partition. The first two are fixed when it is created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Bytes that the partition's segments may have together.
    pub capacity_bytes: u64,
    /// Bytes of a segment, which are reserved on the disk when it becomes the active one.
    pub segment_bytes: u32,
    /// A segment with so many records is sealed, full or not. Bounds the part of the index that is in memory.
    pub segment_records_max: usize,
    /// Above this share of the capacity the partition takes no new blobs, only deletes and the like, and what other
    /// replicas have already taken.
    pub read_only_above_percent: u8,
    /// Below this share it takes them again.
    pub writable_below_percent: u8,
    /// A group of requests that are synced together ends with the one that reaches this size.
    pub group_bytes_max: usize,
    /// So many of the newest records are kept in memory for other replicas.
    pub journal_records: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            capacity_bytes: 100 << 30,
            segment_bytes: 1 << 30,
            segment_records_max: 128 * 1024,
            read_only_above_percent: 85,
            writable_below_percent: 75,
            group_bytes_max: 32 << 20,
            journal_records: 4096,
        }
    }
}

impl Options {
    /// An error that names the option which cannot be as it is.
    pub fn check(&self) -> Result<()> {
        let least = (SEGMENT_HEADER_BYTES + RECORD_HEADER_BYTES) as u32;
        let require = |option, allowed: bool, reason: String| {
            if allowed { Ok(()) } else { Err(Error::Option { option, reason }) }
        };
        require(
            "segment_bytes",
            (least..=MAX_SEGMENT_BYTES).contains(&self.segment_bytes),
            format!("{} is not between {least} and {MAX_SEGMENT_BYTES}", self.segment_bytes),
        )?;
        require(
            "capacity_bytes",
            self.capacity_bytes >= self.segment_bytes.into(),
            format!("{} is less than one segment of {}", self.capacity_bytes, self.segment_bytes),
        )?;
        require(
            "segment_records_max",
            (1..=MAX_ENTRIES).contains(&self.segment_records_max),
            format!("{} is not between 1 and {MAX_ENTRIES}", self.segment_records_max),
        )?;
        require(
            "read_only_above_percent",
            (1..=100).contains(&self.read_only_above_percent),
            format!("{} is not between 1 and 100", self.read_only_above_percent),
        )?;
        require(
            "writable_below_percent",
            self.writable_below_percent <= self.read_only_above_percent,
            format!("{} is more than read_only_above_percent", self.writable_below_percent),
        )
    }
}

/// What an acknowledgement of a write by one replica means. How many replicas acknowledge before the client hears of it
/// is the router's.
///
/// | class | when acknowledged, the record is | survives the death of the process | a loss of power | a disk that wrote something else |
/// |---|---|---|---|---|
/// | `Fast` | in the operating system's cache | yes | no, until the next sync | no |
/// | `Durable` | on the disk, by `fdatasync` | yes | yes | no: noticed when it is read |
/// | `Paranoid` | on the disk, and was read from there again and verified | yes | yes | yes, if the drive answers from the medium |
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Durability {
    /// Written, and synced with the next record that is, at the end of the segment, or by
    /// [`crate::Partition::flush`].
    Fast,
    /// Synced before it is acknowledged and before anybody can read it.
    #[default]
    Durable,
    /// Synced, dropped from the cache, read again and verified.
    Paranoid,
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Origin {
    /// A client. Its time is that of the partition's clock.
    #[default]
    Client,
    /// Another replica, which did it before: at this time, in this life of the blob. Goes on above the threshold, since
    /// the client was answered already.
    Replica {
        /// [`afterbay_blob_format::RecordHeader::time_ms`] there.
        time_ms: u64,
        /// [`afterbay_blob_format::RecordHeader::life`] there.
        life: u32,
    },
}

/// A blob to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Put {
    /// Its name, which its frontend chose.
    pub id: BlobId,
    /// What it carries besides its body.
    pub properties: Properties,
    /// The content.
    pub body: Bytes,
    /// From when on it is expired, in milliseconds since 1970; 0 is never.
    pub expires_ms: u64,
    /// Whose rights and durability class hold.
    pub container: u32,
    /// Who puts it has made the id at random for this put, and puts nothing under it a second time, also not after an error:
    /// the store does not look in sealed segments whether it has such a blob. Not of other replicas.
    pub fresh: bool,
}

impl Put {
    /// A blob without properties that never expires.
    pub fn new(id: BlobId, body: impl Into<Bytes>) -> Self {
        Put {
            id,
            properties: Properties::default(),
            body: body.into(),
            expires_ms: 0,
            container: 0,
            fresh: false,
        }
    }
}

/// Something to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// Stores a blob. The same blob again, with the same properties and body, is no error and stores nothing
    /// ([`Put::fresh`] apart).
    Put(Put),
    /// Deletes a blob. If it is deleted already, nothing happens.
    Delete(BlobId),
    /// Takes back a delete, as long as the blob was not compacted away.
    Undelete(BlobId),
    /// Lets a blob expire at another time, in milliseconds since 1970; 0 is never.
    UpdateTtl(BlobId, u64),
}

impl Operation {
    /// The blob that it is about.
    pub fn id(&self) -> BlobId {
        match self {
            Operation::Put(put) => put.id,
            Operation::Delete(id) | Operation::Undelete(id) | Operation::UpdateTtl(id, _) => *id,
        }
    }
}

/// A request to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// What.
    pub operation: Operation,
    /// When to acknowledge it.
    pub durability: Durability,
    /// Who asks.
    pub origin: Origin,
}

impl Write {
    /// A client's request.
    pub fn new(operation: Operation, durability: Durability) -> Self {
        Write { operation, durability, origin: Origin::Client }
    }
}

/// What an acknowledged write did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// A record was written.
    Now,
    /// It was so before: nothing was written, and what was there is as durable as was asked for.
    Before,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contradictions_are_named() {
        let named = |change: fn(&mut Options)| {
            let mut options = Options::default();
            change(&mut options);
            match options.check() {
                Err(Error::Option { option, .. }) => option,
                other => panic!("{other:?}"),
            }
        };
        assert!(Options::default().check().is_ok());
        assert_eq!(named(|o| o.segment_bytes = 100), "segment_bytes");
        assert_eq!(named(|o| o.capacity_bytes = 1), "capacity_bytes");
        assert_eq!(named(|o| o.segment_records_max = 0), "segment_records_max");
        assert_eq!(named(|o| o.read_only_above_percent = 101), "read_only_above_percent");
        assert_eq!(named(|o| o.writable_below_percent = 90), "writable_below_percent");
    }
}
