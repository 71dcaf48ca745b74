//! Names of the blob store: which blob a bucket's key stands for, and everything else that a frontend must know durably.
//!
//! ```text
//!   Reservations ──Reserve──▶ ┌──────────────────────────────┐ ◀──reads (snapshots)── frontends
//!   frontends ──Command─────▶ │ Names: RedbNames, later raft │
//!                             │  intents ─▶ objects, parts   │
//!                             │     │           │            │
//!                             │     └─▶ garbage ◀┘           │ ──▶ Collector ──▶ deletes blobs
//!                             └──────────────────────────────┘
//! ```
//!
//! # Invariants
//! 1. *Data first, name last.* The name of a blob is reserved durably before the blob is written (`intents`), and is
//!    given to an object or a part only after the blob is.
//! 2. *A blob that was ever reserved is in exactly one place*: `intents`, one object or part, or `garbage`, until it has
//!    been deleted. Every change of place is one transaction. So no blob is lost without being named, deleted twice as
//!    something else, or named while it is being deleted: a name never points to a missing blob.
//! 3. What was reserved in an earlier session of a frontend and not named is garbage when the next one begins: orphans of
//!    a crash are collected without looking at blobs.
//! 4. Garbage is deleted after a time of grace, so that who looked up a name can still read what it stood for.
//!
//! ADR 0041 says why; `tests/model.rs` and `tests/crash.rs` show that it holds.

mod collector;
mod command;
mod condition;
mod error;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod listing;
mod model;
mod names;
mod redb_names;
mod reserve;
mod stale_uploads;

pub use collector::{BlobDeleter, Collector, CollectorOptions};
pub use command::{BucketChange, Command, Outcome};
pub use condition::{Condition, Match};
pub use error::{NamesError, Result};
pub use listing::{ListRequest, Page, Row};
pub use model::{
    ALL_BUCKETS, AccessKey, Attributes, Body, Bucket, Checksum, Garbage, ObjectEntry, Part, Rights,
    Upload, blob_from_bytes, blob_to_bytes,
};
pub use names::{Counts, Names};
pub use redb_names::{FileMedium, Medium, Place, RedbNames, RedbOptions};
pub use reserve::{Reservations, Reserved};
pub use stale_uploads::{UploadSweeper, abort_unfinished};

/// Bytes that a key may have.
pub const MAX_KEY_BYTES: usize = 1024;

/// Milliseconds since 1970.
pub fn now_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}
