//! Formats of the blob store: what lies in the files of a partition's replica. Nothing here opens a file.
//!
//! ```text
//!  MANIFEST          which segments, in which order         manifest
//!  00..01.log        segment header, then records           segment, record, properties, checksum
//!  00..01.index      the records of 00..01.log, sorted      index, fuse, bloom
//!  SYNCED            how far the last segment is on disk    mark
//!  a body            the chunks of a blob that has several  chunks
//! ```
//!
//! The normative description is `spec/blob-partition.md`, with test vectors beside it.
//!
//! # Invariants
//! - Whatever the bytes, a parser returns an error or a value; it does not panic, and takes no more memory than a small
//!   multiple of the bytes that it was given.
//! - A checksum is verified before anything it covers is used.
//! - Numbers are big-endian; checksums are CRC32C.

mod bloom;
mod checksum;
mod chunks;
mod error;
mod fields;
mod fuse;
mod id;
mod index;
mod manifest;
mod mark;
mod properties;
mod record;
mod segment;

pub use bloom::BloomFilter;
pub use checksum::{BLOCK_BYTES, CHECKSUM_BYTES, ChecksumTable, Crc32c, block_count, crc32c_of};
pub use chunks::{CHUNK_PROPERTY, COMPOSITE_PROPERTY, ChunkList, ChunkRef, MAX_CHUNKS};
pub use error::{FormatError, Result};
pub use id::{BlobId, InvalidBlobId, PartitionId};
pub use index::{
    ENTRIES_PER_PAGE, INDEX_HEADER_BYTES, IndexDirectory, IndexEntry, IndexedSegment, MAX_ENTRIES,
    PAGE_BYTES, encode_index, encode_index_1,
};
pub use manifest::{MAX_SEGMENTS, Manifest, ManifestSegment, ReplicaState};
pub use mark::{MARK_BYTES, SyncedMark};
pub use properties::{MAX_PROPERTIES_BYTES, Properties, PropertyClass};
pub use record::{
    MAX_BODY_BYTES, MAX_RECORD_BYTES, RECORD_HEADER_BYTES, RECORD_MAGIC, RecordHeader, RecordKind,
    RecordLayout,
};
pub use segment::{MAX_SEGMENT_BYTES, SEGMENT_HEADER_BYTES, SegmentHeader};
