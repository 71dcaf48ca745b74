//! One partition of the blob store: an append-only log of blobs, and an index to find them by.
//!
//! ```text
//!   write_all                                   get
//!      |                                         |
//!      v                                         v
//!   CommitQueue: who comes first leads        Shared: records of the active segment, in memory
//!      |         a group                         |    filter -> one page, for each sealed segment
//!      v                                         v
//!   Writer: decide, append, fdatasync         BlobReader: header, properties, checksums; body by range
//!      |                                         |
//!      v                                         v
//!   +------+------+------+--------------------------------+
//!   | 1.log| 4.log| 3.log| 5.log -> -> -> (reserved room) |     MANIFEST: which, in this order
//!   +------+------+------+--------------------------------+
//!    sealed, each with its N.index    active
//! ```
//!
//! # Invariants
//! - The log is the truth. Indexes are computed from it when they are lost; the manifest says which files it consists of.
//! - Nothing is overwritten. Files change by appending, by cutting what nobody was told of, or are replaced as a whole.
//! - What is acknowledged, or can be read, at [`Durability::Durable`], is on the disk. After an open, that is all.
//! - A put before which other records of its blob may come in the log says so, also after compactions. Without that, it is
//!   the first one.
//! - Replicas that have heard of the same records say the same of a blob, in whatever order they came.
//! - Bytes are served with their checksums or after they were verified.
//! - After a write or a sync failed, nobody knows what is on the disk: the partition takes no writes until it is opened again.
//! - What cannot be read is not lost: nothing is cut, deleted or left out because of that, and nobody is told that it is not here.
//! - Data first, names last; what is not needed any more goes after the manifest without it is on the disk.
//!
//! Formats are in `afterbay-blob-format` and `spec/blob-partition.md`, the reasons in ADR 0038. Threads belong to the caller:
//! there are none in here.

mod blob_state;
mod byte_rate;
mod changes;
mod clock;
mod commit;
mod compaction;
mod copies;
mod decide;
mod directory;
mod error;
mod garbage;
mod identities;
mod journal;
mod lock;
mod log_file;
mod look_up;
mod manifest_file;
mod mark_file;
mod medium;
mod options;
mod partition;
mod policy;
mod reader;
mod real;
mod record;
mod recovery;
mod repair;
mod replica;
mod request;
mod salvage;
mod scan;
mod scrub;
mod sealed;
mod shared;
pub mod sim;
mod sync_point;
mod unripe;
mod writer;

pub use afterbay_blob_format::{BlobId, PartitionId, Properties, PropertyClass, RecordKind};
pub use byte_rate::ByteRate;
pub use clock::{Clock, SystemClock};
pub use compaction::{CompactionOptions, CompactionReport, Pacer, Unpaced};
pub use directory::{Directory, StoreFile, Tree, Wait, make_folder, read_whole, write_whole};
pub use error::{Error, Result};
pub use identities::{Identities, RandomIdentities};
pub use journal::{Change, Changes};
pub use lock::lock;
pub use options::{Durability, Operation, Options, Origin, Put, Write, Written};
pub use partition::{Partition, Status};
pub use policy::{InvalidPolicy, Policy};
pub use reader::{BlobReader, FileRange};
pub use real::RealDirectory;
pub use record::{Content, Record};
pub use recovery::Recovery;
pub use replica::{Damage, Recount};
pub use scan::DamagedRange;
pub use scrub::{Finding, Flaw, Harm, Scrubbed};
pub use sync_point::{SyncPoint, SyncScope};
