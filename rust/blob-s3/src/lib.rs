//! The S3 endpoint: requests as the clients of S3 send them, over names and blobs.
//!
//! ```text
//!   client ──HTTP──▶ serve_s3 ──▶ s3s: signatures, XML ──▶ rights ──▶ ops ──▶ Names          buckets, keys, uploads
//!                    limits                                            │
//!                                                                      └───▶ BlobService     bodies, streamed
//!                                                       ReservingStore ◀──── Router           ids are reserved first
//! ```
//!
//! # Invariants
//! - *Data first, name last*: a blob is complete and durable before a name is given to it, and its id is reserved before it
//!   is written (`ReservingStore`), so that whatever happens in between leaves nothing for ever.
//! - A body that does not have the length, MD5 or checksum which the client announced is never named.
//! - Bodies are streamed in both directions; a request holds some pieces of them in memory, never all.
//! - A client that takes nothing, sends nothing or asks for nothing is cut off after a while (`patience`).
//! - MD5 and the checksums are computed on other threads than those of the reactor.
//! - What expires is deleted only if it is what a rule of its bucket held for (`lifecycle`).
//! - Nobody does anything without a key, unless the operator allows public ACLs and an owner sets one. What a key may do is decided before a body is read.
//!
//! What S3 has and this has not is answered by `NotImplemented`. `docs/blob-s3.md` lists both.

mod access;
mod acl;
mod asks;
mod body;
mod checksums;
mod chunked;
mod conditions;
mod connection;
mod convert;
mod cors;
mod documents;
mod durability;
mod errors;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod ingest;
mod lifecycle;
mod measure;
mod names;
mod ops;
mod options;
mod patience;
mod promised;
mod ranges;
mod reserving;
mod seats;
mod serve;
mod service;
mod signed;
mod stored_body;
mod wire;

pub use durability::{change_of_durability, durability_of};
pub use lifecycle::{LifecycleWorker, Swept};
pub use options::S3Options;
pub use reserving::{ReservingStore, StoreDeleter};
pub use serve::{S3Error, S3Listener, serve_s3};
pub use service::Backend;
