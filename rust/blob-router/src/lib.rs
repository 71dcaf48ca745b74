//! Blobs of any length, over stores that keep chunks.
//!
//! ```text
//!        S3      native protocol      a program
//!          \          |              /
//!           +---- BlobService ------+            blobs: streams of bytes, ranges, time to live
//!                     |
//!                  Router                        places, cuts into chunks of 4 MiB, window of parallel chunks
//!                     |
//!                 ChunkStore                     one record each: one datanode now, replicas and quorums behind it later
//! ```
//!
//! A blob that is no longer than a chunk is one record. A longer one is a *composite* blob: its chunks are records of their
//! own, and a metadata blob, which has the id that the client gets, lists them (`spec/blob-partition.md`).
//!
//! # Invariants
//! - Chunks first, the metadata blob last: an id that was given out never lists a chunk that was not acknowledged.
//! - A chunk is in one list: a list that may have been written is not written again, and its chunks are deleted.
//! - A chunk expires no earlier than its metadata blob, and is deleted no earlier.
//! - A put that fails, or whose stream breaks, or that is dropped, deletes its chunks. A crash leaves chunks that carry the
//!   identity of their upload and that no metadata blob names.
//! - A chunk is no blob of its own: its id is "not found" to clients.
//! - Memory: each request holds at most the chunks (pieces, when reading) of its window, and all requests together no more
//!   than [`RouterOptions::memory_bytes`].

mod composite;
mod error;
mod get;
mod lifecycle;
mod options;
mod put;
mod router;
mod service;
mod store;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod turns;
mod upload;

pub use afterbay_blob_format::{
    BlobId, ChecksumTable, FormatError, PartitionId, Properties, PropertyClass,
};
pub use afterbay_blob_store::{Durability, FileRange, Policy, Put};
pub use composite::{ChunkPart, OpenBlob};
pub use error::{Error, Result, SourceError};
pub use options::RouterOptions;
pub use router::Router;
pub use service::{
    BlobInfo, BlobService, BlobStream, ByteRange, GetBlob, PutBlob, PutOptions, SourceStream,
    source,
};
pub use store::{Chunk, ChunkStore, Include};
